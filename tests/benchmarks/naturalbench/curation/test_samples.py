"""Samples of pairs, and their images from files or from the table itself."""

import polars as pl
import pytest

from benchc.benchmarks.naturalbench.curation.samples import read_images, read_samples
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from tests.benchmarks.naturalbench.drawn import pairs_of


def captions(folder, **changes):
    """Write three samples, of which b#1 has the image of b; a's image is a file, and the others are bytes."""
    (folder / "a.png").write_bytes(b"A")
    rows = [
        ("set/a", "set", "set://a", str(folder / "a.png"), None, "one", "English"),
        ("set/b", "set", "set://b", None, b"B", "two", "English"),
        ("set/b#1", "set", "set://b", None, b"B", "three", changes.get("language", "English")),
    ]
    path = folder / "captions.parquet"
    write_table(pl.DataFrame(rows, schema=pl.Schema(CAPTIONS.columns), orient="row"), path, CAPTIONS)
    return path


def test_samples_are_those_of_the_pairs_in_their_order(tmp_path):
    pairs = pairs_of([("set/a", "set/b#1"), ("set/b", "set/a")])
    found = read_samples(captions(tmp_path), pairs)
    assert list(found) == pairs["pair"].to_list()
    assert [[sample.caption for sample in both] for both in found.values()] == [
        ["one", "three"],
        ["two", "one"],
    ]
    assert found[pairs["pair"][0]][1].name == "b"


def test_a_sample_that_is_absent_or_of_another_language_is_one_line(tmp_path):
    path = captions(tmp_path, language="Hindi")
    with pytest.raises(
        InputError, match=r"has no sample set/c, which is in pair [0-9a-f]{16}; delete pairs.parquet"
    ):
        read_samples(path, pairs_of([("set/a", "set/c")]))
    with pytest.raises(
        InputError, match=r"its captions are in English \(set/a\) and Hindi \(set/b#1\); give each"
    ):
        read_samples(path, pairs_of([("set/a", "set/b#1")]))


def test_each_image_is_read_once_from_its_file_or_the_table(tmp_path):
    path = captions(tmp_path)
    assert list(read_images(path, ["set://b", "set://a"])) == [("set://a", b"A"), ("set://b", b"B")]
    assert list(read_images(path, ["set://b"])) == [("set://b", b"B")] and list(read_images(path, [])) == []


def test_an_image_that_is_absent_is_one_line(tmp_path):
    path = captions(tmp_path)
    with pytest.raises(InputError, match=r"captions.parquet: has no image set://c; delete it and run"):
        list(read_images(path, ["set://c"]))
    (tmp_path / "a.png").unlink()
    with pytest.raises(
        InputError, match=r"a.png: no such file, which is the image set://a of .*; restore it"
    ):
        list(read_images(path, ["set://a"]))
