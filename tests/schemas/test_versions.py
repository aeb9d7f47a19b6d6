from importlib.metadata import version

import cv2
import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.parquet import TableType, write_table
from scripts.commands.versions import versions
from tests.footers import footer_of

THINGS = TableType("things", 1, {"id": pl.String})
FRAME = pl.DataFrame({"id": ["a"]})


def test_files_of_other_versions_are_counted_by_folder_and_library(tmp_path, capsys):
    run, same = tmp_path / "run", {"numpy": version("numpy")}
    for name, footer in {
        "same/a": same,
        "run/predictions/a": {"numpy": "1.0", "torch": version("torch"), "model": "m"},
        "run/predictions/b": {"numpy": "1.0"},
        "run/corrupted/fog": {"libraries": {"pillow": "2.0", **same}},
        "run/images/fog": {"libraries": {"opencv": "3.0"}},
        "run/pool/items": {"sources": 3},
    }.items():
        write_table(FRAME, tmp_path / f"{name}.parquet", THINGS, footer_of(footer))
    versions(run)
    assert capsys.readouterr().out.splitlines() == [
        f"{run}/corrupted: 1 file made with pillow 2.0, not {version('pillow')}",
        f"{run}/images: 1 file made with opencv 3.0, not {cv2.__version__}",
        f"{run}/predictions: 2 files made with numpy 1.0, not {version('numpy')}",
    ]
    versions(tmp_path / "same")
    expected = f"{tmp_path}/same: all files were made with the installed versions\n"
    assert capsys.readouterr().out == expected
    (tmp_path / "empty").mkdir()
    for name, message in (("none", "there is no such folder"), ("empty", "empty: there is no table")):
        with pytest.raises(InputError, match=message):
            versions(tmp_path / name)
