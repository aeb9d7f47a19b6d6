"""A configuration at fault is refused with one sentence per fault; a good one comes back whole."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.config.faults import ConfigError
from benchc.config.load import Config, load
from tests.config.trial import CONFIG, MODELS, SOURCES


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text(SOURCES)
    (tmp_path / "models.yaml").write_text(MODELS)
    return tmp_path


def faults(raw: dict[str, Any], root: Path, **environment: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load(raw, root, file="config.yaml", environment=environment)
    return caught.value.faults


def test_a_good_configuration_comes_back_with_the_entries_it_uses(raw: dict[str, Any], root: Path) -> None:
    raw["sources"] = ["drawn-b"]
    config = load(raw, root)
    assert isinstance(config, Config)
    assert list(config.sources) == ["drawn-b"]
    assert list(config.models) == ["small", "large"]  # selectors first, each once
    assert config.settings.corruptions.severities == [1, 3, 5]
    assert config.settings.selection.alpha_kappa == 1.0
    assert config.models["small"].train == {"steps": 3}
    assert config.models["large"].revision == "1"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (
            ["pool", "per_task"],
            0,
            "config.yaml: pool.per_task is 0, but must be a whole number of at least 1 or null.",
        ),
        (
            ["pool", "per_task"],
            "16",
            'config.yaml: pool.per_task is "16", but must be a whole number of at least 1 or null '
            "(YAML reads "
            "this as text: no quotes, and 1.0e-3 instead of 1e-3).",
        ),
        (
            ["pool", "per_tsk"],
            3,
            "config.yaml: pool.per_tsk is not a known key; the nearest is per_task.",
        ),
        (
            ["selecters"],
            [],
            "config.yaml: selecters is not a known key; the nearest is selectors.",
        ),
        (
            ["name"],
            "My run",
            'config.yaml: name is "My run", but must be lower-case letters, digits and dashes.',
        ),
        (
            ["name"],
            7,
            "config.yaml: name is 7, but must be lower-case letters, digits and dashes (put it in quotes).",
        ),
        (
            ["inference", "batch"],
            "every",
            'config.yaml: inference.batch is "every", but must be all, family or corruption.',
        ),
        (["seed"], True, "config.yaml: seed is true, but must be a whole number of at least 0."),
        (
            ["corruptions", "severities"],
            [1, 3, 5, 6],
            "config.yaml: corruptions.severities[3] is 6, but must be a whole number from 1 to 5.",
        ),
        (
            ["corruptions", "severities"],
            [5, 3, 3],
            "config.yaml: corruptions.severities is [5, 3, 3], but must be ascending without "
            "repetition: [3, 5].",
        ),
        (
            ["corruptions", "types"],
            ["snow", "defocus_blurr"],
            'config.yaml: corruptions.types[1] is "defocus_blurr", which is no corruption of '
            "imagenet-c; the "
            "nearest is defocus_blur.",
        ),
        (
            ["corruptions", "types"],
            ["snow", "fog", "snow"],
            'config.yaml: corruptions.types[2] is "snow", which is in the list already; name it once.',
        ),
        (
            ["corruptions", "suite"],
            "imagenet",
            'config.yaml: corruptions.suite is "imagenet", which is no suite; the nearest is imagenet-c.',
        ),
        (
            ["selectors"],
            ["smal"],
            'config.yaml: selectors[0] is "smal", which is no id in models.yaml; the nearest is small.',
        ),
        (
            ["sources"],
            ["drawn-b", "drawn-b"],
            'config.yaml: sources[1] is "drawn-b", which is in the list already; name it once.',
        ),
        (
            ["figures", "figure4", "target"],
            "huge",
            'config.yaml: figures.figure4.target is "huge", but must be one of targets: large, small.',
        ),
        (
            ["figures", "figure4", "corruption"],
            "frost",
            'config.yaml: figures.figure4.corruption is "frost", but must be one of '
            "corruptions.types: snow, fog, pixelate.",
        ),
        (
            ["figures", "figure4", "severity"],
            2,
            "config.yaml: figures.figure4.severity is 2, but must be one of corruptions.severities: 1, 3, 5.",
        ),
        (
            ["selection", "image_encoder", "pretrained"],
            "openai",
            'config.yaml: selection.image_encoder.pretrained is "openai", but must be null where '
            "the encoder is trained by "
            "the run.",
        ),
        (
            ["selection", "image_encoder", "name"],
            "ViT-B-32-quickgelu",
            "config.yaml: selection.image_encoder.pretrained is null, but must name the weights of "
            "ViT-B-32-quickgelu, such as openai.",
        ),
        (
            ["demo"],
            None,
            "config.yaml: demo is missing, but must say how the run makes drawn-a, drawn-b, small, "
            "the image encoder "
            "(config/demo.yaml shows it).",
        ),
        (["catalogues", "models"], "no.yaml", "no.yaml: there is no such file; catalogues names it."),
    ],
)
def test_a_fault_is_one_sentence(
    raw: dict[str, Any], root: Path, path: list[str], value: object, sentence: str
) -> None:
    block = raw
    for key in path[:-1]:
        block = block[key]
    block[path[-1]] = value
    assert sentence in faults(raw, root)
    if path != ["corruptions", "types"] and path != ["selecters"]:
        assert len(faults(raw, root)) == 1


def test_a_missing_key_is_named_with_what_it_allows(raw: dict[str, Any], root: Path) -> None:
    del raw["selection"]["score"]
    assert faults(raw, root) == (
        "config.yaml: selection.score is missing; it must be at_pick or final_centroid.",
    )


def test_all_faults_come_at_once_and_in_all_files(raw: dict[str, Any], root: Path) -> None:
    raw["seed"] = "x"
    raw["targets"] = ["large", "small", "tiny"]
    (root / "models.yaml").write_text(MODELS + "bad: {label: Bad, family: llava, scoring: word, repo: a/b}\n")
    (root / "sources.yaml").write_text(
        SOURCES + "both: {label: B, url: 'http://x/y', path: z, task_column: category}\n"
    )
    assert faults(raw, root) == (
        'config.yaml: seed is "x", but must be a whole number of at least 0.',
        "sources.yaml: both needs exactly one of url, path, drawn, and has url and path.",
        'models.yaml: bad.scoring is "word", but must be letter or text.',
        'config.yaml: targets[2] is "tiny", which is no id in models.yaml; there are small, large, bad.',
    )


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (
            "{label: X, family: llava, scoring: text}",
            "models.yaml: x needs exactly one of repo, path, train, and has none of them.",
        ),
        (
            "{label: X, family: llava, scoring: text, path: a, revision: b}",
            "models.yaml: x has a revision without a repo, but only a repo has revisions.",
        ),
        (
            "{label: X, family: llava, scoring: text, repo: a/b, revision: 2025-01-09}",
            "models.yaml: x.revision is 2025-01-09, but must be text or null (put it in quotes).",
        ),
        (
            "{label: X, family: llava, scoring: text, train: {steps: [1, 2]}}",
            "models.yaml: x.train.steps is [1, 2], but must be true or false, a whole number, a "
            "number or text.",
        ),
        (
            "{label: X, family: llava, scoring: text, repo: b}",
            'models.yaml: x.repo is "b", but must be a Hub id, owner/name or null.',
        ),
    ],
)
def test_a_catalogue_entry_at_fault(raw: dict[str, Any], root: Path, entry: str, sentence: str) -> None:
    (root / "models.yaml").write_text(MODELS + f"x: {entry}\n")
    assert faults(raw, root) == (sentence,)


def test_an_id_of_another_form_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text(
        MODELS + "My Model: {label: X, family: llava, scoring: text, repo: a/b}\n"
    )
    assert faults(raw, root) == (
        'models.yaml: the id "My Model" is not of the allowed form: lower-case letters, digits, '
        "dots and dashes.",
    )


def test_an_entry_that_stands_twice_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text(MODELS + "small: {label: X, family: llava, scoring: text, repo: a/b}\n")
    assert faults(raw, root)[0] == "models.yaml: small stands twice, in lines 2 and 4."


def test_a_file_that_is_not_yaml_is_refused_with_the_line(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text("a: {b: c\nd: e")
    assert faults(raw, root)[0].startswith("models.yaml: line 2 is not YAML")


def test_paths_expand_variables_and_a_missing_file_names_them(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        "drawn-a: {label: A, path: '${BENCHC_SHARED}/a.tsv', task_column: category}\n"
    )
    raw["sources"] = ["drawn-a"]
    (root / "data").mkdir()
    (root / "data" / "a.tsv").touch()
    config = load(raw, root, environment={"BENCHC_SHARED": "data"})
    assert config.sources["drawn-a"].path == "data/a.tsv"
    assert faults(raw, root, BENCHC_SHARED="elsewhere") == (
        'sources.yaml: drawn-a.path is "${BENCHC_SHARED}/a.tsv", and there is no elsewhere/a.tsv; '
        "set the environment "
        "variable BENCHC_SHARED to move it.",
    )
    assert "there is no ../shared/a.tsv" in faults(raw, root)[0]


def test_an_unset_variable_is_named(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text("drawn-a: {label: A, path: '${DATA}/a.tsv', task_column: category}\n")
    raw["sources"] = ["drawn-a"]
    assert "the environment variable DATA is not set" in faults(raw, root)[0]


def test_loading_changes_nothing_in_what_it_was_given(raw: dict[str, Any], root: Path) -> None:
    before = copy.deepcopy(raw)
    load(raw, root)
    assert raw == before
