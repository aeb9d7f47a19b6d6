"""What tables, sources and the configuration say of the sizes of a run."""

import io

import polars as pl
import pytest
from PIL import Image

from benchc.config.settings import Pool
from benchc.errors import InputError
from benchc.planning.known import (
    Images,
    Known,
    PoolItems,
    images_of,
    known_from_items,
    known_from_settings,
    known_from_sources,
)
from benchc.sources.pool import choose, task_types


def png(width: int, height: int) -> dict[str, bytes | None]:
    buffer = io.BytesIO()
    Image.new("L", (width, height)).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def test_sizes_are_read_from_headers() -> None:
    whole = png(400, 250)
    cut = {"bytes": whole["bytes"][:60], "path": None}  # the header alone
    keys = [["a#0", "a#1"], ["b#0"]]
    items = pl.DataFrame({"id": ["a", "b"], "images": [[whole, png(100, 100)], [cut]], "image_keys": keys})
    sizes = {"a": [("a#0", 100_000), ("a#1", 10_000)], "b": [("b#0", 100_000)]}
    assert images_of([items[:1], items[1:]]) == sizes


def test_an_item_may_have_no_image() -> None:
    items = pl.DataFrame(
        {"id": ["a"], "images": [None], "image_keys": [None]},
        schema={"id": pl.String, "images": pl.List(pl.String), "image_keys": pl.List(pl.String)},
    )
    assert images_of([items]) == {"a": []}


def test_bytes_that_are_no_image_are_named() -> None:
    image = {"bytes": b"no image", "path": None}
    items = pl.DataFrame({"id": ["s/7"], "images": [[image]], "image_keys": [["s/7#0"]]})
    with pytest.raises(InputError, match="item s/7: the size of an image cannot be read"):
        images_of([items])


def test_the_pool_is_counted() -> None:
    # b and c show one image, and b another one twice.
    images = {"a": [("s://x", 500_000)], "b": [("y", 250_000)] * 2 + [("z", 10**6)], "c": [("z", 10**6)]}
    known = known_from_items(PoolItems({"a": 2, "b": 3, "c": 5}, images))
    assert known == Known(3, True, (2, 3, 5), Images(5, 3.0), Images(3, 1.75))


@pytest.mark.parametrize(("per_task", "total_"), [(None, None), (2, None), (None, 5), (2, 3), (1, 100)])
def test_the_sources_say_what_the_pool_will_be(per_task: int | None, total_: int | None) -> None:
    items = {
        "one": pl.DataFrame({"id": ["one/1", "one/2", "one/3", "one/4"], "category": ["x", "x", "x", "y"]}),
        "two": pl.DataFrame({"id": ["two/1", "two/2"], "l2_category": ["x", "z"]}),
    }
    columns = {"one": "category", "two": "l2_category"}
    pool = Pool(per_task=per_task, total=total_)
    known = known_from_sources(items, columns, pool)
    assert known == Known(choose(task_types(items, columns), per_task, total_).items.height, True)


def test_the_configuration_bounds_the_pool_by_its_total_alone() -> None:
    assert known_from_settings(Pool(per_task=200, total=4000)) == Known(4000, False)
    assert known_from_settings(Pool(per_task=16, total=None)) == Known(None, False)
