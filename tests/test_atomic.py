"""Files and folders appear whole or not at all."""

import os

import pytest

from benchc.atomic import whole_file, whole_folder, write_text


def test_a_file_appears_with_everyones_permissions(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "图\n")
    assert path.read_bytes() == "图\n".encode()
    mask = os.umask(0)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask
    assert list(path.parent.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(KeyError), whole_file(path) as file:
        file.write(b"new")
        raise KeyError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_takes_the_place_of_another(tmp_path):
    path = tmp_path / "model"
    for name in ("old", "new"):
        with whole_folder(path) as folder:
            (folder / name).write_text(name)
    assert [file.name for file in path.iterdir()] == ["new"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_folder(tmp_path):
    path = tmp_path / "model"
    with whole_folder(path) as folder:
        (folder / "old").write_text("old")
    with pytest.raises(KeyError), whole_folder(path) as folder:
        (folder / "new").write_text("new")
        raise KeyError
    assert [file.name for file in path.iterdir()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]
