import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.corruptions.corrupt import corrupt
from benchc.corruptions.variants import Corruption, variants, variants_frame
from benchc.errors import InputError
from benchc.images import Pixels, decode, encode_png
from benchc.randomness import seed_of
from benchc.tables.corrupted import CORRUPTED
from benchc.tables.items import IMAGES
from benchc.tables.parquet import write_table
from benchc.tables.pool import POOL as POOL_TABLE

ROOT = Path(__file__).resolve().parents[2]


def picture(seed: int, height: int = 36, width: int = 50) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def items(*rows: tuple[str, list[bytes]]) -> pl.DataFrame:
    records = [(name, [{"bytes": data, "path": "x.png"} for data in images]) for name, images in rows]
    return pl.DataFrame(records, schema={"id": pl.String, "images": IMAGES}, orient="row")


POOL = items(
    ("b/2", [encode_png(picture(1)), encode_png(picture(1))]),
    ("b/10", [encode_png(picture(2))]),
    ("a/1", [encode_png(picture(1))]),
)


def test_rows_follow_the_items_then_the_severities() -> None:
    frame = variants_frame(variants(POOL, Corruption("gaussian_noise", (1, 4), seed=7)))
    assert dict(frame.schema) == dict(CORRUPTED.columns)
    assert frame.select("id", "severity").rows() == [
        (name, severity) for name in ("b/2", "b/10", "a/1") for severity in (1, 4)
    ]
    assert frame["images"].list.len().to_list() == [2, 2, 1, 1, 1, 1]


def test_each_image_has_its_own_seed_and_is_stored_without_loss() -> None:
    frame = variants_frame(variants(POOL, Corruption("gaussian_noise", (1, 4), seed=7)))
    found = decode(frame["images"][1][1]["bytes"])
    expected = corrupt(picture(1), "gaussian_noise", 4, seed=seed_of(7, "b/2", 1, "gaussian_noise", 4))
    np.testing.assert_array_equal(found, expected)
    # The same picture three times, under three seeds.
    first = [row[index]["bytes"] for row, index in ((frame["images"][1], 0), (frame["images"][5], 0))]
    assert len({*first, frame["images"][1][1]["bytes"]}) == 3


@pytest.mark.parametrize("name", ["impulse_noise", "frost"])
def test_neither_order_nor_neighbours_nor_workers_change_a_byte(name: str) -> None:
    corruption = Corruption(name, (2, 5), seed=3)
    whole = variants_frame(variants(POOL, corruption))
    backwards = variants_frame(variants(POOL.reverse(), corruption))
    alone = variants_frame(variants(POOL[1:2], corruption))
    workers = variants_frame(variants(POOL, corruption, workers=2))
    key = ["id", "severity"]
    assert backwards.sort(key).equals(whole.sort(key))
    assert alone.equals(whole.filter(id="b/10"))
    assert workers.equals(whole)


def test_clean_is_severity_0_with_the_pixels_of_the_source() -> None:
    frame = variants_frame(variants(POOL, Corruption("clean", (0,), seed=3)))
    assert frame["severity"].to_list() == [0, 0, 0]
    np.testing.assert_array_equal(decode(frame["images"][1][0]["bytes"]), picture(2))


def test_a_damaged_image_is_reported_with_its_item() -> None:
    damaged = items(("a/1", [encode_png(picture(1))]), ("a/2", [encode_png(picture(1)), b"\x89PNG"]))
    with pytest.raises(InputError, match=r"item 'a/2', image 1, under fog: .* no whole image"):
        list(variants(damaged, Corruption("fog", (1,), seed=0)))


def test_the_script_ends_on_one_sentence_where_an_image_is_truncated(tmp_path: Path) -> None:
    rows = items(("a/1", [encode_png(picture(1))]), ("a/2", [encode_png(picture(1))[:-900]]))
    texts = {"source": "a", "task": "t", "question": "?", "hint": None, "category": "c", "l2_category": None}
    pool = rows.with_columns(
        *(pl.lit(text, pl.String).alias(name) for name, text in texts.items()),
        pl.Series("options", [["x", "y"]] * 2),
        pl.lit(0, pl.Int64).alias("answer"),
    )
    write_table(pool.select(*POOL_TABLE.columns), tmp_path / "items.parquet", POOL_TABLE)
    command = [sys.executable, "-m", "scripts.corrupt", "--items", str(tmp_path / "items.parquet")]
    options = ["--corruption", "contrast", "--seed", "1", "--output", str(tmp_path / "contrast.parquet")]
    result = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    last = result.stderr.splitlines()[-1]
    assert last.startswith("error: item 'a/2', image 0, under contrast: ")
    assert last.endswith("; mend the image in the item's source, or take the item out of it")
    assert not (tmp_path / "contrast.parquet").exists()


@pytest.mark.parametrize(
    ("name", "severities", "match"),
    [
        ("fog", (2, 1), "rising"),
        ("fog", (1, 1), "once each"),
        ("fog", (), "once each"),
        ("fog", (6,), "not 6"),
        ("clean", (1,), "not 1"),
        ("fgo", (1,), "did you mean 'fog'"),
    ],
)
def test_what_is_not_in_the_suite_is_refused_before_any_work(
    name: str, severities: tuple[int, ...], match: str
) -> None:
    with pytest.raises(ValueError, match=match):
        Corruption(name, severities, seed=0)
