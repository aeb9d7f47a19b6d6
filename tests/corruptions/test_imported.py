"""Imported images are those of the file, for the items and severities that are shown, or are refused."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.corruptions.imported import write_imported
from benchc.corruptions.recipe import imported_recipe
from benchc.errors import InputError
from benchc.images import decode, encode_png
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.corrupted_images import check_corrupted, images_of_items
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import TableError, read_footer, write_table
from benchc.schemas.pool import POOL
from scripts.import_images import import_images

KEYS = {"s/1": ["s://x.jpg"], "s/2": ["s://x.jpg"], "s/3": ["s/3#0"]}


def picture(seed: int, height: int = 6, width: int = 9) -> bytes:
    return encode_png(np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8))


def write_pool(path: Path, keys: Mapping[str, Sequence[str]] = KEYS) -> None:
    rows = [
        {"id": id_, "image_keys": list(own), "images": [{"bytes": picture(len(key))} for key in own]}
        for id_, own in keys.items()
    ]
    write_table(pl.DataFrame(rows, schema=pl.Schema(POOL.columns)), path, POOL)


# Row: id, corruption, severity, seed of the image.
Rows = list[tuple[str, str, int, bytes]]
ROWS: Rows = [
    ("s/3", "jpeg", 3, picture(33)),
    ("s/1", "jpeg", 1, picture(11)),
    *(("s/1", name, 1, picture(99)) for name in ("webp", "blur")),
    ("s/2", "jpeg", 1, picture(11)),
    ("other/1", "jpeg", 1, picture(98)),
    ("s/3", "jpeg", 1, picture(31)),
]
CELLS = [("s/1", "jpeg", 1), ("s/2", "jpeg", 1), ("s/3", "jpeg", 3)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pool(tmp_path / "pool.parquet")
    cells = pl.DataFrame(CELLS, schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    write_table(cells, tmp_path / "assignment.parquet", ASSIGNMENT)
    return tmp_path


def run(folder: Path, rows: Rows = ROWS, **changes: Any) -> Path:
    table = [(id_, name, severity, {"bytes": data, "path": None}) for id_, name, severity, data in rows]
    frame = pl.DataFrame(table, schema=pl.Schema(IMPORTED_IMAGES.columns), orient="row")
    write_table(frame, folder / "pairs.parquet", IMPORTED_IMAGES)
    arguments: dict[str, Any] = {
        "pool": folder / "pool.parquet",
        "images": folder / "pairs.parquet",
        "assignment": folder / "assignment.parquet",
        "recipe": imported_recipe("jpeg", [1, 3]),
        "output": folder / "jpeg.parquet",
    }
    import_images(**arguments | changes)
    return folder / "jpeg.parquet"


def test_images_are_those_of_the_file_at_the_assigned_or_all_severities(folder: Path) -> None:
    path = run(folder)
    assert pl.read_parquet(path)["image_key", "severity"].rows() == [("s://x.jpg", 1), ("s/3#0", 3)]
    for id_, severity, seed in (("s/1", 1, 11), ("s/2", 1, 11), ("s/3", 3, 33)):
        ((_, found),) = images_of_items(path, {id_: KEYS[id_]}, {severity})
        np.testing.assert_array_equal(found[severity][0], decode(picture(seed)))
    rows = [*ROWS, ("s/1", "jpeg", 3, picture(13)), ("s/2", "jpeg", 3, picture(13))]
    found = pl.read_parquet(run(folder, rows, assignment=None))["image_key", "severity"]
    assert found.rows() == [("s://x.jpg", 1), ("s://x.jpg", 3), ("s/3#0", 1), ("s/3#0", 3)]
    # Of an image that two items share, the second may be shown at more severities.
    more = {"s/1": [1], "s/2": [1, 3]}
    write_imported(
        images=folder / "pairs.parquet",
        pool=folder / "pool.parquet",
        recipe=imported_recipe("jpeg", [1, 3]),
        output=path,
        assigned=more,
    )
    assert pl.read_parquet(path)["image_key", "severity"].rows() == [("s://x.jpg", 1), ("s://x.jpg", 3)]


def test_the_footer_says_that_they_are_imported_and_of_what(folder: Path) -> None:
    first = read_footer(run(folder))
    none = {"kernel": None, "noise": None, "parameters": {"1": {}, "3": {}}, "resizes": False}
    assert first["recipe"] == {"name": "jpeg", "imported": True, **none}
    assert "seed" not in first
    assert re.fullmatch("[0-9a-f]{32}", first["imported"])
    again = read_footer(run(folder, ROWS[:-1]))
    assert again["imported"] != first["imported"]
    # A job that was given the same recipe and a seed takes them; one that generates jpeg does not.
    paths, pool = [folder / "jpeg.parquet"], folder / "pool.parquet"
    recipe = {"jpeg": first["recipe"]}
    assert check_corrupted(paths, pool, recipe, {"seed": 7, "alpha": "drop"}) == {"seed": 7, "alpha": "drop"}
    with pytest.raises(TableError, match="jpeg had other parameters"):
        check_corrupted(paths, pool, {"jpeg": {"name": "jpeg", "kernel": "k"}}, {})


S1, S3 = (f"item s/{n} under jpeg at severity {n}" for n in (1, 3))


def other_size(height: int) -> Rows:
    other = picture(11, height, 9)
    return [*ROWS[:1], *((id_, "jpeg", 1, other) for id_ in ("s/1", "s/2"))]


def test_a_photograph_may_have_another_size(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, photographed=True)
    assert capsys.readouterr().err == ""
    path = run(folder, other_size(7), photographed=True)
    assert capsys.readouterr().err == "jpeg: 1 photograph of another size than the item's own image\n"
    ((_, found),) = images_of_items(path, {"s/1": KEYS["s/1"]}, {1})
    assert found[1][0].shape == (7, 9, 3)
    with pytest.raises(InputError, match="give both one size"):
        write_imported(
            folder / "pairs.parquet", folder / "pool.parquet", imported_recipe("jpeg", [1]), path,
            assigned={"s/1": [1]},
        )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        *(
            (
                other_size(height),
                f"the image of {S1} has 9 × {height} pixels, but the item's own has 9 × 6; give both one",
            )
            for height in (5, 7)
        ),
        (ROWS[1:], f"1 image absent, first that of {S3}; add them, or remove the items"),
        ([], f"3 images absent, first that of {S1}; add them, or remove the items"),
        ([*ROWS, ROWS[1]], f"{S1} is there twice; remove one row"),
        *(
            (
                [ROWS[0], ("s/1", "jpeg", 1, picture(first)), ("s/2", "jpeg", 1, picture(second))],
                r"the image of item s/2 .* not that of an earlier item with the same own image \(s://x.jpg\);",
            )
            for first, second in ((11, 12), (12, 11))
        ),
        (
            [(*ROWS[0][:3], picture(33)[:-30]), *ROWS[1:]],
            f"the image of {S3}: these .* bytes are no.*; replace it",
        ),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(folder: Path, rows: Rows, message: str) -> None:
    with pytest.raises(InputError, match=f"pairs.parquet: {message}"):
        run(folder, rows)
    assert not (folder / "jpeg.parquet").exists()


def test_an_absent_file_and_an_item_with_two_images_or_none_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"none\.parquet: is not here"):
        run(folder, images=folder / "none.parquet")
    for own in (["a", "b"], []):
        write_pool(folder / "pool.parquet", {**KEYS, "s/3": own})
        message = f"item s/3 has {len(own)} images, but imported images are of items with one"
        with pytest.raises(InputError, match=message):
            run(folder)
