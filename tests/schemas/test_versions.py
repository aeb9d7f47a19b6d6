"""Files that other versions of libraries made."""

from importlib.metadata import version

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.parquet import TableType, write_table
from scripts.commands.versions import versions
from tests.footers import footer_of

THINGS = TableType("things", 1, {"id": pl.String})
FRAME = pl.DataFrame({"id": ["a"]})


def test_files_of_other_versions_are_counted_by_folder_and_library(tmp_path, capsys):
    for name, footer in {
        "predictions/a": {"numpy": "1.0", "torch": version("torch"), "model": "m"},
        "predictions/b": {"numpy": "1.0"},
        "corrupted/fog": {"libraries": {"pillow": "2.0", "numpy": version("numpy")}},
        "pool/items": {"sources": 3},
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_table(FRAME, tmp_path / f"{name}.parquet", THINGS, footer_of(footer))
    versions(tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path}/corrupted: 1 file made with pillow 2.0, not {version('pillow')}",
        f"{tmp_path}/predictions: 2 files made with numpy 1.0, not {version('numpy')}",
    ]


def test_a_run_of_the_installed_versions_says_so(tmp_path, capsys):
    write_table(FRAME, tmp_path / "a.parquet", THINGS, footer_of({"numpy": version("numpy")}))
    versions(tmp_path)
    assert capsys.readouterr().out == f"{tmp_path}: all files were made with the installed versions\n"
    with pytest.raises(InputError, match="there is no such folder"):
        versions(tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: there is no table"):
        versions(tmp_path / "empty")
