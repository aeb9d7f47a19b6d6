"""The pool and its images are counted; disk is estimated from pixels, then measured."""

import io
from pathlib import Path

import polars as pl
import pytest
from PIL import Image

from benchc.config.settings import Corruptions, Pool
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize, image_counts, run_size, variants
from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.pool import POOL
from tests.test_images import png_header

CORRUPTIONS = Corruptions(
    suite="imagenet-c",
    engine="benchc",
    corrupted="files",
    alpha="drop",
    types=["snow", "fog"],
    severities=[1, 3, 5],
)
IMAGES = pl.DataFrame(
    # b and c show one image, and b another one twice.
    [("a", "x", 500_000), ("b", "y", 250_000), ("b", "y", 250_000), ("b", "z", 10**6), ("c", "z", 10**6)],
    schema=["id", "image_key", "pixels"],
    orient="row",
)


def png(width: int, height: int) -> dict[str, bytes | None]:
    buffer = io.BytesIO()
    Image.new("L", (width, height)).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def test_the_pool_is_counted(tmp_path: Path) -> None:
    header = {"bytes": (png(400, 250)["bytes"] or b"")[:60], "path": None}  # no pixels after it
    columns = {name: [None] * 4 for name in POOL.columns} | {
        "id": ["a", "b", "c", "d"],
        "options": [["o"] * 3, [], ["o"] * 2, None],
        "images": [[png(400, 250), png(100, 100)], [header], None, None],
        "image_keys": [["a#0", "a#1"], ["b#0"], None, None],
    }
    write_table(pl.DataFrame(columns, schema=dict(POOL.columns)), tmp_path / "pool/items.parquet", POOL)
    size = run_size(Pool(per_task=None, total=40), tmp_path)
    assert (size.pool, size.options) == (Amount(4), {"a": 3, "b": 0, "c": 2, "d": 0})
    assert size.images is not None
    assert size.images.rows() == [("a", "a#0", 100_000), ("a", "a#1", 10_000), ("b", "b#0", 100_000)]


@pytest.mark.parametrize(
    "data", [b"", None, b"no image", (png(4, 4)["bytes"] or b"")[:12], png_header(20_000, 20_000)]
)
def test_an_image_without_a_header_is_one_line(tmp_path: Path, data: bytes | None) -> None:
    columns = {name: [None] for name in POOL.columns} | {
        "id": ["a"],
        "options": [["o"] * 3],
        "images": [[{"bytes": data, "path": None}]],
        "image_keys": [["a#0"]],
    }
    write_table(pl.DataFrame(columns, schema=dict(POOL.columns)), tmp_path / "pool/items.parquet", POOL)
    with pytest.raises(
        TableError, match=r"items\.parquet: an image of item a cannot be read \(.*\); delete it"
    ):
        run_size(Pool(per_task=None, total=40), tmp_path)


@pytest.mark.parametrize("total", [4000, None])
def test_before_the_pool_only_its_total_bounds_it(tmp_path: Path, total: int | None) -> None:
    assert run_size(Pool(per_task=200, total=total), tmp_path) == RunSize(Amount(total, "at most"))


def test_images_that_items_share_are_written_once(tmp_path: Path) -> None:
    assert variants(CORRUPTIONS) == 7
    counts = image_counts(IMAGES, CORRUPTIONS, tmp_path)
    assert counts.written == Amount(3 * 7)
    assert counts.disk.kind == "estimate" and counts.disk.value == pytest.approx(1_750_000 * 7 * 1.11)
    third = image_counts(IMAGES, CORRUPTIONS, tmp_path, share=1 / 3)
    assert third.written == Amount(7, "estimate")
    assert third.disk.value == pytest.approx(1_750_000 * 7 * 1.11 / 3)
    unknown = image_counts(None, CORRUPTIONS, tmp_path)
    assert unknown.written.value is unknown.disk.value is None


def test_disk_is_measured_once_all_files_exist(tmp_path: Path) -> None:
    for name, size in (("clean", 1), ("snow", 20), ("fog", 300)):
        assert image_counts(IMAGES, CORRUPTIONS, tmp_path).disk.kind == "estimate"
        (tmp_path / f"{name}.parquet").write_bytes(b"x" * size)
    assert image_counts(IMAGES, CORRUPTIONS, tmp_path).disk == Amount(321)
