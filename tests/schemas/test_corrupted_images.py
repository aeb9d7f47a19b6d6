import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.errors import InputError
from benchc.images import encode
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.corrupted_images import (
    check_corrupted,
    decoded,
    encoded_images,
    images_of_items,
    wanted_levels,
)
from benchc.schemas.parquet import TableError, read_footer, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import IMAGE_COLUMNS, pool_digest
from benchc.schemas.row_groups import table_writer
from tests.footers import footer_of

KEYS = {f"a/{number}": [f"a/{number}#0"] for number in range(4)}
FLIPS = 100


def corrupted() -> pl.DataFrame:
    random_pixels = np.random.default_rng(1).integers(0, 256, (len(KEYS), 8, 8, 3), np.uint8)
    rows = [
        # No decoder would notice a flipped bit of a PPM.
        (key, 1, {"bytes": encode(pixels, "ppm"), "path": None})
        for (key,), pixels in zip(KEYS.values(), random_pixels, strict=True)
    ]
    return pl.DataFrame(rows, schema=CORRUPTED.columns, orient="row")


def contents(path: Path) -> tuple[dict[str, bytes], dict[str, object]]:
    images = {id_: variants[1][0].tobytes() for id_, variants in images_of_items(path, KEYS)}
    return images, read_footer(path)


def test_no_flipped_bit_changes_an_image(tmp_path: Path) -> None:
    path = tmp_path / "fog.parquet"
    with table_writer(path, CORRUPTED, pl.lit(1), footer_of({"seed": 1})) as writer:
        writer.append(corrupted())
    data, expected = path.read_bytes(), contents(path)
    generator = random.Random(1)
    noticed = 0
    for _ in range(FLIPS):
        place, bit = generator.randrange(len(data)), generator.randrange(8)
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :])
        try:
            found = contents(path)
        except TableError as error:
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
            assert str(error).endswith("; delete it and run snakemake again")
            noticed += 1
        else:
            # For example in the name of the program that wrote the file.
            assert found == expected
    assert noticed > FLIPS / 2


RECIPE = {"name": "fog", "kernel": "k", "noise": None, "parameters": {"1": {"a": 1}}, "resizes": False}


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    columns = {"id": list(KEYS), "image_keys": list(KEYS.values())}
    frame = pl.DataFrame(columns, schema={name: POOL.columns[name] for name in columns})
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name not in columns}
    write_table(frame.with_columns(**absent).select(*POOL.columns), tmp_path / "pool.parquet", POOL)
    return tmp_path / "pool.parquet"


def file_of(items: Path, name: str, **facts: object) -> Path:
    path = items.parent / name
    own = {"recipe": RECIPE, "seed": 1, "alpha": "drop", "pool": pool_digest(items, IMAGE_COLUMNS)}
    write_table(corrupted(), path, CORRUPTED, footer_of(own | facts))
    return path


@pytest.mark.parametrize(
    ("name", "facts", "message"),
    [
        ("fog.parquet", {"recipe": {**RECIPE, "name": "snow"}}, "its images are under snow, so it was moved"),
        ("snow.parquet", {}, "its images are under fog, so it was moved"),
        *(
            ("fog.parquet", {"pool": digit * 32}, "its images are not those of .*pool.parquet")
            for digit in "0f"
        ),
        ("fog.parquet", {"recipe": {**RECIPE, "kernel": "j"}}, "fog had other parameters when it was made"),
        *(("fog.parquet", {"seed": n}, f"its seed is {n}, that of the run is 1") for n in (0, 2)),
        ("fog.parquet", {"alpha": "white"}, "its alpha is white, that of the run is drop"),
    ],
)
def test_images_of_another_run_are_refused(pool: Path, name: str, facts: dict, message: str) -> None:
    wanted = {"seed": 1, "alpha": "drop"}
    right = file_of(pool, "fog.parquet")
    assert check_corrupted([right], pool, {"fog": RECIPE}, wanted) == wanted
    wrong = file_of(pool, name, **facts)
    with pytest.raises(TableError, match=rf"^{wrong}: {message}.*; delete it and run snakemake again$"):
        check_corrupted([wrong], pool, {"fog": RECIPE}, wanted)


