"""The settings of Bench-C and its shipped configurations."""

from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.benchmarks.bench_c.published.tables import published_table1
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config, load
from benchc.corruptions.registry import corruptions_of
from tests.benchmarks.bench_c.trial import CONFIG
from tests.config.trial import MODELS, SOURCES, errors

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text(SOURCES)
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "transformers.yaml").touch()
    return tmp_path


def test_selectors_come_before_targets_and_the_gpus_of_both_encoders_count(
    raw: dict[str, Any], root: Path
) -> None:
    config = load(raw, root)
    assert list(config.models) == ["small", "large"]
    assert (config.settings.selection.alpha_kappa, config.settings.encoder_gpus) == (1.0, 0)
    raw["selection"]["text_encoder"] = {"name": "owner/large", "gpus": 1}
    assert load(raw, root).settings.encoder_gpus == 1


IMAGE_ENCODER, TEXT_ENCODER = "selection.image_encoder", "selection.text_encoder"


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("figures.figure4.target", "huge", '{} is "huge", but should be one of targets: large, small.'),
        (
            "figures.figure4.corruption",
            "frost",
            '{} is "frost", but should be one of corruptions.types: snow, fog, pixelate.',
        ),
        ("figures.figure4.severity", 2, "{} is 2, but should be one of corruptions.severities: 1, 3, 5."),
        (
            f"{IMAGE_ENCODER}.pretrained",
            "openai",
            '{} is "openai", but should be null where the run trains the encoder.',
        ),
        (
            f"{IMAGE_ENCODER}.name",
            "ViT-B-32-quickgelu",
            f"{IMAGE_ENCODER}.pretrained is null, but should name the weights of ViT-B-32-quickgelu, such as "
            "openai.",
        ),
        (f"{IMAGE_ENCODER}.gpus", 2, "{} is 2, but should be less than or equal to 1."),
        (TEXT_ENCODER, {"name": "a", "batch": 0}, "{}.batch is 0, but should be greater than or equal to 1."),
        (TEXT_ENCODER, {"name": "a", "gpu": 1}, "unknown key {}.gpu (did you mean gpus?)."),
        (
            "demo",
            None,
            "{} is missing, but needed for drawn-text, drawn-charts, small, the image encoder; see "
            "config/demo.yaml.",
        ),
        ("selection.alpha_diversity", float("inf"), "{} is Infinity, but should be a finite number."),
        ("diagnostics.random_subset", 0, "{} is 0, but should be greater than or equal to 1 or 'all'."),
        ("figures", [1], "{} is [1], but should be a mapping."),
        ("corruptions.severities", [5], "{} is [5], but should have at least 2 items, not 1."),
    ],
)
def test_an_error_is_one_line(raw: dict[str, Any], root: Path, key: str, value: object, error: str) -> None:
    *blocks, last = key.split(".")
    reduce(getitem, blocks, raw)[last] = value
    assert f"config.yaml: {error.format(key)}" in errors(raw, root)


def test_a_prediction_of_figure_5_that_the_run_lacks_and_missing_keys_are_named(
    raw: dict[str, Any], root: Path
) -> None:
    raw["figures"]["figure5"]["corruptions"] = ["fog:1", "snow:4"]
    lacking = '"snow:4", but there is no such corruption in this run (did you mean snow:5?).'
    assert errors(raw, root) == (f"config.yaml: figures.figure5.corruptions[1] is {lacking}",)
    raw["figures"]["figure5"]["corruptions"] = None
    selectors = raw.pop("selectors")
    missing = "is missing; docs/configuration.md describes it."
    assert errors(raw, root) == (f"config.yaml: selectors {missing}",)
    # A trained encoder needs its key of the demo.
    raw["selectors"] = selectors
    del raw["demo"]["image_encoder"]
    assert errors(raw, root) == (f"config.yaml: demo.image_encoder {missing}",)


def small(raw: dict[str, Any], **changes: object) -> dict[str, Any]:
    """Return only the keys of ``raw`` without a default, and ``changes``."""
    given = ("benchmark", "name", "catalogues", "sources", "selectors", "targets", "demo")
    return {key: raw[key] for key in given} | changes


def test_the_defaults_are_those_of_the_papers_run(raw: dict[str, Any], root: Path) -> None:
    paper = load_shipped("config.yaml").settings.model_dump()
    settings = load(small(raw), root).settings.model_dump()
    own = {"name", "catalogues", "sources", "selectors", "targets", "demo", "figures"}
    assert settings | {key: paper[key] for key in own} == paper
    assert settings["figures"] == {
        "figure3": {"target": "large"},
        "figure4": {"target": "large", "corruption": "snow", "severity": 5},
        "figure5": {"target": "large", "item": None, "corruptions": None},
    }


def test_the_default_of_a_figure_is_what_the_run_has(raw: dict[str, Any], root: Path) -> None:
    changes = {"corruptions": {"types": ["fog", "frost"], "severities": [1, 4]}, "targets": ["small"]}
    chosen = load(small(raw, **changes, figures={"figure4": {"corruption": "frost"}}), root).settings.figures
    assert chosen.figure4.model_dump() == {"target": "small", "corruption": "frost", "severity": 4}
    chosen = load(small(raw, **changes, figures={"figure4": {"severity": 1}}), root).settings.figures
    assert chosen.figure4.model_dump() == {"target": "small", "corruption": "fog", "severity": 1}
    assert chosen.figure3.target == chosen.figure5.target == "small"


def test_a_figure_is_compared_with_the_defaults_of_the_run(raw: dict[str, Any], root: Path) -> None:
    figures = {"figure4": {"corruption": "jpeg"}, "figure5": {"corruptions": ["jpeg:5"]}}
    wrong, unknown = errors(small(raw, figures=figures), root)
    assert wrong.startswith('config.yaml: figures.figure4.corruption is "jpeg", but should be one of')
    assert unknown.startswith('config.yaml: figures.figure5.corruptions[0] is "jpeg:5", but there is no such')
    figures = {"figure4": {"corruption": "snow", "severity": 5}, "figure5": {"corruptions": ["snow:5"]}}
    (only,) = errors(small(raw, corruptions={"suite": "none"}, figures=figures), root)
    assert only.startswith('config.yaml: corruptions.suite is "none", but there is no such suite')


def load_shipped(name: str) -> Config:
    raw = yaml.safe_load((ROOT / "config" / name).read_text())
    return load(raw, ROOT, file=f"config/{name}")


def test_the_papers_run_and_the_targets_of_its_table_1() -> None:
    config = load_shipped("config.yaml")
    assert (len(config.sources), len(config.settings.selectors), len(config.settings.targets)) == (6, 3, 13)
    assert sorted(config.settings.corruptions.types) == sorted(corruptions_of("imagenet-c"))
    assert len(config.settings.corruptions.types) == 19
    assert config.settings.corruptions.severities == [1, 2, 3, 4, 5]
    batches = corruption_batches(config.settings.corruptions, config.settings.inference)
    assert list(batches) == ["blur", "digital", "noise", "photometric", "weather"]
    assert config.settings.pool.total == 4000
    assert all(source.md5 for source in config.sources.values())
    rows = published_table1().select("label", "year", "params_b").rows()
    targets = [config.models[id_] for id_ in config.settings.targets]
    assert sorted((target.label, target.year, target.parameters_b) for target in targets) == sorted(rows)
