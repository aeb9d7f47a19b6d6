from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.curation.retrieval_pairs import curated, read_retrieval_pairs
from benchc.benchmarks.naturalbench.curation.samples import read_images, read_samples
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.schemas.parquet import check_frame, write_table
from benchc.sources.error import SourceError
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.drawn import pairs_of


def captions(folder, **changes):
    """Write three samples, of which b#1 has the image of b; a's image is a file, and the others are bytes."""
    (folder / "a.png").write_bytes(b"A")
    rows = [
        ("set/b", "set", "set://b", None, b"B", "two", "English"),
        ("set/b#1", "set", "set://b", None, b"B", "three", changes.get("language", "English")),
        ("set/a", "set", "set://a", str(folder / "a.png"), None, "one", "English"),
    ]
    path = folder / "captions.parquet"
    write_table(frame_of(CAPTIONS, rows), path, CAPTIONS)
    return path


def test_samples_are_those_of_the_pairs_in_their_order(tmp_path):
    pairs = pairs_of([("set/a", "set/b#1"), ("set/b", "set/a")])
    found = read_samples(captions(tmp_path), pairs)
    assert list(found) == pairs["pair"].to_list()
    captions_of = [[sample.caption for sample in both] for both in found.values()]
    assert captions_of == [["one", "three"], ["two", "one"]]
    assert found[pairs["pair"][0]][1].name == "b"
    # One that is absent or of another language is one line.
    path = captions(tmp_path, language="Hindi")
    with pytest.raises(InputError, match=r"has no sample set/c, which is in pair [0-9a-f]{16}; delete pairs"):
        read_samples(path, pairs_of([("set/c", "set/d")]))
    with pytest.raises(InputError, match=r"are in English \(set/a\) and Hindi \(set/b#1\); give each"):
        read_samples(path, pairs_of([("set/a", "set/b#1")]))
    with pytest.raises(InputError, match=r"are in Hindi \(set/b#1\) and English \(set/a\); give each"):
        read_samples(path, pairs_of([("set/b#1", "set/a")]))


def test_each_image_is_read_once_from_its_file_or_the_table(tmp_path):
    path = captions(tmp_path)
    assert list(read_images(path, ["set://a", "set://b"])) == [("set://b", b"B"), ("set://a", b"A")]
    assert list(read_images(path, ["set://b"])) == [("set://b", b"B")] and list(read_images(path, [])) == []
    # What is absent is one line.
    with pytest.raises(InputError, match=r"captions.parquet: has no image set://c; delete it and run"):
        list(read_images(path, ["set://d", "set://c"]))
    (tmp_path / "a.png").unlink()
    with pytest.raises(InputError, match=r"a.png: no such file, which is the image set://a of .*; restore"):
        list(read_images(path, ["set://a"]))


HEADER = "pair,image_0,image_1,caption_0,caption_1\n"


@pytest.fixture
def images(tmp_path: Path) -> Path:
    for name, value in (("a.png", 9), ("b.png", 10), ("copy.png", 9)):
        (tmp_path / name).write_bytes(encode_png(np.full((3, 4, 3), value, np.uint8)))
    return tmp_path


def test_pairs_of_a_file(images: Path) -> None:
    path = images / "pairs.csv"
    path.write_text(
        f"{HEADER}p1,a.png,b.png,One,Two\np1,b.png,a.png,Three,Four\np2,a.png,a.png,x,y\n,a.png,b.png,x,y\n"
        "p3,a.png,c.png,x,y\np4,a.png,b.png,x, \np5,a.png\np7,a.png,copy.png,x,y\n"
        f"p8,a.png,b.png,x,y\0\np6,b.png,a.png,Five,Six\np9,,b.png,x,y\np10,{'n' * 201},b.png,x,y\n"
        f"p\x1b,a.png,b.png,x,y\np11,{'n' * 200},b.png,x,y\n"
    )
    captions, pairs, report = read_retrieval_pairs(path, images)
    check_frame(captions, path, CAPTIONS)
    check_frame(pairs, path, PAIRS)
    assert pairs["pair"].to_list() == ["p1", "p6"]
    assert captions["id"].to_list() == [f"retrieval/{pair}/{n}" for pair in ("p1", "p6") for n in (0, 1)]
    assert captions["caption"].to_list() == ["One", "Two", "Five", "Six"]
    assert captions["file"].to_list()[2:] == [str(images / "b.png"), str(images / "a.png")]
    assert captions["image"].to_list()[2:] == ["retrieval://b.png", "retrieval://a.png"]
    assert pairs.select("a", "b").row(1) == ("retrieval/p6/0", "retrieval/p6/1")
    assert report.select("line", "reason").rows() == [
        (3, "pair p1 is there twice"),
        (4, "has one image twice"),
        (5, "has no pair, the name of the row"),
        (6, "image 'c.png' is no file below the folder of images"),
        (7, "has no caption_1"),
        (8, "has 2 fields where the header has 5"),
        (9, "has one image twice"),
        (10, "contains a NUL character"),
        *((line, "the image's name is not one line of 1 to 200 characters") for line in (12, 13)),
        (14, "has no pair, the name of the row"),
        (15, f"image '{'n' * 200}' is no file below the folder of images"),
    ]
    # A file without pairs.
    path.write_text(HEADER)
    with pytest.raises(SourceError, match="none of its rows became a pair; the reason of the first: it"):
        read_retrieval_pairs(path, images)
    path.write_text(f"{HEADER}p1,a.png\n,a.png,b.png,x,y\n")
    with pytest.raises(SourceError, match="the reason of the first: has 2 fields where"):
        read_retrieval_pairs(path, images)
    path.write_text("pair,image_0\n")
    with pytest.raises(SourceError, match="has no column 'image_1'; its columns are pair, image_0"):
        read_retrieval_pairs(path, images)
    with pytest.raises(
        SourceError, match=r"absent\.csv: there is no such file; correct the path in the conf"
    ):
        read_retrieval_pairs(images / "absent.csv", images)


def test_mined_pairs_of_curation() -> None:
    captions = pl.DataFrame({"id": ["s/1", "s/2", "s/3", "s/4"]}).with_columns(
        pl.lit(None).alias(name) for name in list(CAPTIONS.columns)[1:]
    )
    rows = [("p", "s/1", "s/3", "mined"), ("q", "s/2", "s/4", "random")]
    pairs = pl.DataFrame(rows, schema=pl.Schema(PAIRS.columns), orient="row")
    samples, mined = curated(captions, pairs)
    assert (samples["id"].to_list(), mined["pair"].to_list()) == (["s/1", "s/3"], ["p"])
    with pytest.raises(InputError, match=r"no sample 's/1', which is in a pair; delete pairs\.parquet"):
        curated(captions.clear(), pairs)
    with pytest.raises(InputError, match="no mined pair was kept"):
        curated(captions, pairs.tail(1))