def test_images_of_other_code_are_accepted_of_other_seeds_or_twice_refused(pool: Path) -> None:
    path = file_of(pool, "fog.parquet", recipe={**RECIPE, "code": "0"})
    check_corrupted([path], pool, {"fog": {**RECIPE, "code": "1"}}, {})  # a user's file
    files = [file_of(pool, "fog.parquet"), file_of(pool, "snow.parquet", recipe={"name": "snow"}, seed=2)]
    with pytest.raises(TableError, match=r"snow.parquet: its seed is 2, that of the run is 1"):
        check_corrupted(files, pool, {}, {})
    write_table(pl.concat([corrupted(), corrupted()[2:]]), path, CORRUPTED)
    with pytest.raises(TableError, match=r"fog.parquet: image a/2#0 occurs twice at one severity; delete"):
        next(images_of_items(path, KEYS))


# b shares an image with a, and has one of its own, which comes first in the file.
SHARED = {"b": ["y", "x"], "a": ["x"], "c": ["z"]}
LEVELS = {"y": [3, 1], "x": [1, 3], "z": [1, 3]}


def write_levels(path: Path, levels: dict[str, list[int]]) -> Path:
    rows = [
        (key, level, {"bytes": f"{key}{level}".encode(), "path": None})
        for key, own in levels.items()
        for level in own
    ]
    write_table(pl.DataFrame(rows, schema=CORRUPTED.columns, orient="row"), path, CORRUPTED)
    return path


def stored(*keys: str, levels: tuple[int, ...] = (1, 3)) -> list[tuple[str, dict[int, bytes]]]:
    return [(key, {level: f"{key}{level}".encode() for level in levels}) for key in keys]


@pytest.mark.parametrize("at_once", [1, 2, 16])
def test_images_are_those_of_each_item_at_the_severities_that_are_asked_for(
    tmp_path: Path, at_once: int
) -> None:
    path = write_levels(tmp_path / "fog.parquet", LEVELS)
    found = list(encoded_images(path, SHARED, at_once=at_once))
    assert found == [("b", stored("y", "x")), ("a", stored("x")), ("c", stored("z"))]
    assert [*found[0][1][0][1]] == [3, 1]  # as in the file
    found = list(encoded_images(path, {"a": ["x"], "c": ["z"]}, [3], at_once))
    assert found == [("a", stored("x", levels=(3,))), ("c", stored("z", levels=(3,)))]
    # Item a is not shown at all. Other severities than the assigned ones may be there.
    assigned = {"b": [1], "c": [1, 3]}
    found = list(encoded_images(path, SHARED, None, at_once, assigned))
    assert found == [("b", stored("y", "x", levels=(1,))), ("c", stored("z"))]
    found = list(encoded_images(path, SHARED, [3], at_once, assigned))
    assert found == [("c", stored("z", levels=(3,)))]


@pytest.mark.parametrize(
    ("levels", "assigned", "lacking"),
    [
        (LEVELS | {"z": [1]}, None, None),  # as all of its images
        (LEVELS | {"x": [1]}, None, "1 item missing, first b"),
        (LEVELS | {"x": [1, 3, 5]}, None, "1 item missing, first b"),
        ({"y": [1], "x": [1]}, None, "1 item missing, first c"),
        ({"z": [1]}, None, "2 items missing, first b"),
        (LEVELS | {"x": [1]}, {"b": [1], "c": [3]}, None),
        (LEVELS | {"x": [1]}, {"b": [1, 3], "c": [3]}, "1 item missing, first b"),
    ],
)
def test_items_whose_images_are_not_all_there_are_named(
    tmp_path: Path, levels: dict, assigned: dict | None, lacking: str | None
) -> None:
    path = write_levels(tmp_path / "fog.parquet", levels)
    if lacking is None:
        assert [id_ for id_, _ in encoded_images(path, SHARED, assigned=assigned)][-1] == "c"
        return
    with pytest.raises(InputError, match=f"fog.parquet: images of {lacking}; delete the file and run"):
        next(encoded_images(path, SHARED, assigned=assigned))


def test_an_item_without_images_is_lacking(tmp_path: Path) -> None:
    path = write_levels(tmp_path / "fog.parquet", LEVELS)
    with pytest.raises(InputError, match="images of 1 item missing, first none"):
        next(encoded_images(path, SHARED | {"none": []}))


def test_a_damaged_image_is_named_with_its_file() -> None:
    with pytest.raises(InputError, match=r"^fog: image x: .*; delete the file and run snakemake again$"):
        decoded(Path("fog"), "x", {1: b"no image"})
    assert (wanted_levels([3, 1, 2], None), wanted_levels([3, 1, 2], {2, 3})) == ([3, 1, 2], [3, 2])
