"""The settings of MLLM-IC across keys: one sentence for each mistake, what is planned and checked."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from benchc.benchmarks.mllm_ic.checking import check
from benchc.benchmarks.mllm_ic.planning.plan import plan_of
from benchc.benchmarks.mllm_ic.workflow import Workflow
from benchc.checking.pool import PoolFound
from benchc.config.load import Config, load, read_config
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.errors import InputError
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize
from tests.config.trial import MODELS, errors, write_trial

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """
benchmark: mllm-ic
name: trial
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text]
corruptions: {suite: mllm-ic}
models: [small, large]
demo: {seed: 1, training_set: {items_per_category: 2}}
"""
IN_WORDS = """
words: {label: Words, scoring: generate, server: {url: "http://localhost", model: m}}
"""
ONE_EACH = [types[0].name for types in MLLM_IC.groups.values()]
OTHER = {"label": "Other", "file": "other.csv"}


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "map.csv").write_text("source,category,capability,reason\ndrawn-text,x,ocr,\n")
    return write_trial(tmp_path, MODELS + IN_WORDS)


def corrupted(**changes: Any) -> dict[str, Any]:
    return {"corruptions": {"suite": "mllm-ic", **changes}}


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "too few severities": (
        corrupted(severities=[1, 3, 5]),
        "config.yaml: corruptions has the severities [1, 3, 5], but averages need [1, 2, 3, 4, 5]; leave the "
        "key out.",
    ),
    "a category of corruptions without types": (
        corrupted(types=[name for name in ONE_EACH if name != "cutout"]),
        "config.yaml: corruptions has no type of the category occlusion, of which averages need one; add "
        "cutout or coarse_dropout to types.",
    ),
    "another suite": (
        corrupted(suite="imagenet-c"),
        "config.yaml: corruptions.suite is \"imagenet-c\", but should be 'mllm-ic'.",
    ),
    "copies in no source of the run": (
        {"capabilities": {"circular": ["drawn-charts"]}},
        'config.yaml: capabilities.circular[0] is "drawn-charts", but there is no such id in sources (did '
        "you mean drawn-text?).",
    ),
    "two models of one id": (
        {"answers_from": {"small": OTHER}},
        'config.yaml: answers_from has "small", which is also one of models; give it another id.',
    ),
    "two imported models of one id": (
        {"answers_from": {"x": OTHER}, "predictions_from": {"x": OTHER}},
        "config.yaml: x is in answers_from and in predictions_from; give one another id.",
    ),
    "a figure of another model": (
        {"figures": {"figure10": {"model": "larger"}}},
        'config.yaml: figures.figure10.model is "larger", but there is no such model of the run (did you '
        "mean large?).",
    ),
    "a figure without a model that is not there": (
        {"figures": {"left_out": ["larger"]}},
        'config.yaml: figures.left_out[0] is "larger", but there is no such model of the run (did you mean '
        "large?).",
    ),
    "a figure without models": (
        {"figures": {"left_out": ["small", "large"]}},
        "config.yaml: figures.left_out has all models of the run; keep one for Figures 6 to 9.",
    ),
    "a figure of another type": (
        {"figures": {"figure5": {"types": ["fogg"]}}},
        'config.yaml: figures.figure5.types[0] is "fogg", but there is no such corruption in this run (did '
        "you mean fog?).",
    ),
    "pictures without a network": (
        {"hierarchy": {"images": "cifar"}},
        "config.yaml: hierarchy has one of images and weights; give both, or neither.",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_one_sentence(raw, root, what):
    changes, message = MISTAKES[what]
    load(raw, root)
    assert errors(raw | changes, root) == (message,)


def test_without_the_key_the_pool_has_no_limit(raw, root):
    pool = load(raw, root).settings.pool
    assert (pool.per_task, pool.total) == (None, None)
    assert load(raw | {"pool": {"per_task": 3}}, root).settings.pool.per_task == 3


def test_one_type_of_each_category_is_enough(raw, root):
    load(raw | corrupted(types=ONE_EACH), root)


def test_shipped_runs_are_the_papers(monkeypatch):
    monkeypatch.chdir(ROOT)
    paper, mini, demo = (
        read_config(Path(f"config/{name}.yaml")) for name in ("mllm-ic", "mllm-ic-mini", "demo-mllm-ic")
    )
    for config in (paper, mini, demo):
        assert len(config.settings.corruptions.types) == 40
        assert "shear_xy" not in config.settings.corruptions.types
    assert (paper.settings.mini, mini.settings.mini) == (None, 50)
    # They differ in nothing else, so that the mini run finds its predictions in the cache.
    different = {"name", "mini"}
    assert paper.settings.model_dump(exclude=different) == mini.settings.model_dump(exclude=different)
    plan = plan_of(paper, Path("nowhere"))
    jobs = {stage.name: len(stage.outputs) for stage in plan.stages}
    assert jobs == {"predictions": 40, "answers": 40}
    # 4,270,400 under corruptions, and the clean ones.
    assert {stage.predictions.value for stage in plan.stages} == {4_270_400 + 21_352}


def test_files_of_the_whole_pool_are_refused_and_those_of_a_part_are_not(monkeypatch):
    monkeypatch.chdir(ROOT)
    raw = yaml.safe_load(Path("config/mllm-ic.yaml").read_text())
    raw["corruptions"]["corrupted"] = "files"
    with pytest.raises(InputError, match=r"at least 31 GB would .* of 40 corruptions.*; give on_the_fly"):
        Workflow(load(raw, ROOT))
    Workflow(load(raw | {"sources": ["mmbench-dev-en"]}, ROOT))
    Workflow(load(raw | {"pool": {"per_task": 20, "total": None}}, ROOT))


def plan(config: Config, items: int) -> dict[str, tuple[tuple[str, ...], Amount]]:
    size = RunSize(Amount(items, "estimate"))
    return {
        stage.name: (stage.models, stage.items) for stage in plan_of(config, Path("nowhere"), size).stages
    }


def test_models_that_answer_in_words_are_planned_by_themselves(raw, root):
    found = plan(load(raw | {"models": ["large", "words"]}, root), 100)
    assert {name: models for name, (models, _) in found.items()} == {
        "predictions": ("large",),
        "answers": ("words",),
    }


@pytest.mark.parametrize(
    ("circular", "items", "expected"),
    [
        ([], 100, Amount(100, "estimate")),
        ([], 10_000, Amount(34 * 5, "at most")),
        (["drawn-text"], 10_000, Amount(34 * 5 * 4, "at most")),
    ],
)
def test_a_mini_bounds_what_is_asked(raw, root, circular, items, expected):
    config = load(raw | {"mini": 5, "capabilities": {"circular": circular}}, root)
    assert plan(config, items)["predictions"][1] == expected


def test_what_a_run_lacks_is_found_before_it_starts(raw, root):
    settings = {"sources": ["drawn-text", "drawn-charts"], "capabilities": {"categories": "map.csv"}}
    config = load(raw | settings | {"answers_from": {"other": OTHER}}, root)
    texts = pl.DataFrame(
        [("drawn-text/1", "drawn-text", "x"), ("drawn-text/2", "drawn-text", "y")],
        schema=["id", "source", "category"],
        orient="row",
    )
    pool = PoolFound(texts, None, texts, 4)

    def found(config: Config = config) -> list[tuple[str, str, str]]:
        findings = check(config, pool, load=False, network=False)
        return [(each.level, each.subject, each.text) for each in findings]

    assert found() == [
        ("ok", "drawn-text", "1 categories of 1 capabilities in map.csv"),
        ("error", "drawn-charts", "map.csv has no category of it; add its categories, or name another file"),
        (
            "error",
            "y of drawn-text",
            "1 item of a category that map.csv does not have; add it, with a capability or a reason",
        ),
        (
            "error",
            "other",
            "answers_from names other.csv, which does not exist; write it, or remove the model",
        ),
    ]
    kept = load(raw | settings | {"capabilities": {"categories": "map.csv", "unmapped": "keep"}}, root)
    text = "1 item of a category that map.csv does not have; in no mean of capabilities"
    assert ("ok", "y of drawn-text", text) in found(kept)
    (root / "map.csv").write_text("source,category,capability,reason\ndrawn-text,x,ocr\n")
    (root / "other.csv").touch()
    assert found() == [
        ("error", "capabilities", "map.csv: row 2: has fewer cells than the header; complete it"),
        ("ok", "other", "in other.csv"),
    ]
