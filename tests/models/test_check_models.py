"""Models that are here are tried as the run uses them; of the others, it is said where they come from."""

import importlib
import json
import logging
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import numpy as np
import polars as pl
import pytest
import torch
import yaml
from huggingface_hub.errors import GatedRepoError, LocalEntryNotFoundError
from safetensors.torch import load_file, save_file

from benchc.checking import encoders, measure, models, try_encoder, try_model
from benchc.checking.child import in_child
from benchc.checking.encoders import check_encoder_gpus, check_image_text_encoders
from benchc.checking.finding import Finding
from benchc.checking.models import check_models
from benchc.checking.pool import PoolFound
from benchc.checking.try_encoder import _absence, try_image_encoder, try_text_encoder
from benchc.config.settings import DEFAULT_SUITE, LabelPrompt, OpenAnswers, RunSettings, TemplatedAnswers
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.models.gpus import Gpu, HeldGpus
from benchc.models.items import read_items
from benchc.models.loaded import LoadedModel
from benchc.models.protocol import CheckpointSource, OptionScores, Reply, UnitInput, Variants
from benchc.models.question import Question
from benchc.models.units import Recipes, Unit
from benchc.models.vqa import BlipModel
from benchc.planning.rates import Rate
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.checking.collected import collected, lines
from tests.checking.runs import config_of
from tests.config.trial import MODELS
from tests.models.classes.builders import save
from tests.models.conftest import QUESTIONS
from tests.models.stand_ins.nvidia_smi import use_machine
from tests.models.test_revisions import FIRST, REPO, HubCache, hub  # noqa: F401
from tests.models.vqa_heads import save_blip, save_vilt

# What is measured of a model that runs here: its seconds, and whose they are.
APART = re.compile(r"(\S+) s per \w+ \((\S+) s in the model on the CPU, (\S+) s encoding\), ")
Check = Callable[..., tuple[list[Finding], dict[str, Rate]]]


@pytest.fixture(scope="module")
def pool() -> PoolFound:
    """Return two items with three and four options, which the small checkpoints' tokenizers know."""
    rng, rows = np.random.default_rng(5), []
    for number, question in enumerate(QUESTIONS[:2]):
        image = encode_png(rng.integers(0, 256, (40, 56, 3), dtype=np.uint8))
        row = {"id": f"s/{number}", "source": "s", "question": question.question, "hint": question.hint}
        row |= {"options": list(question.options), "image_keys": [f"s/{number}#0"]}
        rows.append(dict.fromkeys(POOL.columns) | row | {"images": [{"bytes": image, "path": None}]})
    sample = pl.DataFrame(rows, schema=pl.Schema(POOL.columns))
    return PoolFound(sample.drop("images"), None, sample, 4)


@pytest.fixture
def check(pool: PoolFound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, torch_settings: None) -> Check:
    def in_this_process(module: str, function: str, *arguments: object) -> Any:
        return getattr(importlib.import_module(module), function)(*arguments)

    def checked(
        entries: dict[str, dict[str, Any]],
        pool: PoolFound = pool,
        load: bool = True,
        settings: type[RunSettings] = RunSettings,
    ) -> tuple[list[Finding], dict[str, Rate]]:
        config = config_of({"s": {"path": "s.tsv"}}, entries)
        config = replace(config, settings=settings.model_validate(config.settings.model_dump()))
        return collected(check_models(config, pool, load=load))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(models, "in_child", in_this_process)
    return checked


def change_weights(folder: Path, part: str, factor: float) -> None:
    """Multiply the weights whose names contain ``part``."""
    path = folder / "model.safetensors"
    weights = load_file(path)
    assert any(part in name for name in weights)
    for name in weights:
        weights[name] *= factor if part in name else 1
    save_file(weights, path, metadata={"format": "pt"})


@pytest.fixture
def llava(checkpoints: dict[str, Path]) -> dict[str, str]:
    return {"path": str(checkpoints["llava"])}


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_good_model_is_measured(check: Check, llava, scoring: str) -> None:
    found, rates = check({"good": llava | {"scoring": scoring}})
    assert lines(found, "error") == []
    (facts,) = lines(found, "ok")
    assert facts.startswith("good: loaded in ") and APART.search(facts)
    # Two items at the three severities of the first corruption; clean predictions are the warm-up.
    assert rates["good"].measured == 6 and 0 < (rates["good"].seconds.value or 0) < 10


