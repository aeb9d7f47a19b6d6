"""Files and folders are written completely or not at all."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchc.atomic import atomic_folder, atomic_write, write_text
from benchc.workflow.leftovers import remove_leftovers

ROOT = Path(__file__).resolve().parents[1]
# The process is killed before the second of the two moves.
KILLED = """
import os, pathlib, signal, sys
from benchc.atomic import atomic_folder

move, moves = pathlib.Path.replace, []

def killed(self, target):
    moves.append(target)
    if len(moves) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return move(self, target)

pathlib.Path.replace = killed
with atomic_folder(sys.argv[1]) as folder:
    (folder / "new").write_text("new")
"""

WRITING = """
import os, signal, sys
from benchc.atomic import atomic_write
with atomic_write(sys.argv[1]) as file:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_file_gets_the_usual_permissions(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "图\n")
    assert path.read_bytes() == "图\n".encode()
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(KeyError), atomic_write(path) as file:
        file.write(b"new")
        raise KeyError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_to_move_leaves_no_temporary_file(tmp_path):
    (tmp_path / "a.txt" / "inside").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path / "a.txt", "new")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("atomic", [atomic_write, atomic_folder])
def test_an_error_of_the_file_system_names_what_is_written(atomic, tmp_path):
    path = tmp_path / "a"
    full = errno.ENOSPC, "No space left on device"
    for error, named in (
        (OSError(*full), str(path)),
        (OSError(*full, str(tmp_path / ".a.abcdefgh" / "a" / "inside")), str(path)),
        (OSError(*full, "other"), "other"),
        # As Polars and safetensors raise it.
        (OSError("No space left on device (os error 28)"), str(path)),
        (RuntimeError("I/O error: No space left on device (os error 28)"), str(path)),
        (OSError("of a library"), None),
        # Of a file that is read meanwhile.
        (OSError("No such file or directory (os error 2): in.parquet"), None),
    ):
        with pytest.raises(OSError) as caught, atomic(path):
            raise error
        assert caught.value.filename == named
        assert caught.value.errno == (None if named is None else errno.ENOSPC)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_replaces_another(tmp_path):
    path = tmp_path / "model"
    for name in ("old", "new"):
        with atomic_folder(path) as folder:
            (folder / name).write_text(name)
    assert [file.name for file in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_folder(tmp_path):
    path = tmp_path / "model"
    with atomic_folder(path) as folder:
        (folder / "old").write_text("old")
    with pytest.raises(KeyError), atomic_folder(path) as folder:
        (folder / "new").write_text("new")
        raise KeyError
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_while_the_new_folder_is_moved_restores_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "model"
    with atomic_folder(path) as folder:
        (folder / "old").write_text("old")
    move, moves = Path.replace, []

    def refused(self, target):
        moves.append(target)
        if len(moves) == 2:
            raise OSError("no space")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(OSError, match="no space"), atomic_folder(path) as folder:
        (folder / "new").write_text("new")
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_run_removes_what_killed_processes_left_of_its_outputs(tmp_path):
    done = subprocess.run([sys.executable, "-c", WRITING, tmp_path / "a.csv"], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    left.rename(tmp_path / f"{left.name[:-8]}original")
    with pytest.raises(KeyboardInterrupt), atomic_folder(tmp_path / "folder") as folder:
        shutil.copytree(folder.parent, tmp_path / f"{folder.parent.name[:-8]}abcdefgh")
        raise KeyboardInterrupt
    names = (
        "a.csv",
        ".b.csv.0abcdefg",
        ".b.csv.0abcdefgh",
        ".a.csv.abc",
        ".a.csv.original",
        ".a.csv.0",
        ".a.csv.0original2",
        ".hidden",
    )
    others = [tmp_path / name for name in names]
    for other in others:
        other.touch()
    assert len([*tmp_path.iterdir()]) == 2 + len(others)
    outputs = [tmp_path / "a.csv", tmp_path / "folder", tmp_path / "absent" / "b.csv"]
    # Of a process that writes now.
    remove_leftovers(outputs, began=min(file.stat().st_mtime for file in tmp_path.iterdir()))
    assert len([*tmp_path.iterdir()]) == 2 + len(others)
    remove_leftovers(outputs, began=time.time() + 1)
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_a_kill_between_the_moves_loses_neither_folder(tmp_path):
    path = tmp_path / "model"
    with atomic_folder(path) as folder:
        (folder / "old").write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL
    assert sorted(file.name for file in tmp_path.rglob("*") if file.is_file()) == ["new", "old"]
    assert all(folder.name.startswith(".model.") for folder in tmp_path.iterdir())
