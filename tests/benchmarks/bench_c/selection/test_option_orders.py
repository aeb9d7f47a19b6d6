"""Predictions in other circular orders of the options, by the library and by the command infer_orders."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.selection.option_orders import predict_orders, rotated, sampled
from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image as variants_of
from benchc.errors import InputError
from benchc.images import encode
from benchc.models.asking import AskedModel, Job, ShownImages
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.predict import Passes, predict_units
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.subset import SUBSET
from tests.benchmarks.bench_c.outputs import write_filled
from tests.footers import footer_of
from tests.models.conftest import QUESTIONS
from tests.stages import call_stage

SEED = 5
CORRUPTIONS = ("brightness", "gaussian_noise")
ALL_PREDICTIONS = (1 + len(CORRUPTIONS)) * sum(len(question.options) - 1 for question in QUESTIONS)


def recipes() -> list[Recipe]:
    return [clean_recipe(), *(recipe_of(name, "imagenet-c", "benchc") for name in CORRUPTIONS)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A pool of QUESTIONS, all selected but a fourth, and the files of their corrupted images."""
    generator = np.random.default_rng(0)
    ids = [f"s/{number}" for number in range(4)]
    questions = [*QUESTIONS, Question("Unselected?", ("no", "yes"))]
    images = [encode(generator.integers(0, 256, (40, 48, 3), dtype=np.uint8)) for _ in ids]
    columns: dict[str, Any] = {
        "id": ids,
        **{name: [getattr(question, name) for question in questions] for name in ("question", "hint")},
        "options": [list(question.options) for question in questions],
        "images": [[{"bytes": image, "path": None}] for image in images],
        "image_keys": [[f"{id_}#0"] for id_ in ids],
    }
    write_filled(columns, tmp_path / "pool.parquet", POOL)
    write_table(pl.DataFrame({"id": ids[:3]}), tmp_path / "subset.parquet", SUBSET)
    for recipe in recipes():
        rows = [
            (f"{id_}#0", severity, {"bytes": encode(pixels), "path": None})
            for id_, image in zip(ids, images, strict=True)
            for severity, pixels in variants_of(f"{id_}#0", image, recipe, recipe.severities, SEED).items()
        ]
        frame = pl.DataFrame(rows, schema=dict(CORRUPTED.columns), orient="row")
        footer = {"seed": SEED, "alpha": "drop"}
        write_table(frame, tmp_path / f"{recipe.name}.parquet", CORRUPTED, footer_of(footer))
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    yield tmp_path
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(False)


FILES = {"corrupted": [f"{recipe.name}.parquet" for recipe in recipes()]}
MADE = {"images": ShownImages(recipes={recipe.name: recipe for recipe in recipes()}, seed=SEED)}
ORDERS_STAGE = "bench_c.infer_orders"


def predict(
    checkpoint: Path, output: str, stage: str = ORDERS_STAGE, *, sample: int = 99, **images: Any
) -> pl.DataFrame:
    """Run infer_orders, or infer, in the present folder; ``images``: FILES, unless they are others."""
    call_stage(
        stage,
        model=AskedModel(label="tiny", location=str(checkpoint), family="llava"),
        scoring="letter",
        **({"sample": sample, "severity": 4} if stage == ORDERS_STAGE else {}),
        **(images or FILES),
        job=Job(cache=Path(f"cache-{output}")),
        pool="pool.parquet",
        subset="subset.parquet",
        output=f"{output}.parquet",
    )
    return read_table(f"{output}.parquet", ORDERS if stage == ORDERS_STAGE else PREDICTIONS)


@given(st.integers(2, 8).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k - 1))))
def test_an_order_and_its_way_back(count_and_shift):
    count, shift = count_and_shift
    values = list(range(count))
    assert rotated(values, shift) == [(place + shift) % count for place in range(count)]
    assert rotated(rotated(values, shift), -shift) == values


def test_a_sample_is_a_part_of_a_larger_one_in_any_order_of_ids():
    ids = [f"s/{number}" for number in range(40)]
    samples = [sampled(ids, count) for count in range(1, 45)]
    assert [len(sample) for sample in samples] == [min(count, 40) for count in range(1, 45)]
    assert all(small <= large for small, large in pairwise(samples))
    assert sampled(ids[::-1], 7) == samples[6]
    # Not the first ones: ids are taken in the order of their hash.
    assert samples[9] != set(ids[:10])
    # Removing one id adds one other.
    assert len(sampled(ids, 10) ^ sampled([id_ for id_ in ids if id_ != min(samples[9])], 10)) == 2
    with pytest.raises(ValueError, match="at least one item"):
        sampled(ids, 0)


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("family", ["llava", "idefics3"])
def test_logits_are_in_the_items_own_order(family, scoring, scorers, variants, tmp_path):
    scorer = scorers[family, scoring]
    question = QUESTIONS[1]
    compute = partial(predict_units, passes=Passes())
    unit = Unit("s/1", "fog", [5], variants[:1], 1)
    with PredictionCache(tmp_path, {"model": "m"}, "w") as cache:
        rows = list(predict_orders(Predictor(scorer, cache, compute), question, [unit]))
    assert [(row["order"], row["id"], row["corruption"], row["severity"]) for row in rows] == [
        (order, "s/1", "fog", 5) for order in (1, 2, 3)
    ]
    given_order = scorer.score(question, variants[:1]).logits[0]
    for row in rows:
        places = [(place + row["order"]) % 4 for place in range(4)]
        reordered = replace(question, options=tuple(question.options[option] for option in places))
        direct = scorer.score(reordered, variants[:1]).logits[0]
        for place, option in enumerate(places):
            assert row["logits"][option] == float(direct[place])
        # A text's score does not depend on the other options, a letter's does.
        close = np.allclose(row["logits"], given_order, atol=1e-4)
        assert close == (scoring == "text")
    assert len({row["prompt_hash"] for row in rows}) == 3
    assert len({row["image_hash"] for row in rows}) == 1


