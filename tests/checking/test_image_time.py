from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.checking import image_time
from benchc.checking.cost import Writing, writing_of
from benchc.checking.image_time import ImageTime, JobImages, job_images, measured_images, pixels_made
from benchc.checking.models import rate_of
from benchc.checking.trial import AnswersTrial, Trial
from benchc.config.settings import Corruptions
from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.images import encode_png
from benchc.models import units
from benchc.planning.amounts import Amount
from benchc.planning.size import ImageCounts
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.checking.runs import config_of

KEYS: dict[str, Any] = {"suite": "imagenet-c", "engine": "benchc", "corrupted": "on_the_fly", "alpha": "drop"}
CHOSEN = Corruptions(**KEYS, types=["snow", "fog"], severities=[1, 3, 5])
TIME = ImageTime(make=2e-6, write=3e-6, read=1e-6, first=0.5, start=4.0)
# Two items show y in succession, and x is shown again after another image.
ROWS = [("a", "x", 100), ("b", "y", 400), ("c", "y", 400), ("c", "z", 1000), ("d", "x", 100)]
IMAGES = pl.DataFrame(ROWS, schema=["id", "image_key", "pixels"], orient="row")


def image(height: int, width: int) -> bytes:
    return encode_png(np.zeros((height, width, 3), dtype=np.uint8))


