"""The images of a pool's items, each once."""

from pathlib import Path

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import images_of_groups, pool_images, unique_images

IMAGES = {"s/a#0": b"A", "s/b#0": b"B", "s/b#1": b"C", "sha256://1": b"D"}
ITEMS = {"s/1": ["s/a#0"], "s/2": ["s/b#0", "s/b#1"], "s/3": ["s/a#0"], "s/4": ["sha256://1"]}


def pool_of(path: Path, items: dict[str, list[str]], **others: bytes) -> Path:
    rows = [
        dict.fromkeys(POOL.columns)
        | {"id": id_, "options": [], "image_keys": keys}
        | {"images": [{"bytes": others.get(id_, IMAGES[key]), "path": None} for key in keys]}
        for id_, keys in items.items()
    ]
    write_table(pl.DataFrame(rows, schema=pl.Schema(POOL.columns)), path, POOL)
    return path


def test_images_are_those_of_the_items_in_the_order_of_the_pool(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool.parquet", ITEMS)
    assert dict(pool_images(pool, {"s/3", "s/2"})) == {
        "s/2": [("s/b#0", b"B"), ("s/b#1", b"C")],
        "s/3": [("s/a#0", b"A")],
    }
    assert list(unique_images(pool, ITEMS)) == list(IMAGES.items())
    groups = [{"s/3": ["s/a#0"], "s/2": ["s/b#1"]}, {}, {"s/1": ["s/a#0"]}]
    assert list(images_of_groups(pool, groups)) == [
        {"s/b#0": b"B", "s/b#1": b"C", "s/a#0": b"A"},
        {},
        {"s/a#0": b"A"},
    ]


def test_two_images_of_one_key_are_refused_unless_their_pixels_are_equal(tmp_path: Path) -> None:
    for id_ in ("s/1", "s/3"):
        pool = pool_of(tmp_path / "pool.parquet", ITEMS, **{id_: b"other"})
        with pytest.raises(InputError, match="item s/3 and an earlier one have different images with"):
            list(unique_images(pool, ITEMS))
    pool = pool_of(tmp_path / "pool.parquet", ITEMS | {"s/5": ["sha256://1"]}, **{"s/5": b"as PNG"})
    assert [key for key, _ in unique_images(pool, [*ITEMS, "s/5"])] == list(IMAGES)


def test_an_item_with_more_keys_than_images_is_refused(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool.parquet", {"s/1": ["s/a#0"]})
    row = pl.read_parquet(pool).with_columns(image_keys=pl.lit(["s/a#0", "s/b#0"]))
    write_table(row, pool, POOL)
    with pytest.raises(InputError, match="item s/1 has 1 images and 2 keys; delete the pool and run"):
        list(pool_images(pool, ["s/1"]))
