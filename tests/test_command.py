"""Errors that a user can fix, a full disk and a closed pipe end a script without a traceback."""

import errno
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from benchc.atomic import write_text
from benchc.config.errors import ConfigError
from benchc.errors import InputError
from benchc.schemas.parquet import TableType, iterate_groups, read_table, write_table
from benchc.schemas.printed import read_table_csv
from scripts.benchc import main
from scripts.command import run
from tests.sources.tsv_files import row, write_tsv
from tests.stages import command_of

ROOT = Path(__file__).resolve().parents[1]


def raising(error: Exception) -> Callable[[], None]:
    def main() -> None:
        raise error

    return main


def message(error: Exception) -> str:
    with pytest.raises(SystemExit) as caught:
        run(raising(error))
    return str(caught.value.code)


def test_a_message_is_one_line_without_control_codes() -> None:
    assert message(InputError("no column 'a\nb\x1b[2J', but 'é'; fix it")) == (
        r"error: no column 'a\nb\x1b[2J', but 'é'; fix it"
    )


def test_each_error_of_a_configuration_is_a_line() -> None:
    assert message(ConfigError(["a.yaml: b is 1.", "a.yaml: c is 2."])) == (
        "error: a.yaml: b is 1.\nerror: a.yaml: c is 2."
    )


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.ENOSPC, "free disk space"),
        (errno.EROFS, "write to another folder"),
        (errno.EACCES, "change the permissions"),
        (errno.ENOTDIR, "move the file that is in place of a folder"),
    ],
)
def test_an_error_of_the_file_system_is_one_line(number: int, fix: str) -> None:
    reason = os.strerror(number)
    assert message(OSError(number, reason, "out/a.csv")).startswith(
        f"error: out/a.csv: cannot be read or written ({reason}); {fix}"
    )


def test_a_full_memory_is_one_line() -> None:
    assert message(MemoryError("Unable to allocate 14.2 PiB")) == (
        "error: the memory is full (Unable to allocate 14.2 PiB); give the process more, or fewer items at "
        "once"
    )
    assert message(MemoryError()).startswith("error: the memory is full; ")


def test_the_number_of_resamples_has_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    for draws, reason in ((100_001, "at most 100,000"), (0, "at least 1")):
        with pytest.raises(SystemExit):
            main(["compare", "a", "b", "--draws", str(draws)])
        assert f"it should be {reason}" in capsys.readouterr().err


def test_an_error_of_a_library_keeps_its_traceback() -> None:
    with pytest.raises(OSError, match="the Hub"):
        run(raising(OSError("the Hub has no such model")))


def test_a_folder_that_cannot_be_written_is_reported_with_the_file() -> None:
    with pytest.raises(SystemExit, match=r"^error: /proc/a\.csv: cannot be read or written \("):
        run(lambda: write_text("/proc/a.csv", ""))


def test_every_script_ends_through_run() -> None:
    for path in ROOT.glob("scripts/**/*.py"):
        text = path.read_text()
        if "__main__" in text:
            assert re.search(r"\brun\((main|lambda)", text), path


def read_source(folder: Path, **options: object) -> subprocess.CompletedProcess[str]:
    write_tsv(folder / "s.tsv", [row(index) for index in range(100)])
    files = {"tsv": "s.tsv", "parquet": "s.parquet", "report": "s.csv"}
    command = command_of("read_source", source="s", **files)
    # Under a limit, Python would leave cut bytecode of a module, which no later process can import.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    settings: dict[str, object] = {"cwd": folder, "env": environment, "text": True}
    return subprocess.run(
        command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings, **options}
    )  # type: ignore[call-overload, no-any-return]


@pytest.mark.parametrize(("size", "file"), [(10, "s.csv"), (200, "s.parquet")])
def test_a_file_that_does_not_fit_is_named(tmp_path: Path, size: int, file: str) -> None:
    limit = (size, size)
    done = read_source(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 1
    assert re.fullmatch(rf"error: {file}: cannot be .*File too large.*\n", done.stderr), done.stderr
    assert not (tmp_path / file).exists()


def test_a_full_standard_output_is_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = read_source(tmp_path, stdout=full)
    assert done.stderr.startswith(
        "error: standard output, a file or /dev/shm: cannot be read or written (No space left"
    )
    assert done.stderr.count("\n") == 1


def test_a_reader_that_closes_the_pipe_ends_the_command_silently() -> None:
    code = (
        "import sys; from scripts.command import run\n"
        "def main():\n    for number in range(10**6): print(number)\n"
        "run(main)"
    )
    command = f"{sys.executable} -c '{code}' | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("0\n141\n", "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_none_that_a_file_takes(tmp_path: Path, closed: str) -> None:
    """As of a service without a terminal: the file would have what the process and its children print."""
    code = (
        "import os, sys; from scripts.command import run\n"
        "def main():\n"
        f"    with open({str(tmp_path / 'file')!r}, 'w') as file:\n"
        "        print(1); print(2, file=sys.stderr)\n"
        "        os.system('echo 3; echo 4 >&2')\n"
        "        file.write('5')\n"
        "run(main)"
    )
    done = subprocess.run(
        ["bash", "-c", f'{sys.executable} -c "$0" {closed}', code], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, (tmp_path / "file").read_text()) == (0, "5")
    assert done.stdout == ("1\n3\n" if closed == "2>&-" else "")
    assert done.stderr == ("2\n4\n" if closed == ">&-" else "")


@pytest.mark.parametrize("arguments", [["scripts.benchc", "--help"], ["scripts.stage", "--help"]])
def test_texts_are_utf_8_where_the_locale_is_ascii(arguments: list[str]) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(ROOT)}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"} | plain
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    code = "from scripts.command import in_utf8; in_utf8(); import sys; print('\\u72d7', sys.flags.utf8_mode)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True)
    assert done.stdout.decode() == "狗 1\n"


def test_brackets_in_a_path_are_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "run[1]"
    table = TableType("numbers", 1, {"id": pl.String, "n": pl.Int64})
    frame = pl.DataFrame({"id": ["a", "b"], "n": [1, 2]})
    write_table(frame, folder / "a.parquet", table)
    assert read_table(folder / "a.parquet", table).equals(frame)
    assert [group["n"].item() for group in iterate_groups(folder / "a.parquet", table, "id", {"b"})] == [2]
    frame.write_csv(folder / "a.csv")
    assert read_table_csv(folder / "a.csv").equals(frame)


def test_tables_are_read_without_patterns_everywhere() -> None:
    for path in [*ROOT.glob("benchc/**/*.py"), *ROOT.glob("scripts/**/*.py")]:
        for call in re.findall(r"pl\.(?:read|scan)_(?:parquet|csv|ipc|ndjson)\(path[^\n]*", path.read_text()):
            assert "glob=False" in call, f"{path}: {call}"
