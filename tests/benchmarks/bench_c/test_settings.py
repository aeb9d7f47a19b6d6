"""The settings of Bench-C and its shipped configurations."""

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
from tests.shared_data import write_empty_sources

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


def test_selectors_come_before_targets(raw: dict[str, Any], root: Path) -> None:
    config = load(raw, root)
    assert list(config.models) == ["small", "large"]
    assert config.settings.selection.alpha_kappa == 1.0


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            ["figures", "figure4", "target"],
            "huge",
            'config.yaml: figures.figure4.target is "huge", but should be one of targets: large, small.',
        ),
        (
            ["figures", "figure4", "corruption"],
            "frost",
            'config.yaml: figures.figure4.corruption is "frost", but should be one of '
            "corruptions.types: snow, fog, pixelate.",
        ),
        (
            ["figures", "figure4", "severity"],
            2,
            "config.yaml: figures.figure4.severity is 2, but should be one of corruptions.severities: 1, 3, "
            "5.",
        ),
        (
            ["selection", "image_encoder", "pretrained"],
            "openai",
            'config.yaml: selection.image_encoder.pretrained is "openai", but should be null where the run '
            "trains the encoder.",
        ),
        (
            ["selection", "image_encoder", "name"],
            "ViT-B-32-quickgelu",
            "config.yaml: selection.image_encoder.pretrained is null, but should name the weights of "
            "ViT-B-32-quickgelu, such as openai.",
        ),
        (
            ["selection", "image_encoder", "gpus"],
            2,
            "config.yaml: selection.image_encoder.gpus is 2, but should be less than or equal to 1.",
        ),
        (
            ["selection", "text_encoder"],
            {"name": "all-MiniLM-L6-v2", "batch": 0},
            "config.yaml: selection.text_encoder.batch is 0, but should be greater than or equal to 1.",
        ),
        (
            ["selection", "text_encoder"],
            {"name": "all-MiniLM-L6-v2", "gpu": 1},
            "config.yaml: unknown key selection.text_encoder.gpu (did you mean gpus?).",
        ),
        (
            ["demo"],
            None,
            "config.yaml: demo is missing, but needed for drawn-text, drawn-charts, small, the image "
            "encoder; see config/demo.yaml.",
        ),
        (
            ["selection", "alpha_diversity"],
            float("inf"),
            "config.yaml: selection.alpha_diversity is Infinity, but should be a finite number.",
        ),
        (
            ["diagnostics", "random_subset"],
            0,
            "config.yaml: diagnostics.random_subset is 0, but should be greater than or equal to 1 or 'all'.",
        ),
        (
            ["figures"],
            [1],
            "config.yaml: figures is [1], but should be a mapping.",
        ),
        (
            ["corruptions", "severities"],
            [5],
            "config.yaml: corruptions.severities is [5], but should have at least 2 items, not 1.",
        ),
    ],
)
def test_an_error_is_one_line(
    raw: dict[str, Any], root: Path, path: list[str], value: object, sentence: str
) -> None:
    block = raw
    for key in path[:-1]:
        block = block[key]
    block[path[-1]] = value
    assert sentence in errors(raw, root)


def test_a_prediction_of_figure_5_that_the_run_lacks_is_refused(raw: dict[str, Any], root: Path) -> None:
    raw["figures"]["figure5"]["corruptions"] = ["fog:1", "snow:4"]
    assert errors(raw, root) == (
        'config.yaml: figures.figure5.corruptions[1] is "snow:4", but there is no such corruption in this '
        "run (did you mean snow:5?).",
    )


def test_a_missing_key_is_named(raw: dict[str, Any], root: Path) -> None:
    del raw["selectors"]
    assert errors(raw, root) == ("config.yaml: selectors is missing; docs/configuration.md describes it.",)


def small(raw: dict[str, Any], **changes: object) -> dict[str, Any]:
    """Return only the keys of ``raw`` without a default, and ``changes``."""
    given = ("benchmark", "name", "catalogues", "sources", "selectors", "targets", "demo")
    return {key: raw[key] for key in given} | changes


def test_the_defaults_are_those_of_the_papers_run(raw: dict[str, Any], root: Path) -> None:
    paper = load_shipped("config.yaml").settings.model_dump()
    settings = load(small(raw), root).settings.model_dump()
    own = {"name", "catalogues", "sources", "selectors", "targets", "demo", "figures"}
    assert {key: settings[key] for key in settings if key not in own} == {
        key: paper[key] for key in paper if key not in own
    }
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


def test_an_unknown_suite_without_types_is_one_error(raw: dict[str, Any], root: Path) -> None:
    figures = {"figure4": {"corruption": "snow", "severity": 5}, "figure5": {"corruptions": ["snow:5"]}}
    (only,) = errors(small(raw, corruptions={"suite": "none"}, figures=figures), root)
    assert only.startswith('config.yaml: corruptions.suite is "none", but there is no such suite')


def test_a_trained_encoder_needs_its_key_of_the_demo(raw: dict[str, Any], root: Path) -> None:
    del raw["demo"]["image_encoder"]
    assert errors(raw, root) == (
        "config.yaml: demo.image_encoder is missing; docs/configuration.md describes it.",
    )


def load_shipped(name: str) -> Config:
    raw = yaml.safe_load((ROOT / "config" / name).read_text())
    return load(raw, ROOT, file=f"config/{name}")


def test_the_papers_run() -> None:
    config = load_shipped("config.yaml")
    assert (len(config.sources), len(config.settings.selectors), len(config.settings.targets)) == (6, 3, 13)
    assert sorted(config.settings.corruptions.types) == sorted(corruptions_of("imagenet-c"))
    assert len(config.settings.corruptions.types) == 19
    assert config.settings.corruptions.severities == [1, 2, 3, 4, 5]
    assert list(corruption_batches(config.settings.corruptions, config.settings.inference)) == [
        "blur",
        "digital",
        "noise",
        "photometric",
        "weather",
    ]
    assert config.settings.pool.total == 4000
    assert all(source.md5 for source in config.sources.values())


def test_the_gpus_of_both_encoders_count(raw: dict[str, Any], root: Path) -> None:
    assert load(raw, root).settings.encoder_gpus == 0
    raw["selection"]["text_encoder"] = {"name": "owner/large", "gpus": 1}
    assert load(raw, root).settings.encoder_gpus == 1


def test_the_targets_are_those_of_the_papers_table_1() -> None:
    rows = published_table1().select("label", "year", "params_b").rows()
    config = load_shipped("config.yaml")
    targets = [config.models[id_] for id_ in config.settings.targets]
    assert sorted((target.label, target.year, target.parameters_b) for target in targets) == sorted(rows)


def test_the_demo() -> None:
    config = load_shipped("demo.yaml")
    assert len(config.sources) == 6
    assert (len(config.settings.selectors), len(config.settings.targets)) == (3, 4)
    assert all(source.generated for source in config.sources.values())
    assert {model.scoring for model in config.models.values()} == {"letter", "text"}


def test_the_run_on_real_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHC_SHARED", write_empty_sources(tmp_path))
    config = load_shipped("real-items.yaml")
    assert len(config.sources) == 14
    assert config.settings.pool.per_task is None and config.settings.pool.total is None
