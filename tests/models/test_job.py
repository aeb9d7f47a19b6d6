"""What a job shows its model, says and writes; the model is a stand-in that answers by pixels."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.corruptions.recipe import clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.models import in_process, prepare
from benchc.models import job as inference_job
from benchc.models.adapter_files import NO_ADAPTER
from benchc.models.asking import AskedModel, Job, ShownImages, is_on_server
from benchc.models.generation import Generation
from benchc.models.inference import prediction_rows
from benchc.models.items import Item, read_items
from benchc.models.job import run_inference
from benchc.models.job_counts import counts_text, job_counts
from benchc.models.loaded import LoadedModel
from benchc.models.pass_limit import TOKENS_ON_CPU
from benchc.models.predictor import Predictor
from benchc.models.protocol import CheckpointSource
from benchc.models.units import Recipes, units_in
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.predictions import PREDICTIONS
from tests.models.test_predict import Bits
from tests.models.test_predictor import IDENTITY, PREDICT, QUESTION
from tests.models.test_units import corrupted, write_pool

NOISE, FOG, CLEAN = recipe_of("gaussian_noise"), recipe_of("brightness"), clean_recipe()
BOTH = ShownImages(recipes={each.name: each for each in (NOISE, FOG)}, seed=5)
NAMES = ("p/4", "p/5", "p/6")


class Model(Bits):
    """Chooses the last option. ``leak``: what a row's numbers have for each row before it."""

    leak, mass, checks = 0.0, 1.0, 0

    def ask(self, question: Any, encoded: Any) -> Any:
        found = super().ask(question, encoded)
        found.label_mass[:] = self.mass
        return found

    def numbers(self, question: Any, encoded: Any) -> Any:
        logits = self.ask(question, encoded).logits
        self.calls.pop()  # of the check before the first unit
        self.checks += 1
        return logits + np.float32(self.leak) * np.arange(len(logits), dtype=np.float32)[:, None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_pool(tmp_path / "pool.parquet", ["a", "b"])
    return tmp_path


@pytest.fixture
def items(folder: Path) -> dict[str, Item]:
    found = read_items(folder / "pool.parquet")
    return {id_: found[id_] for id_ in NAMES}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Model:
    found = Model()
    monkeypatch.setattr(in_process, "load_model", lambda *_: found)
    monkeypatch.setattr(in_process, "prediction_code", lambda _: "c")
    monkeypatch.setattr(in_process, "prediction_identity", lambda *_: {**IDENTITY, "code": "c"})
    return found


@pytest.fixture
def run(folder, items, model, monkeypatch, capsys) -> Callable[..., Any]:
    """Return what runs a job, and gives its rows, its footer and what it says."""
    tracked = inference_job.track

    def counted(units: Iterable[Any], *, label: str, unit: str, total: int) -> Any:
        found = list(tracked(units, label=label, unit=unit, total=total))
        assert (len(found), label) == (total, "m")
        return iter(found)

    monkeypatch.setattr(inference_job, "track", counted)

    def job(asked: dict[str, Any] | None = None, of_job: Any = None, **options: Any) -> Any:
        capsys.readouterr()
        output = folder / "out.parquet"
        run_inference(
            AskedModel(label="m", location=str(folder), **(asked or {})),
            "letter",
            Job(cache=folder / "cache", **(of_job or {})),
            folder / "pool.parquet",
            options.pop("items", items),
            PREDICTIONS,
            Predictor,
            prediction_rows,
            output,
            **options,
        )
        return read_table(output, PREDICTIONS), read_footer(output), capsys.readouterr().err.splitlines()

    return job


def test_the_footer_has_how_the_images_were_made(run, folder, model):
    rows, footer, said = run(images=BOTH, sampled=3)
    assert rows.height == 3 * 2 * 5 and rows["id"].unique(maintain_order=True).to_list() == [*NAMES]
    assert said == ["m: 30 predictions, 0 from the cache, 30 computed"]
    facts = {
        name: footer[name] for name in ("seed", "alpha", "predictions", "items", "units_together", "label")
    }
    assert facts == {
        **{"seed": 5, "alpha": "drop", "predictions": 30, "items": 3},
        **{"units_together": "never", "label": "m"},
    }
    white = ShownImages(recipes={NOISE.name: NOISE}, seed=5, alpha="white")
    _, footer, said = run(images=white)
    # These images are opaque, so that the pixels are the same.
    assert footer["alpha"] == "white" and said[-1].endswith("15 from the cache, 0 computed")
    sources = [inference_job.image_source([], shown) for shown in (BOTH, white)]
    assert sources == [Recipes([NOISE, FOG], 5, "drop"), Recipes([NOISE], 5, "white")]
    files = corrupted(folder, NAMES)
    found, footer, _ = run(corrupted=files)
    assert (footer["seed"], footer["alpha"]) == (5, "drop")
    assert found.equals(rows.filter(corruption="gaussian_noise"))
    found, footer, _ = run(substitute="grey_image")
    assert found.select("id", "corruption", "severity").rows() == [(id_, "grey_image", 0) for id_ in NAMES]
    assert not {"seed", "alpha"} & footer.keys()


def test_a_checkpoint_is_loaded_as_the_entry_says_and_else_as_usual():
    usual = AskedModel(label="m", location="o/m")
    assert inference_job.checkpoint_source(usual, Job(), None) == CheckpointSource("o/m")
    settings: dict[str, Any] = {
        **{"location": "o/m", "revision": "v1", "dtype": "float16", "device": "cuda", "family": "llava"},
        **{"processor": {"a": 1}, "trust_remote_code": True, "auto_class": "AutoModelForCausalLM"},
        **{"image_backend": "torchvision", "compile": True, "system_prompt": "s", "chat_template": "t"},
        **{"attention": "eager", "adapter": "o/lora", "adapter_revision": "v2"},
    }
    found = inference_job.checkpoint_source(AskedModel(label="m", **settings), Job(gpus=3), None)
    assert found == CheckpointSource(**settings, gpus=3)


@pytest.mark.parametrize(("command", "url"), [("serve {model}", None), (None, "http://a"), (None, None)])
def test_a_model_is_on_a_server_that_runs_or_that_the_job_starts(command, url):
    asked = AskedModel(label="m", location="m", server_command=command)
    assert is_on_server(asked, Job(server_url=url)) is (command is not None or url is not None)


def test_the_counts_of_a_log_are_those_of_the_job_that_ended_last():
    lines = [counts_text(*each) for each in ((1_200, "predictions", 1_200, 0), (2_345, "answers", 34, 2_311))]
    assert lines[1] == "2,345 answers, 34 from the cache, 2,311 computed"
    assert job_counts("\n".join(["m: starts", *lines])) == (2345, 2311)
    assert job_counts(lines[0]) == (1200, 0)
    assert job_counts("Killed") == (0, 0)


def test_assigned_items_and_all_clean_ones_are_asked_about(run, folder):
    table = [("p/5", "gaussian_noise", 1), ("p/6", "gaussian_noise", 2), ("p/6", "gaussian_noise", 5)]
    schema = pl.Schema(ASSIGNMENT.columns)
    write_table(pl.DataFrame(table, schema=schema, orient="row"), folder / "assignment.parquet", ASSIGNMENT)
    recipes = {each.name: each for each in (CLEAN, NOISE, FOG)}
    assigned = {"assignment": folder / "assignment.parquet"}
    found, *_ = run(images=ShownImages(recipes=recipes, seed=5), **assigned)
    shown = set(found.select("id", "corruption", "severity").rows())
    assert shown == {*table, *((id_, "clean", 0) for id_ in NAMES)}
    with pytest.raises(InputError, match=r"--assignment needs the recipe of gaussian_noise; give --images"):
        run(corrupted=corrupted(folder, NAMES), **assigned)
    with pytest.raises(InputError, match=r"--assignment needs the recipe of fog; give --images"):
        inference_job.assigned_cells(folder, [folder / "fog.parquet", folder / "snow.parquet"], BOTH)


def test_images_must_be_given_with_a_seed(run):
    with pytest.raises(InputError, match=r"^no images are given; give --corrupted or --images.recipes"):
        run()
    with pytest.raises(InputError, match=r"^--images.recipes are given without a seed; give --images.seed"):
        run(images=ShownImages(recipes={NOISE.name: NOISE}))


def test_one_choice_for_all_items_is_worth_a_warning_where_they_show_their_images(run, folder, model):
    every = {id_: item._replace(answer=0) for id_, item in read_items(folder / "pool.parquet").items()}
    clean = ShownImages(recipes={CLEAN.name: CLEAN}, seed=5)
    said = run(images=clean, items=every)[2]
    assert len(said) == 2
    assert said[1].startswith("warning: m: it chooses option 2 for all 41 items, which is wrong for 41; ")
    model.mass = 0.25
    # Without them, one choice may be the best.
    said = run(substitute="grey_image", items=every)[2]
    assert len(said) == 2
    assert said[1].startswith("warning: m: the letters of the options have only 25 % of the probability: the")


@pytest.mark.parametrize(
    ("together", "model_is", "images", "lines"),
    [
        ("never", {}, BOTH, []),
        ("always", {}, BOTH, []),
        ("if_equal", {}, BOTH, ["units passed together; in the 3 passes that were checked, no bit differs"]),
        (
            "if_equal",
            {"uneven": True},
            BOTH,
            ["units passed one by one after pass 1, whose bits differ if they pass together"],
        ),
        ("if_equal", {}, ShownImages(recipes={NOISE.name: NOISE}, seed=5), ["no units passed together"]),
        # Two units of 500 tokens: the limit is halved until they pass alone.
        (
            "always",
            {"capacity": 5},
            BOTH,
            ["passes did not fit, so that their limit was halved 2 times, to 256 tokens"],
        ),
    ],
)
def test_a_job_says_which_units_passed_together(run, model, together, model_is, images, lines):
    assert TOKENS_ON_CPU == 1024
    for name, value in model_is.items():
        setattr(model, name, value)
    _, footer, said = run({"units_together": together}, images=images)
    assert sorted(said[:-1]) == [f"m: {line} (`units_together`)" for line in lines]
    assert footer["units_together"] == together and footer["oom_splits"] == 0
    assert "variants" not in footer


def test_a_model_whose_rows_depend_on_each_other_passes_each_alone(run, model):
    model.leak = 1e5
    _, footer, said = run({"units_together": "always"}, images=BOTH)
    assert said[0] == (
        "warning: m: its logits of an image differ by up to 4e+05 with the other severities that pass "
        "through the model together; each passes alone, which takes longer"
    )
    assert set(model.calls) == {1}
    # Of the first unit, twice together, and five severities alone.
    assert model.checks == 2 + 5
    assert (footer["variants"], footer["units_together"]) == ("one by one", "never")


@pytest.mark.parametrize(("difference", "alone"), [(0.0, False), (0.01, True)])
def test_a_small_difference_counts_too(model, tmp_path, monkeypatch, difference, alone):
    monkeypatch.setattr(in_process, "batch_difference", lambda *_: difference)
    asked, source = AskedModel(label="m", location=str(tmp_path)), CheckpointSource(str(tmp_path))
    with in_process.opened(asked, source, "letter", None, [(QUESTION, [])]) as loaded:
        assert loaded.model.one_by_one is alone and ("variants" in loaded.identity) is alone


@pytest.mark.parametrize(
    ("device", "together", "gpus"),
    [
        ("cuda", "always", range(2)),
        ("cuda", "if_equal", range(2)),
        ("cuda", "never", ()),
        ("cpu", "always", ()),
    ],
)
def test_the_memory_of_gpus_is_measured_where_units_pass_together(model, tmp_path, device, together, gpus):
    asked = AskedModel(label="m", location=str(tmp_path), device=device, units_together=together)
    source = CheckpointSource(str(tmp_path), device=device, gpus=2)
    with in_process.opened(asked, source, "letter", None, []) as loaded:
        assert loaded.compute.keywords["passes"].limit.gpus == gpus
        assert (loaded.prefetches, loaded.encodes, loaded.at_once) == (device == "cuda", True, 1)
        assert loaded.together == together
        # Cached predictions of units that passed together are not those of units alone.
        assert loaded.identity.get("units_together", "never") == together


@pytest.mark.parametrize(
    ("scoring", "generation", "loader", "more"),
    [
        ("letter", None, "load_model", {}),
        ("generate", Generation(3), "load_generative", {"threads": 3}),
        ("classify", None, "load_classifying", {"threads": 2}),
    ],
)
def test_a_model_is_loaded_for_its_way_of_asking(
    model, tmp_path, monkeypatch, scoring, generation, loader, more
):
    for name in ("load_model", "load_generative", "load_classifying"):

        def load(*given: Any, name: str = name) -> Any:
            return SimpleNamespace(called=(name, *given), encodes_on_host=True)

        monkeypatch.setattr(in_process, name, load)
    asked = AskedModel(label="m", location=str(tmp_path), family="llava", **more)
    source = CheckpointSource(str(tmp_path))
    how = {"load_model": [scoring], "load_generative": [generation], "load_classifying": []}[loader]
    with in_process.opened(asked, source, scoring, generation, []) as loaded:
        assert loaded.model.called == (loader, source, "llava", *how, more.get("threads", 1))
        asks = in_process.predict_units if loader == "load_model" else in_process.answer_units
        assert loaded.compute.func is asks
    # The code that merges an adapter counts where one is merged.
    modules: list[tuple[str, ...]] = []
    monkeypatch.setattr(in_process, "prediction_code", lambda names: modules.append(names) or "c")
    for adapter in ("o/lora", NO_ADAPTER, None):
        with in_process.opened(asked, replace(source, adapter=adapter), scoring, generation, []):
            pass
    assert ["benchc.models.adapter" in names for names in modules] == [True, False, False]
    for edited in ("b", "d"):
        monkeypatch.setattr(in_process, "prediction_code", lambda _, edited=edited: edited)
        again = in_process.opened(asked, source, scoring, generation, [])
        with pytest.raises(InputError, match="the code was edited while the model was loaded; run s"), again:
            pytest.fail("it is asked")


@pytest.mark.parametrize(
    ("prefetches", "encodes", "together", "workers", "original", "ahead"),
    [
        (False, True, "never", 0, True, []),
        (False, True, "always", 0, True, []),
        (False, True, "never", 1, True, ["prepared by 1", "few"]),
        # Of a server, or questions that are asked in other words, nothing is encoded before.
        (False, False, None, 1, True, ["few"]),
        (False, True, "never", 1, False, ["few"]),
        (True, False, None, 0, True, ["few"]),
        (True, True, "never", 0, True, ["few"]),
        # What fills a pass through a model on a GPU.
        (True, True, "always", 0, True, ["many"]),
        (True, True, "if_equal", 1, True, ["prepared by 1", "many"]),
    ],
)
def test_units_are_made_ahead_where_the_model_or_workers_run_beside_it(
    run, model, monkeypatch, prefetches, encodes, together, workers, original, ahead
):
    loaded = LoadedModel(model, IDENTITY, PREDICT, 1, prefetches, encodes, together)
    monkeypatch.setattr(inference_job, "_opened", lambda *_: nullcontext(loaded))
    used: list[object] = []

    def prepared(sources: Any, *more: Any) -> Any:
        used.append(f"prepared by {more[-1]}")
        return units_in(sources)

    def fetched(units: Any, number: int) -> Any:
        names = {inference_job.UNITS_AHEAD: "few", inference_job.AHEAD_TOGETHER: "many"}
        used.append(names[number])
        return units

    asked = inference_job.infer

    def infer(*given: Any) -> Any:
        used.append(given[-1])
        return asked(*given)

    monkeypatch.setattr(prepare, "prepared_units", prepared)
    monkeypatch.setattr(inference_job, "prefetch", fetched)
    monkeypatch.setattr(inference_job, "infer", infer)
    # By default, a job prepares the images itself, and asks the questions as they are.
    asked_otherwise = {} if original else {"original_questions": False}
    clean = ShownImages(recipes={CLEAN.name: CLEAN}, seed=5)
    run(of_job={"workers": workers} if workers else None, images=clean, **asked_otherwise)
    most = inference_job.MAX_BYTES_TOGETHER if "many" in ahead else inference_job.MAX_BYTES
    assert used == [*ahead, most]
