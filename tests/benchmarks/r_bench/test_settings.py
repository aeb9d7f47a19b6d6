"""The settings of R-Bench across keys: one sentence for each mistake."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.config.load import load, read_config
from tests.config.trial import errors, write_trial
from tests.shared_data import write_empty_sources

ROOT = Path(__file__).resolve().parents[3]
CONFIG = """
benchmark: r-bench
name: trial
catalogues: {sources: sources.yaml, models: models.yaml}
sources: [drawn-text]
corruptions: {suite: r-bench, types: [white_noise, jpeg]}
pairs: generated
models: [small, large]
demo: {seed: 1, training_set: {items_per_category: 2}}
"""


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_trial(tmp_path)


MISTAKES: dict[str, tuple[dict[str, Any], str]] = {
    "released without images": (
        {"pairs": "released"},
        "config.yaml: released is missing, but pairs is released; name the distorted images that `benchc "
        "r-bench-pairs` wrote, or choose generated.",
    ),
    "released with an assignment": (
        {"pairs": "released", "released": "r.parquet", "assignment": {"per_task": 3}},
        "config.yaml: has assignment, but released pairs have their dimensions and strengths; remove it, or "
        "choose generated.",
    ),
    "generated with images": (
        {"released": "r.parquet"},
        "config.yaml: has released, but pairs is generated; remove it, or choose released.",
    ),
    "a task of no source": (
        {"tasks": {"drawn-texts": "vqa"}},
        'config.yaml: tasks is "drawn-texts", but there is no such id in sources (did you mean drawn-text?).',
    ),
    "too few people": (
        {"people": ["a.csv", "b.csv"]},
        "config.yaml: people has 2 files, but the best and the worst are left out; give at least 3, or none.",
    ),
    "a person twice": (
        {"people": ["a.csv", "b.csv", "a.csv"]},
        "config.yaml: people has a.csv twice; give each person's answers once.",
    ),
    "one file of judgements for two kinds": (
        {"judgements_from": {"x": {"label": "X", "dis": "a.csv", "ref": "b.csv", "com": "a.csv"}}},
        "config.yaml: judgements_from.x has one file twice; give each of dis, ref and com its own.",
    ),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_a_mistake_is_one_sentence(raw, root, what):
    changes, message = MISTAKES[what]
    load(raw, root)
    assert errors(raw | changes, root) == (message,)


def test_released_pairs_need_no_assignment(raw, root):
    settings = load(raw | {"pairs": "released", "released": "r.parquet"}, root).settings
    assert settings.imported_images == "r.parquet"


@pytest.mark.parametrize("name", ["r-bench", "demo-r-bench", "real-pairs"])
def test_shipped_runs_have_all_dimensions_that_their_pairs_have(name, monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("BENCHC_SHARED", write_empty_sources(tmp_path))
    settings = read_config(Path(f"config/{name}.yaml")).settings
    captured = {
        "bright_illumination",
        "dark_illumination",
        "blocking_obstacle",
        "lens_obstacle",
        "lens_shaking",
    }
    assert len(settings.corruptions.types) == (33 if name == "r-bench" else 28)
    assert captured.issubset(settings.corruptions.types) == (name == "r-bench")
    assert settings.judge.kind == ("llm" if name == "r-bench" else "rule")