def test_every_corruption_counts_at_all_its_severities(monkeypatch):
    now, loaded = 0.0, {"nothing"}
    pixels = {"small": 10 * 10, "large": 20 * 15}
    # Seconds per pixel to decode, and to corrupt at one severity.
    decoding, corrupting = 1.0, {"clean": 0.0, "snow": 2.0, "fog": 5.0}

    def pass_seconds(seconds: float) -> None:
        nonlocal now
        now += seconds

    def variants_of_image(
        key: str, data: bytes, recipe: Recipe, severities: Sequence[int], seed: int, alpha: str
    ):
        assert (seed, alpha) == (7, "drop")
        pass_seconds(pixels[key] * (decoding + len(severities) * corrupting[recipe.name]))
        pass_seconds(0.0 if recipe.name in loaded else 60.0)
        loaded.add(recipe.name)
        return dict.fromkeys(severities, key)

    monkeypatch.setattr(image_time, "SECONDS_OF_CORRUPTION", 1e9)
    monkeypatch.setattr(image_time, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(image_time, "variants_of_image", variants_of_image)
    monkeypatch.setattr(image_time, "encode", lambda key: pass_seconds(3.0 * pixels[key]) or key)
    monkeypatch.setattr(image_time, "decode", lambda key: pass_seconds(0.5 * pixels[key]))
    images = {"small": image(10, 10), "large": image(20, 15)}
    (make, write, read, first), seconds = measured_images(CHOSEN, 7, images)
    # An image is decoded once for the three severities of a corruption; seven variants in all.
    assert make == pytest.approx((1 + (1 + 3 * 2) + (1 + 3 * 5)) / 7)
    assert (write, read, first) == pytest.approx((3.0, 0.5, 60.0))
    assert seconds == now


def test_the_time_of_the_images_is_measured_in_a_process_as_jobs_are():
    time = image_time.time_of_images(CHOSEN, 1, {"s/a#0": image(64, 48)})
    assert min(time.make, time.write, time.read) > 0 and time.start > 0.1


def test_jobs_make_an_image_once(tmp_path, monkeypatch):
    # a: x; b: y; c: y, z; d: x.
    assert pixels_made(IMAGES) == (100 + 400 + 1000) / 4
    # As often as the function of the jobs.
    keys = {str(id_): tuple(rows["image_key"]) for (id_,), rows in IMAGES.group_by("id", maintain_order=True)}
    blank = [{"bytes": b"", "path": None}]
    rows = [
        dict.fromkeys(POOL.columns) | {"id": id_, "image_keys": own, "images": blank * len(own)}
        for id_, own in keys.items()
    ]
    write_table(pl.DataFrame(rows, schema=pl.Schema(POOL.columns)), tmp_path / "items.parquet", POOL)
    made: list[str] = []

    def variants_of_image(key: str, *_: object) -> dict[int, Any]:
        made.append(key)
        return {0: np.zeros((1, 1, 3), np.uint8)}

    monkeypatch.setattr(units, "variants_of_image", variants_of_image)
    list(units.units_of(tmp_path / "items.parquet", keys, units.Recipes([clean_recipe()], 1)))
    assert made == ["x", "y", "z"]


def test_images_are_corrupted_in_the_jobs_or_read_from_files():
    def found(corrupted: str = "on_the_fly", **keys: Any) -> JobImages:
        corruptions = CHOSEN.model_dump() | {"corrupted": corrupted}
        return job_images(TIME, IMAGES, config_of({"s": {"path": "s.tsv"}}, corruptions=corruptions, **keys))

    # 375 pixels an item; a job corrupts all, and the first image of clean, snow and fog takes longer.
    assert found() == JobImages(pytest.approx(7.5e-4), pytest.approx(1.5))
    one = found(inference={"corruptions_per_job": "one"})
    assert one == JobImages(pytest.approx(7.5e-4), pytest.approx(0.75))
    assert found("files") == JobImages(pytest.approx(3.75e-4), 0.0)
    config = config_of({"s": {"path": "s.tsv"}}, corruptions=CHOSEN.model_dump())
    assert job_images(None, IMAGES, config) == job_images(TIME, None, config) == JobImages(0.0, 0.0)


def test_images_that_are_written_are_a_stage_of_their_own(tmp_path):
    def found(time: ImageTime | None = TIME, images: int = 3 * 7, folder: Path = tmp_path) -> Writing:
        counts = ImageCounts(Amount(images), Amount(1 if images else 0))
        return writing_of(counts, IMAGES, time, CHOSEN, folder)

    # Three images of 500 pixels, each under seven variants, and three jobs.
    (tmp_path / "corrupted").mkdir()
    for written, jobs in (("frost", 3), ("snow", 2)):
        (tmp_path / f"corrupted/{written}.parquet").touch()
        assert found().jobs == jobs
        seconds = 7 * jobs * 500 * 5e-6 + jobs * 4.5
        assert 3600 * (found().hours.value or 0) == pytest.approx(seconds)
    assert found(None) == Writing(2, Amount(None))
    for name in ("clean", "fog"):
        (tmp_path / f"corrupted/{name}.parquet").touch()
    assert found() == found(images=0, folder=tmp_path / "new") == Writing(0, Amount(0))


@pytest.mark.parametrize(
    ("device", "model", "workers", "image", "seconds"),
    [
        ("cpu", 2.0, 4, 1.0, 4.0),  # one thread does all
        ("cpu", None, 0, 1.0, 4.0),
        ("cuda", 2.0, 0, 1.0, 3.0),  # the next images are made meanwhile
        ("cuda", 2.0, 0, 5.0, 5.0),
        ("cuda", None, 4, 5.0, 5.0),  # workers cannot encode
        ("cuda", 2.0, 4, 5.0, 2.0),  # four workers make and encode in 6 / 4 s
        ("cuda", 2.0, 2, 5.0, 3.0),
    ],
)
def test_the_rate_of_a_job_adds_what_it_does_in_succession(device, model, workers, image, seconds):
    trial = Trial(device, 1.0, 3.0, 9, 1.0, True, 1, 1, model_seconds=model, asking=20.0)
    rate = rate_of(trial, 26.0, JobImages(image, 0.5), workers)
    assert (rate.seconds, rate.measured, rate.start) == (Amount(seconds, "estimate"), 9, 6.5)
    answers = AnswersTrial(device, 1.0, 3.0, 2, 2, 0, model_seconds=model, timed=6, asking=20.0)
    assert rate_of(answers, 26.0, JobImages(image, 0.5), workers) == replace(rate, measured=6)
