"""A process of the python with imported packages behaves like an ordinary one."""

import os
import subprocess
import sys

import pytest

from benchc import closure
from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.preloaded import Sources

SHOW = """
import os, sys
assert __name__ == "__main__" and sys.modules["__main__"].__spec__.name == "job"
print(sys.argv[1:], os.getcwd(), sys.path[0], os.environ["WORD"], "HOME" in os.environ, sys.stdin.read())
print("benchc" in sys.modules, "scripts" in sys.modules)
print("to the terminal", file=sys.stderr)
"""
ENDS = {
    "nothing": "",
    "a status": "sys.exit(3)",
    "a message": "sys.exit('error: a message')",
    "an error": "raise ValueError('a reason')",
    "a signal": "os.kill(os.getpid(), 9)",
    "at exit": "import atexit; atexit.register(print, 'at exit')",
    "a thread": "import threading, time; "
    "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()",
    "an idle pool": "from concurrent.futures import ThreadPoolExecutor as Pool; Pool().submit(print, 1)",
    "what was not flushed": "sys.stdout.write('x' * 100_000)",
}


@pytest.mark.parametrize("end", ENDS)
def test_a_process_ends_like_an_ordinary_one(python, tmp_path, end):
    (tmp_path / "job.py").write_text(SHOW + ENDS[end])
    environment = {"PATH": os.environ["PATH"], "WORD": "said"}
    found, expected = (
        subprocess.run(
            [program, "-m", "job", "one", "--two"],
            cwd=tmp_path,
            env=environment,
            input="given",
            text=True,
            capture_output=True,
        )
        for program in (python, sys.executable)
    )
    # A process that a signal ends has written what its buffer could not hold.
    assert found.stdout == expected.stdout or expected.returncode < 0
    assert (found.returncode != 0) == (expected.returncode != 0)
    assert found.stderr.splitlines()[-1:] == expected.stderr.splitlines()[-1:]
    if expected.returncode >= 0:
        assert found.returncode == expected.returncode


def test_a_file_runs_like_with_an_ordinary_one(python, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "beside.py").write_text("WORD = 'beside'\n")
    (folder / "job.py").write_text(
        "import sys; from beside import WORD; print(sys.argv, __name__, sys.path[0], WORD); sys.exit(3)"
    )
    found, expected = (
        subprocess.run([program, "folder/job.py", "one"], cwd=tmp_path, text=True, capture_output=True)
        for program in (python, sys.executable)
    )
    assert (found.stdout, found.returncode) == (expected.stdout, expected.returncode)
    assert "beside" in found.stdout and found.returncode == 3


def test_without_a_module_it_is_the_ordinary_one(python):
    command = [python, "-c", "import sys; print(sys.executable, 'torch' in sys.modules)"]
    assert subprocess.run(command, text=True, capture_output=True).stdout == f"{sys.executable} False\n"


def test_a_killed_program_leaves_the_server_for_others(python, tmp_path):
    (tmp_path / "job.py").write_text("import sys; print('begins', flush=True); sys.stdin.read(); print(2)")
    command = [python, "-m", "job"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as killed:
        assert killed.stdout.readline() == b"begins\n"
        killed.kill()
        killed.wait()
    assert killed.stdout.closed
    done = subprocess.run(command, cwd=tmp_path, text=True, stdin=subprocess.DEVNULL, capture_output=True)
    assert done.stdout == "begins\n2\n"


def test_source_files_that_differ_are_read(tmp_path, monkeypatch):
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    files = ["benchc/errors.py", "scripts/stage.py"]
    checkout.edit(files[0], "class ", "import benchc.images\n\n\nclass ")
    expected = closure.code_digests(files, checkout.folder)
    assert any(line.startswith("benchc/images.py ") for line in expected)
    monkeypatch.setattr(closure, "_read", read := closure._read)
    sources = Sources()
    sources.give(checkout.folder)
    assert closure._read is not read
    assert closure.code_digests(files, checkout.folder) == expected
    # `from benchc import x` means another file where benchc/x.py is new.
    closure._read = read
    (checkout.folder / "benchc/new.py").touch()
    sources.give(checkout.folder)
    assert closure._read is read


def test_modules_are_those_of_the_working_directory(tmp_path, python):
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    folder = checkout.folder
    (folder / "job.py").write_text(
        "import sys; print('benchc.home' in sys.modules); from benchc import errors, home; "
        "from benchc.corruptions import own_file; from importlib.resources import files; "
        "print(home.SNAKEFILE, home.__file__, files('benchc.rendering'), *own_file.KNOWN)\n"
        "print(errors.__loader__.path, errors.__spec__.origin, hasattr(errors, 'ADDED'))"
    )

    def said(python=python):
        return subprocess.run([python, "-m", "job"], cwd=folder, text=True, capture_output=True).stdout

    expected = said(sys.executable).replace("False", "True", 1)
    assert f"{folder}/Snakefile {folder}/benchc/home.py {folder}/benchc/rendering {folder}/benchc" in expected
    assert said() == expected
    # Times alone do not matter.
    (folder / "benchc/errors.py").touch()
    assert said() == expected
    text = (folder / "benchc/errors.py").read_text()
    (folder / "benchc/errors.py").write_text(f"{text}ADDED = 1\n")
    assert said() == said(sys.executable) and "errors.py True" in said()
    (folder / "benchc/errors.py").write_text(text)
    (folder / "scripts/new.py").touch()
    assert said().startswith("False")


def test_commands_of_a_command_share_its_server(tmp_path):
    show = f"{sys.executable} -c 'import os; print(os.environ[\"PATH\"].partition(os.pathsep)[0])'"
    again = f"{sys.executable} -m tests.workflow.preloaded {show}"
    command = [sys.executable, "-m", "tests.workflow.preloaded", "sh", "-c", f"{show}; PATH=/usr/bin {again}"]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    folders = done.stdout.split()
    assert done.returncode == 0 and len(folders) == 2 and folders[0] == folders[1] != "/usr/bin"