def test_a_job_predicts_every_other_order_of_the_sample_at_one_severity(folder, checkpoints, scorers, capsys):
    rows = predict(checkpoints["llava"], "a")
    counts = f"{ALL_PREDICTIONS} predictions, 0 from the cache, {ALL_PREDICTIONS} computed"
    assert counts in capsys.readouterr().err
    expected = [
        (f"s/{item}", order, corruption, 0 if corruption == "clean" else 4)
        for item, question in enumerate(QUESTIONS)
        for corruption in ("clean", *CORRUPTIONS)
        for order in range(1, len(question.options))
    ]
    assert rows.select("id", "order", "corruption", "severity").rows() == expected
    pool = read_table("pool.parquet", POOL)
    for row in rows.filter(corruption="gaussian_noise").iter_rows(named=True):
        question = QUESTIONS[int(row["id"][2:])]
        data = pool.filter(id=row["id"])["images"][0][0]["bytes"]
        recipe = recipes()[2]
        pixels = [variants_of(f"{row['id']}#0", data, recipe, [4], SEED)[4]]
        turned = question.options[row["order"] :] + question.options[: row["order"]]
        direct = scorers["llava", "letter"].score(replace(question, options=turned), [pixels])
        assert np.roll(direct.logits[0], row["order"]).tolist() == row["logits"]
    footer = read_footer("a.parquet")
    assert (footer["items"], footer["predictions"], footer["scoring"]) == (3, ALL_PREDICTIONS, "letter")
    given_order = predict(checkpoints["llava"], "g", "infer")
    # Both footers describe the model equally, so that the files can be compared.
    assert footer == read_footer("g.parquet") | {name: footer[name] for name in ("items", "predictions")}
    hashes = given_order.filter(pl.col("severity").is_in([0, 4])).select("id", "corruption", "image_hash")
    assert set(rows.select("id", "corruption", "image_hash").rows()) == set(hashes.rows())


def test_files_and_recipes_give_the_same_bytes(folder, checkpoints):
    for name, images in (("files", FILES), ("made", MADE)):
        predict(checkpoints["llava"], name, **images)
        predict(checkpoints["llava"], f"infer-{name}", "infer", **images)
    for stem in ("", "infer-"):
        assert Path(f"{stem}files.parquet").read_bytes() == Path(f"{stem}made.parquet").read_bytes()


def test_a_killed_job_resumes(folder, checkpoints, monkeypatch, capsys):
    predict(checkpoints["llava"], "whole")
    put, kept = PredictionCache.put, []

    def killed(self, *arguments):
        if len(kept) == 7:
            raise SystemExit(137)
        kept.append(arguments)
        put(self, *arguments)

    monkeypatch.setattr(PredictionCache, "put", killed)
    with pytest.raises(SystemExit):
        predict(checkpoints["llava"], "resumed")
    assert not Path("resumed.parquet").exists()
    monkeypatch.setattr(PredictionCache, "put", put)
    capsys.readouterr()
    predict(checkpoints["llava"], "resumed")
    counts = f"{ALL_PREDICTIONS} predictions, 7 from the cache, {ALL_PREDICTIONS - 7} computed"
    assert counts in capsys.readouterr().err
    assert Path("resumed.parquet").read_bytes() == Path("whole.parquet").read_bytes()


def test_a_larger_sample_keeps_the_predictions_of_a_smaller_one(folder, checkpoints, capsys):
    one = predict(checkpoints["llava"], "a", sample=1)
    capsys.readouterr()
    assert one["id"].n_unique() == 1
    two = predict(checkpoints["llava"], "a", sample=2)
    assert f"{len(two)} predictions, {len(one)} from the cache" in capsys.readouterr().err
    assert two["id"].n_unique() == 2
    assert two.join(one, on="id", how="semi", maintain_order="left").equals(one)


def test_open_questions_are_refused(folder):
    table = read_table("pool.parquet", POOL)
    write_table(table.with_columns(options=pl.lit([], dtype=pl.List(pl.String))), "pool.parquet", POOL)
    with pytest.raises(InputError, match=r"item s/0: it is an open-ended question"):
        predict(Path("no-such-model"), "a")


def test_a_missing_severity_is_refused(folder, checkpoints):
    whole = MADE["images"].recipes
    few = {severity: whole["brightness"].parameters[severity] for severity in (1, 2)}
    shortened = {**whole, "brightness": replace(whole["brightness"], parameters=few)}
    message = "the recipe of brightness has the severities 1, 2, but not the requested one"
    with pytest.raises(InputError, match=message):
        predict(checkpoints["llava"], "a", images=ShownImages(recipes=shortened, seed=SEED))
    rows = read_table("brightness.parquet", CORRUPTED).filter(pl.col("severity") < 3)
    write_table(rows, "brightness.parquet", CORRUPTED)
    with pytest.raises(InputError, match=r"brightness\.parquet: images of 3 items missing, first s/0"):
        predict(checkpoints["llava"], "a")
    with pytest.raises(SystemExit):
        predict(checkpoints["llava"], "a", sample=0)
    assert not Path("a.parquet").exists()
