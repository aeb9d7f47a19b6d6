"""Where the files of a source are, and how they are read."""

from pathlib import Path
from typing import Any

import pytest

from benchc.config.catalogue import Source
from benchc.config.source_files import (
    SourceFile,
    max_rejected,
    published_text,
    reader_options,
    source_files,
)
from benchc.sources.reader_options import CONVERTED, ReaderOptions

URL, MIRROR = "https://example.org/my%20file.tsv", "https://example.com/a"
FILES = {"questions": "q.json", "annotations": f"{URL}.zip", "images": "images"}


def source(**keys: Any) -> Source:
    return Source.model_validate({"label": "S", "task_column": "category"} | keys)


def converted(**keys: Any) -> Source:
    return source(convert={"format": "vqav2", "files": FILES} | keys)


def test_a_source_has_a_file_here_or_one_that_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert source_files("s", source(path="my.tsv")) == {"tsv": SourceFile("my.tsv")}
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/metadata.csv").touch()
    assert source_files("s", source(path="folder")) == {"tsv": SourceFile("folder/metadata.csv")}
    (file,) = source_files("s", source(url=URL, md5="0" * 32, bytes=7, mirrors=[MIRROR])).values()
    assert file == SourceFile("results/downloads/s.tsv", URL, "0" * 32, 7, (MIRROR,))
    assert (file.addresses, SourceFile("my.tsv").addresses) == ((URL, MIRROR), ())
    assert source_files("drawn-text", source(generated={"groups": 3})) == {}
    given = {"md5": {"annotations": "1" * 32}, "bytes": {"annotations": 9}}
    assert source_files("v", converted(**given, mirrors={"annotations": [MIRROR]})) == {
        "questions": SourceFile("q.json"),
        "annotations": SourceFile("results/downloads/v/annotations", f"{URL}.zip", "1" * 32, 9, (MIRROR,)),
        "images": SourceFile("images"),
    }


def test_the_published_number_of_items_is_that_of_the_whole_source() -> None:
    assert published_text(source(path="a", published={"items": 1900, "rounded": True})) == "about 1,900"
    assert published_text(source(path="a", published={"items": 1900})) == "1,900"
    assert published_text(source(path="a")) is None
    sizes = {"published": {"items": 7}}
    assert published_text(source(convert={"format": "vqav2", "files": FILES}, **sizes)) == "7"
    some = {"format": "vqav2", "files": FILES, "take_images": 3}
    assert published_text(source(convert=some, **sizes)) is None


def test_all_rows_of_a_conversion_may_be_rejected() -> None:
    assert max_rejected(converted()) == 1
    assert max_rejected(source(path="a", reader={"max_rejected": 0.25})) == 0.25


def test_the_order_of_a_readers_keys_changes_nothing() -> None:
    columns = {"question": "ask", "answer": "says", "A": "one"}
    reader = {"exclude": {"b": "x", "a": ["2", "1"]}, "columns": columns, "open_ended": True}
    found = reader_options(source(path="a", reader=reader))
    assert found == ReaderOptions(
        exclude={"a": ["1", "2"], "b": "x"}, columns=columns, open_ended=True, task_column="category"
    )
    assert [*found.exclude] == ["a", "b"] and [*found.columns] == ["A", "answer", "question"]
    options = reader_options(converted())
    assert (options.task_column, options.image_column) == ("category", CONVERTED.image_column)