def test_time_is_measured_on_items_drawn_for_it(check, llava, pool):
    drawn = replace(pool, drawn=pool.sample[:1])
    found, rates = check({"good": llava}, drawn)
    # One item at three severities; both items are answered when clean.
    assert rates["good"].measured == 3 and lines(found, "error") == []
    found, rates = check({"good": llava | {"scoring": "generate", "family": None}}, drawn, settings=Open)
    assert rates["good"].measured == 3 and " of 2 answers cut off" in found[0].text


class Open(RunSettings):
    """Settings of a run that asks its questions openly."""

    @property
    def open_answers(self) -> OpenAnswers | None:
        return OpenAnswers(max_new_tokens=2, instruction="One word.")


class BySubset(RunSettings):
    """Settings of a run that asks questions with three options in another way than those with four."""

    @property
    def subset_answers(self) -> Mapping[str, TemplatedAnswers]:
        return {
            "3": TemplatedAnswers(prompt="{question} {options}", max_new_tokens=2),
            "4": TemplatedAnswers(prompt="{question}", max_new_tokens=3),
        }

    def subset_of(self, item: Mapping[str, Any]) -> str:
        return str(len(item["options"]))


def test_items_are_tried_with_the_prompts_of_their_subsets(check, llava, monkeypatch):
    prompts, limits = set(), set()
    ask = try_model.answer_units

    def asked(model: Any, question: Question, *others: Any, **further: Any) -> Any:
        prompts.add(model.generation.prompt(question))
        limits.add(model.generation.max_new_tokens)
        return ask(model, question, *others, **further)

    monkeypatch.setattr(try_model, "answer_units", asked)
    found, rates = check({"good": llava}, settings=BySubset)
    three, four = QUESTIONS[:2]
    listed = "; ".join(f"{letter}.{text}" for letter, text in zip("ABC", three.options, strict=True))
    assert prompts == {f"{three.question} {listed}", f"{four.hint}\n{four.question}"} and limits == {3}
    assert rates["good"].measured == 6 and " of 2 answers cut off" in found[0].text


def test_a_model_that_the_run_has_trained_is_tried(check, checkpoints, tmp_path, monkeypatch):
    made = tmp_path / "results/models/good-0123"
    monkeypatch.setattr(models, "TrainedModels", lambda *_: SimpleNamespace(folder=lambda id_: str(made)))
    entry = {"train": yaml.safe_load(MODELS)["small"]["train"]}
    found, rates = check({"good": entry})
    assert [(each.level, each.text) for each in found] == [("made", "made by the run")] and rates == {}
    shutil.copytree(checkpoints["llava"], made)
    found, rates = check({"good": entry})
    assert lines(found, "error") == [] and rates["good"].measured == 6 and rates["good"].run is None


