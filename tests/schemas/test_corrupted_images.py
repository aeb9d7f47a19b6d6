import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.images import encode
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.corrupted_images import check_corrupted, images_of_items
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
        ("fog.parquet", {"pool": "0" * 32}, "its images are not those of .*pool.parquet"),
        ("fog.parquet", {"recipe": {**RECIPE, "kernel": "j"}}, "fog had other parameters when it was made"),
        ("fog.parquet", {"seed": 2}, "its seed is 2, that of the run is 1"),
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
    write_table(pl.concat([corrupted(), corrupted()[2:3]]), path, CORRUPTED)
    with pytest.raises(TableError, match=r"fog.parquet: image a/2#0 occurs twice at one severity; delete"):
        next(images_of_items(path, KEYS))
