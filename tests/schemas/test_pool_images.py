"""The images of a pool's items, each once."""

from pathlib import Path

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas import pool_images as module
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import (
    QUESTION_COLUMNS,
    image_levels,
    images_of_groups,
    pool_digest,
    pool_images,
    read_ids,
    unique_images,
    unique_keys,
)
from benchc.schemas.subset import SUBSET

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


def test_images_are_those_of_the_items_in_the_order_of_the_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = pool_of(tmp_path / "pool.parquet", ITEMS)
    assert dict(pool_images(pool, {"s/3", "s/2"})) == {
        "s/2": [("s/b#0", b"B"), ("s/b#1", b"C")],
        "s/3": [("s/a#0", b"A")],
    }
    assert list(unique_images(pool, ITEMS)) == list(IMAGES.items())
    groups = [{"s/3": ["s/a#0"], "s/2": ["s/b#1"]}, {}, {"s/1": ["s/a#0"]}]
    for at_once in (module.ITEMS_AT_ONCE, 2):
        monkeypatch.setattr(module, "ITEMS_AT_ONCE", at_once)
        assert list(images_of_groups(pool, groups)) == [
            {"s/b#0": b"B", "s/b#1": b"C", "s/a#0": b"A"},
            {},
            {"s/a#0": b"A"},
        ]
    # Without reading images.
    assert unique_keys(pool, {"s/2", "s/3", "s/1"}) == ["s/a#0", "s/b#0", "s/b#1"]
    levels = {"s/1": [5, 1], "s/2": [2], "s/3": [3, 1], "s/4": [4]}
    assert image_levels(pool, {"s/1", "s/2", "s/3"}, levels) == {
        **{"s/a#0": [1, 3, 5], "s/b#0": [2], "s/b#1": [2]}
    }


def test_the_items_of_a_subset_are_in_the_order_of_the_pool(tmp_path: Path) -> None:
    pool, subset = pool_of(tmp_path / "pool.parquet", ITEMS), tmp_path / "subset.parquet"
    assert read_ids(pool) == list(ITEMS)
    write_table(pl.DataFrame({"id": ["s/3", "s/1"]}), subset, SUBSET)
    assert read_ids(pool, subset) == ["s/1", "s/3"]
    write_table(pl.DataFrame({"id": ["s/9", "s/1", "s/8"]}), subset, SUBSET)
    with pytest.raises(InputError, match=r"subset.parquet: 2 items not in .*pool.parquet, such as s/8; del"):
        read_ids(pool, subset)


def test_the_digest_of_a_pool_is_recorded(tmp_path: Path) -> None:
    """A change would say of all predictions of finished runs that they are of another pool."""
    pool = pool_of(tmp_path / "pool.parquet", ITEMS)
    assert pool_digest(pool, QUESTION_COLUMNS) == "f17740d6b1610480434b607e1a49b00f"


def test_an_item_may_have_no_images(tmp_path: Path) -> None:
    rows = [dict.fromkeys(POOL.columns) | {"id": "s/1"}]
    write_table(pl.DataFrame(rows, schema=pl.Schema(POOL.columns)), tmp_path / "pool.parquet", POOL)
    assert list(pool_images(tmp_path / "pool.parquet", ["s/1"])) == [("s/1", [])]
    assert unique_keys(tmp_path / "pool.parquet", ["s/1"]) == []
    assert image_levels(tmp_path / "pool.parquet", ["s/1"], {"s/1": [1]}) == {}


def test_two_images_of_one_key_are_refused_unless_their_pixels_are_equal(tmp_path: Path) -> None:
    for id_ in ("s/1", "s/3"):
        pool = pool_of(tmp_path / "pool.parquet", ITEMS, **{id_: b"other"})
        with pytest.raises(InputError, match="item s/3 and an earlier one have different images with"):
            list(unique_images(pool, ITEMS))
    pool = pool_of(tmp_path / "pool.parquet", ITEMS | {"s/5": ["sha256://1"]}, **{"s/5": b"as PNG"})
    assert [key for key, _ in unique_images(pool, [*ITEMS, "s/5"])] == list(IMAGES)
    # What follows an image that is known by its pixels is compared, too.
    pool = pool_of(tmp_path / "pool.parquet", ITEMS | {"s/5": ["sha256://1", "s/a#0"]}, **{"s/5": b"other"})
    with pytest.raises(InputError, match=r"item s/5 and an earlier one have different .* key 's/a#0'"):
        list(unique_images(pool, [*ITEMS, "s/5"]))
    # Of a group, the first item with an image has it.
    items = {"s/4": ["sha256://1"], "s/5": ["sha256://1", "s/b#0"]}
    pool = pool_of(tmp_path / "pool.parquet", items, **{"s/5": b"as PNG"})
    assert list(images_of_groups(pool, [items])) == [{"sha256://1": b"D", "s/b#0": b"as PNG"}]


def test_an_item_with_more_or_fewer_keys_than_images_is_refused(tmp_path: Path) -> None:
    pool = pool_of(tmp_path / "pool.parquet", {"s/1": ["s/a#0"]})
    row = pl.read_parquet(pool).with_columns(image_keys=pl.lit(["s/a#0", "s/b#0"]))
    write_table(row, pool, POOL)
    with pytest.raises(InputError, match="item s/1 has 1 images and 2 keys; delete the pool and run"):
        list(pool_images(pool, ["s/1"]))
    write_table(row.with_columns(image_keys=pl.lit([], pl.List(pl.String))), pool, POOL)
    with pytest.raises(InputError, match="item s/1 has 1 images and 0 keys"):
        list(pool_images(pool, ["s/1"]))
    write_table(row.with_columns(image_keys=pl.lit([None], pl.List(pl.String))), pool, POOL)
    with pytest.raises(InputError, match="item s/1 has 1 images and 1 keys"):
        list(pool_images(pool, ["s/1"]))