class Clock:
    """A clock that a test moves, of :mod:`benchc.checking.measure`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(measure, "time", SimpleNamespace(monotonic=lambda: self.now))
        units_of = measure.units_of

        def slow(*arguments: Any) -> Iterator[Unit]:
            for unit in units_of(*arguments):
                self.now += len(unit.severities) * (0.5 if unit.corruption != "clean" else 7.0)
                yield unit

        monkeypatch.setattr(measure, "units_of", slow)

    def encode(self, _: object, __: Question, variants: Variants) -> Iterator[Any]:
        self.now += 3.0 * len(variants)
        yield from variants

    def scores(self, _: object, __: Question, units: Sequence[UnitInput]) -> list[tuple[OptionScores, bool]]:
        found = []
        for unit in units:
            # Either here, or before and then not again.
            list(unit.groups or self.encode(_, __, unit.variants))
            self.now += 2.0 * len(unit.variants)
            logits = np.array([[np.mean(images[0]), 1.0] for images in unit.variants], np.float32)
            found.append((OptionScores(logits, np.ones(len(logits), np.float32)), False))
        return found

    def replies(self, _: object, __: Question, units: Sequence[UnitInput]) -> list[tuple[list[Reply], bool]]:
        found = zip(units, self.scores(_, __, units), strict=True)
        return [([Reply("A", "stop", 1)] * len(unit.variants), split) for unit, (_, split) in found]


@pytest.mark.parametrize("apart", [True, False])
def test_encoding_and_the_model_are_measured_apart(pool, tmp_path, monkeypatch, apart):
    clock = Clock(monkeypatch)
    path = tmp_path / "items.parquet"
    write_table(pool.sample, path, POOL)
    asked = SimpleNamespace(prompt=lambda question, images: question.question)
    identity = {"model": "stand-in", "scoring": "letter"}
    entry = config_of({"s": {"path": "s.tsv"}}, {"m": {"path": "m", "gpus": 1}}).models["m"]
    recipe = recipe_of("gaussian_noise", suite_with(DEFAULT_SUITE, []), "benchc")
    images = Recipes([clean_recipe(), recipe], 0)
    encode = clock.encode if apart else None
    how = {"loading": None, "encode": encode}
    model = LoadedModel(asked, identity, clock.scores, at_once=1, prefetches=False)
    trials, found = {}, {}
    for device in ("cpu", "cuda"):
        trial = measure.measure_predictions(model, read_items(path), path, images, device=device, **how)
        trials[device], found[device] = trial, [each.text for each in models.judged("m", entry, trial)]
    answering = model._replace(compute=clock.replies)
    answers = measure.measure_answers(answering, read_items(path), path, images, device="cuda", **how)
    answer = models.answers_finding("m", entry, answers).text
    if apart:
        assert (trials["cuda"].seconds, trials["cuda"].model_seconds) == (5.0, 2.0)
        assert trials["cuda"].image_seconds == 0.5  # clean images are other files
        assert found["cpu"][0].startswith("5 s per prediction (2 s in the model on the CPU, 3 s encoding), ")
        assert found["cuda"][0].startswith("5 s per prediction (2 s in the model on the GPU, 3 s encoding), ")
        assert found["cuda"][1:] == [
            "a worker process takes 0.5 s to make the images of a prediction and 3 s to encode them, "
            "so that the GPU needs 2 workers; set `inference.workers: 2`, if there are so many cores"
        ]
        assert answer.startswith("5 s per answer (2 s in the model on the GPU, 3 s encoding), 2 of 2 answers")
        # Two items at five severities.
        assert answers.timed == 10
    else:
        assert found["cuda"][0].startswith("5 s per prediction, label mass 100 %")
        assert len(found["cuda"]) == 1 and answer.startswith("5 s per answer, 2 of 2 answers")
    assert len(found["cpu"]) == 1 and "workers" not in found["cpu"][0]


def test_clean_predictions_are_measured_where_there_are_no_corruptions(check, llava, monkeypatch):
    monkeypatch.setattr(models, "_images", lambda config: Recipes([clean_recipe()], 1, "drop"))
    rate = check({"good": llava})[1]["good"]
    assert rate.measured == 2 and (rate.seconds.value or 0) > 1e-3


def test_vqa_heads_answer_as_they_can(check: Check, tmp_path: Path) -> None:
    paths = {"vilt": str(save_vilt(tmp_path / "vilt")), "blip": str(save_blip(tmp_path / "blip"))}
    entries = {
        "closed": {"path": paths["vilt"], "scoring": "classify"},
        "decoder": {"path": paths["blip"], "scoring": "generate", "max_new_tokens": 1},
        "letters": {"path": paths["vilt"], "scoring": "letter"},
    }
    found, rates = check({id_: {"family": None, **entry} for id_, entry in entries.items()})
    by_model = {each.subject: (each.level, each.text) for each in found}
    level, text = by_model["closed"]
    assert level == "ok", text
    # Its list has none of the options; no prompt would change that.
    assert APART.search(text) and text.endswith(", 0 of 2 answers choose an option")
    assert by_model["decoder"][0] == "warning"
    text = "of 2 answers choose an option, 2 cut off; raise max_new_tokens in the model catalogue"
    assert by_model["decoder"][1].endswith(text)
    assert by_model["letters"][0] == "error" and "scores no options" in by_model["letters"][1]
    assert rates == {}


def test_a_model_that_depends_on_the_batch_is_measured_one_variant_at_a_time(check, checkpoints, tmp_path):
    save("hunyuan_vl", tmp_path)
    paths = {"leaks": tmp_path, "llava": checkpoints["llava"]}
    found, _ = check({id_: {"path": str(path), "family": None} for id_, path in paths.items()})
    assert lines(found, "error") == []
    text = "its logits of an image depend on the other severities that pass through it together: jobs ask"
    assert [each.subject for each in found if each.level == "warning" and text in each.text] == ["leaks"]


@pytest.mark.parametrize("openly", [False, True])
def test_no_advice_raises_a_limit_that_blips_code_fixes(check, tmp_path, monkeypatch, openly):
    class Open(RunSettings):
        @property
        def open_answers(self) -> OpenAnswers | None:
            return OpenAnswers(max_new_tokens=limit, instruction="One word.") if openly else None

    entry = {"path": str(save_blip(tmp_path / "blip")), "scoring": "generate", "family": None}
    setting = "answers.max_new_tokens" if openly else "max_new_tokens in the model catalogue"
    # None of its answers ends within its nine tokens.
    monkeypatch.setattr(BlipModel, "end_tokens", [])
    for limit, advice in ((8, f"; raise {setting}"), (9, ""), (512, "")):
        (found,), rates = check({"blip": {**entry, "max_new_tokens": limit}}, settings=Open)
        assert found.level == "warning" and "of 2 answers" in found.text
        # Two items at the three severities of the first corruption; only open answers are of the run's stage.
        assert [rate.measured for rate in rates.values()] == ([6] if openly else [])
        assert re.search(r"2 (of 2 answers )?cut off[^;]*(.*)", found.text)[2] == advice


def test_answers_of_other_models_get_advice_on_prompt_and_limit(check, llava):
    entry = llava | {"scoring": "generate", "family": None, "max_new_tokens": 1}
    (found,), _ = check({"llava": entry})
    advice = "; look at its prompt, or raise max_new_tokens in the model catalogue"
    assert found.text.endswith(advice) == ("0 of 2 answers choose an option" in found.text)


def test_what_would_fail_in_a_job_is_an_error_of_each_model(check, llava, tmp_path):
    for name in ("nan", "tokenizer", "weights", "short", "code"):
        shutil.copytree(llava["path"], tmp_path / name)
    with (tmp_path / "short/model.safetensors").open("r+b") as file:
        file.truncate(2000)
    change_weights(tmp_path / "nan", "lm_head", float("nan"))
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "tokenizer" / name).unlink()
    (tmp_path / "weights/model.safetensors").unlink()
    config = tmp_path / "code/config.json"
    config.write_text(json.dumps(json.loads(config.read_text()) | {"vision_config": [3]}))
    entries = {name: {"path": name} for name in ("nan", "tokenizer", "weights", "short", "code")}
    entries |= {
        "family": llava | {"family": "gemma3"},
        "unknown": llava | {"family": "moondrean"},
        "untrusted": llava | {"family": "moondream"},
        "environment": {"repo": "owner/far", "env": None, "recommended": "server", "note": "It is old."},
        "setting": llava | {"processor": {"max_patches": 6}},
        "good": llava,
    }
    found, rates = check(entries)
    errors = {each.subject: each.text for each in found if each.level == "error"}
    assert errors.keys() == entries.keys() - {"good"}
    assert list(rates) == ["good"]
    assert "has the logits [nan, nan, nan] and the label mass nan, which must be finite" in errors["nan"]
    assert "the files of its tokenizer are missing (tokenizer.json, " in errors["tokenizer"]
    again = "; copy the model there again, or correct its `path`"
    assert errors["weights"] == f"no weights{again}"
    assert errors["short"] == f"model.safetensors is damaged or incomplete{again}"
    assert "cannot be loaded (" in errors["code"]
    assert errors["environment"].startswith("no job can load it, since no environment can be pinned")
    assert errors["environment"].endswith("Its note: It is old.")
    assert "is a model of the family 'llava' (model_type in config.json), not 'gemma3'" in errors["family"]
    assert errors["unknown"].startswith("the family 'moondrean' is no model type of transformers and has no")
    assert "run `benchc models pin untrusted`, which writes its commit" in errors["untrusted"]
    assert "has no setting 'max_patches'" in errors["setting"]


def test_letters_beyond_those_of_the_sample_are_tested(check, llava, pool):
    many = PoolFound(pool.texts, None, pool.sample, 26)
    (error,) = lines(check({"letters": llava}, many)[0], "error")
    assert "the letters A to Z are not one distinct token each after a prompt" in error
    assert lines(check({"texts": llava | {"scoring": "text"}}, many)[0], "error") == []


class Labelled(RunSettings):
    """Settings of a run that asks for Yes or No, or for a letter."""

    @property
    def label_prompt(self) -> LabelPrompt:
        return LabelPrompt(yes_no="Answer Yes or No.", multiple_choice="Answer A or B.", max_new_tokens=9)


def test_labels_are_tested_as_the_run_asks_for_them(check, llava, pool):
    def errors(pool: PoolFound = pool, scoring: str = "letter") -> list[str]:
        return lines(check({"m": llava | {"scoring": scoring}}, pool, settings=Labelled)[0], "error")

    # The tokenizer knows letters, and splits Yes and No.
    assert errors() == []
    words = pool.texts.head(1).with_columns(options=pl.Series([["Yes", "No"]]))
    mixed = replace(pool, texts=pl.concat([pool.texts, words]))
    (error,) = errors(mixed)
    assert "the answers Yes and No are not one distinct token each" in error and "…" in error
    # Of a run whose sources are not here, both kinds are tested.
    assert len(errors(replace(pool, texts=pool.texts.clear()))) == 1 and errors(mixed, "text") == []


def test_each_order_of_labels_is_one_question(pool: PoolFound) -> None:
    form = models.LabelPrompt("Yes or No?", "A or B?")
    options = [["Yes", "No"], ["no", "yes"], ["a dog", "a cat"], ["a cow", "a hen"], ["Yes", "No"]]
    texts = pl.concat([pool.texts.head(1)] * len(options)).with_columns(options=pl.Series(options))
    found = models.labelled_questions(form, texts)
    assert [question.labels for question in found] == [("Yes", "No"), ("No", "Yes"), ("A", "B")]
    assert found[0].prompt == f"{QUESTIONS[0].question} Yes or No?"


def test_a_model_that_ignores_its_images_is_an_error(check: Check, folder: Path) -> None:
    change_weights(folder, "multi_modal_projector", 0.0)
    found, _ = check({"blind": {"path": str(folder), "scoring": "text"}})
    assert lines(found, "error") == [
        "blind: its predictions do not change if the images become grey; check its processor and weights"
    ]


def test_a_low_label_mass_and_too_little_memory_are_warnings(check, llava):
    entries = {"letters": {"mem_mb": 50}, "texts": {"scoring": "text", "mem_mb": 10**6}}
    mass, memory = lines(check({id_: llava | keys for id_, keys in entries.items()})[0], "warning")
    # The probability of long texts is always low.
    assert mass.startswith("letters: the letters of the options have only ")
    assert "but mem_mb in the model catalogue 50: a cluster ends its jobs; set mem_mb to " in memory


def test_without_a_gpu_the_cpu_is_used_and_measures_no_rate(check, llava, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    entry = llava | {"gpus": 1, "dtype": "bfloat16"}
    end = "; on the CPU, since torch finds {} of CUDA or ROCm: a job on this machine would be refused"
    for gpus, text in ((1, "no GPU"), (2, "fewer than 2 GPUs")):
        found, rates = check({"large": {**entry, "gpus": gpus}})
        assert lines(found, "ok")[0].endswith(end.format(text)) and rates == {}
    found, _ = check({"answers": entry | {"scoring": "generate", "max_new_tokens": 2}})
    assert found[0].text.endswith(end.format("no GPU"))
    # The CPU cannot compute it, though the entry asks for a GPU.
    (line,) = lines(check({"flash": entry | {"attention": "flash_attention_2"}})[0], "ok")
    assert "; on the CPU and without flash_attention_2, since torch finds no GPU of CUDA" in line
    monkeypatch.setattr(models.LocalModel, "weights", 10**15)
    found, rates = check({"large": entry})
    assert [each.level for each in found] == ["skipped"] and "needs a GPU, and is too large" in found[0].text


def test_a_check_takes_gpus_as_a_job_does_and_with_too_few_uses_the_cpu(tmp_path, monkeypatch):
    use_machine(tmp_path, monkeypatch)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: pytest.fail("they are counted"))
    placed = try_model._placed(CheckpointSource("m", device="cuda", gpus=2), 1)
    assert placed is not None and placed[0].device == "cpu"
    # It takes them before torch counts them.
    asked: list[object] = []

    def counted() -> int:
        asked.append("count")
        return 1

    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.cuda, "device_count", counted)
    held = HeldGpus(gpus=[Gpu("GPU-1", "0", 0, "GPU-1")])
    monkeypatch.setattr(try_model, "take_gpus", lambda *_: asked.append("take") or held)
    source = CheckpointSource("m", device="cuda")
    monkeypatch.setattr(try_model, "check_cards", lambda *given: asked.append(given))
    assert try_model._placed(source, 1) == (source, 1)
    # As a job does, it checks them before the model is loaded.
    assert asked == ["take", "count", (held.gpus, "m", source)]


def test_models_are_not_loaded_on_demand(check, llava, monkeypatch):
    found, rates = check({"here": llava, "far": {"family": "own", "path": "."}}, load=False)
    assert lines(found, "skipped") == [f"here: is here and was not loaded: {llava['path']}"]
    assert len(lines(found, "error")) == 1 and rates == {}
    # One that this machine cannot compile is refused.
    monkeypatch.setenv("CXX", "/nowhere/c++")
    found, _ = check({id_: llava | {"compile": id_ == "fast"} for id_ in ("fast", "plain")}, load=False)
    (error,) = lines(found, "error")
    assert error.startswith("fast: `compile: true` needs a C++ compiler, and there is no /nowhere/c++ (CXX);")
    assert [each.subject for each in found if each.level == "skipped"] == ["plain"]


def test_a_model_in_the_hubs_cache_is_tried_at_the_commit_of_the_run(check, hub, checkpoints, tmp_path):  # noqa: F811
    hub.add(checkpoints["llava"], FIRST)
    found, rates = check({"cached": {"repo": REPO}})
    assert lines(found, "error") == [] and rates["cached"].measured == 6
    # The run has recorded a commit, which is not in the cache.
    recorded = tmp_path / "results/trial/revisions/cached.json"
    recorded.parent.mkdir(parents=True)
    recorded.write_text(json.dumps({"repo": REPO, "revision": None, "commit": "3" * 40}))
    (error,) = lines(check({"cached": {"repo": REPO}})[0], "error")
    assert error.endswith(f"run: benchc models fetch {REPO}@{'3' * 40}")


def test_a_model_that_is_only_on_the_hub_is_an_error_offline(check, hub, checkpoints):  # noqa: F811
    found, _ = check({"branch": {"repo": "owner/far"}, "commit": {"repo": "owner/far", "revision": FIRST}})
    branch, commit = lines(found, "error")
    absent = "is not in the Hub's cache on this machine"
    assert branch.startswith(f"branch: owner/far: its default branch {absent}")
    assert commit.startswith(f"commit: owner/far: its revision {FIRST} {absent}")
    # Of a download that was interrupted, a shard is missing.
    hub.add(checkpoints["llava"], FIRST)
    snapshot = hub.folder / "snapshots" / FIRST
    (snapshot / "model.safetensors").rename(snapshot / "model-1.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (snapshot / "model.safetensors.index.json").write_text(json.dumps(index))
    (error,) = lines(check({"part": {"repo": REPO}})[0], "error")
    assert "is not in the Hub's cache" in error and error.endswith(f"benchc models fetch {REPO}@{FIRST}")


def test_a_model_to_fetch_has_a_size_and_may_need_a_licence(check, hub, monkeypatch):  # noqa: F811
    sizes = {"a.safetensors": 3_000_000_000, "b.safetensors": 2_000_000_000, "c.bin": 5_000_000_000}
    siblings = [SimpleNamespace(rfilename=name, size=size) for name, size in sizes.items()]
    info = SimpleNamespace(gated=False, siblings=siblings)

    def refuse(*arguments: object) -> None:
        raise GatedRepoError("no access", response=SimpleNamespace(headers={}, request=None))

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *_, **__: info)
    entries = {"far": {"repo": "owner/far", "revision": FIRST}}
    (fetched,) = check(entries)[0]
    assert (fetched.level, fetched.text) == ("fetch", "5 GB, from the Hub: owner/far")
    info.gated = "manual"
    monkeypatch.setattr(huggingface_hub.HfApi, "auth_check", lambda *_: None)
    assert check(entries)[0][0].text.endswith("owner/far, gated: HF_TOKEN has access")
    monkeypatch.setattr(huggingface_hub.HfApi, "auth_check", refuse)
    (gated,) = lines(check(entries)[0], "error")
    assert "is gated: accept its licence on https://huggingface.co/owner/far, then set HF_TOKEN" in gated


@pytest.fixture
def no_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new processes find nothing in the Hub's cache."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))


def test_encoders_on_a_machine_without_a_gpu_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def torch_finds(module: str, function: str) -> bool:
        asked.append(getattr(import_module(module), function))
        return found

    monkeypatch.setattr(encoders, "in_child", torch_finds)
    found = False
    assert "torch finds no GPU" in lines(list(check_encoder_gpus(1, load=True)), "warning")[0]
    found = True
    assert [*check_encoder_gpus(1, load=True)] == [] and len(asked) == 2
    assert [*check_encoder_gpus(0, load=True), *check_encoder_gpus(1, load=False)] == [] and len(asked) == 2


def test_an_absent_encoder_is_not_logged_as_an_error_of_the_network(caplog: pytest.LogCaptureFixture) -> None:
    def load() -> None:
        logging.error("Please check your connection")
        raise InputError("absent") from LocalEntryNotFoundError("absent")

    assert _absence(load) == "absent" and caplog.messages == []
    logging.error("heard again")
    assert caplog.messages == ["heard again"]


FAR = (
    ("try_text_encoder", ("owner/far",)),
    ("try_image_encoder", ("ViT-B-32-quickgelu", "openai")),
    ("try_image_text_encoder", ("sentence_transformers", "owner/far", None)),
    ("try_image_text_encoder", ("blip2", "owner/far", None)),
)


def absences() -> list[str | None]:
    """Return what is said of each encoder of FAR; a process of its own imports the libraries once."""
    return [getattr(try_encoder, function)(*arguments) for function, arguments in FAR]


def test_an_encoder_on_the_hub_is_absent(no_cache: None) -> None:
    for (_, arguments), absent in zip(FAR, in_child(__name__, "absences"), strict=True):
        assert any(f"{argument!r}" in absent for argument in arguments) and "cannot be loaded (" in absent


def test_wrong_names_and_damaged_folders_are_errors(no_cache: None, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'ViT-B-999' is neither a folder nor a model of open_clip"):
        try_image_encoder("ViT-B-999", "openai")
    (tmp_path / "modules.json").write_text("{")
    with pytest.raises(InputError, match="cannot be loaded"):
        try_text_encoder(str(tmp_path))
    assert try_text_encoder("all-MiniLM-L6-v2") is None


def test_encoders_of_images_and_texts_are_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def tried(module: str, function: str, library: str, name: str, _: object, language: str | None) -> Any:
        assert (module, function) == ("benchc.checking.try_encoder", "try_image_text_encoder")
        assert language is None
        if name == "owner/wrong":
            raise InputError("it does not embed images; give a CLIP")
        return "it is not here" if name == "owner/far" else None

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(encoders, "in_child", tried)
    (tmp_path / "models/own/clip").mkdir(parents=True)
    asked = {
        "tag": ("open_clip", "ViT-B-32-quickgelu", "openai", None),
        "folder": ("open_clip", "models/own/clip", None, None),
        "absent": ("blip2", "models/own/blip", None, None),
        "far": ("sentence_transformers", "owner/far", None, None),
        "wrong": ("sentence_transformers", "owner/wrong", None, None),
        "own": ("open_clip", "trained", None, None),
    }
    found = check_image_text_encoders(asked, load=True)
    absent = "there is no folder models/own/blip; correct `name`, relative to the working directory"
    levels = [(each.level, line) for each in found for line in lines([each])]
    assert levels == [
        ("ok", "tag: open_clip ViT-B-32-quickgelu openai: can be loaded"),
        ("ok", "folder: open_clip models/own/clip: can be loaded"),
        ("error", f"absent: {absent}"),
        ("fetch", "far: sentence_transformers owner/far, from the Hub"),
        ("error", "wrong: it does not embed images; give a CLIP"),
        ("made", "own: made by the run"),
    ]
