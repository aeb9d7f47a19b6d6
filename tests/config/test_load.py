"""A configuration at fault is refused with one sentence per fault; a good one comes back whole."""

import copy
from pathlib import Path
from typing import Any

import pytest

from benchc.config.load import Config, load
from tests.config.trial import CONFIG, MODELS, SOURCES, faults

pytestmark = pytest.mark.usefixtures("toy")


def test_a_good_configuration_comes_back_with_the_entries_it_uses(raw: dict[str, Any], root: Path) -> None:
    raw["sources"] = ["drawn-charts"]
    config = load(raw, root)
    assert isinstance(config, Config)
    assert list(config.sources) == ["drawn-charts"]
    assert list(config.models) == ["small", "large"]  # selectors first, each once
    assert config.settings.corruptions.severities == [1, 3, 5]
    assert config.settings.weight == 1.0
    # What was not set is left to the script's own defaults.
    assert config.models["small"].train.model_dump(exclude_unset=True) == {
        "hidden": 48,
        "vision_layers": 1,
        "text_layers": 2,
        "patch": 8,
        "steps": 3,
        "batch": 4,
        "learning_rate": 0.01,
        "seed": 1,
    }
    assert config.models["small"].train.text_share == 0.5
    assert config.models["small"].env == "transformers"
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
            ["demo", "world_sed"],
            3,
            "config.yaml: demo.world_sed is not a known key; the nearest is world_seed.",
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
            ["drawn-charts", "drawn-charts"],
            'config.yaml: sources[1] is "drawn-charts", which is in the list already; name it once.',
        ),
        (
            ["name"],
            "downloads",
            'config.yaml: name is "downloads", which is the name of a folder that runs share; choose another '
            "one.",
        ),
        (
            ["catalogues", "models"],
            "envs",
            "envs: cannot be read (Is a directory); catalogues names it, and must name a YAML file.",
        ),
        (["catalogues", "models"], "no.yaml", "no.yaml: there is no such file; catalogues names it."),
        (
            ["catalogues", "models"],
            "",
            'config.yaml: catalogues.models is "", but must name a YAML file, such as config/models.yaml.',
        ),
        (
            ["catalogues", "sources"],
            " ",
            'config.yaml: catalogues.sources is " ", but must name a YAML file, such as config/sources.yaml.',
        ),
        (
            ["demo"],
            None,
            "config.yaml: demo is missing, but must say how the run makes drawn-text, drawn-charts, small "
            "(config/demo.yaml shows it).",
        ),
        (
            ["weight"],
            float("inf"),
            "config.yaml: weight is Infinity, but must be a number of at least 0 "
            "(infinity and NaN are not allowed).",
        ),
        (["weight"], 13, "config.yaml: weight is 13, which brings bad luck; take another number."),
        (
            ["benchmark"],
            "tooy",
            'config.yaml: benchmark is "tooy", which is no benchmark; the nearest is toy.',
        ),
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


def test_the_engine_imgaug_is_refused_what_it_does_not_have(raw: dict[str, Any], root: Path) -> None:
    raw["corruptions"] |= {"engine": "imgaug", "types": ["snow", "frost_six"]}
    assert faults(raw, root) == (
        'config.yaml: corruptions.types[1] is "frost_six", which the engine imgaug does not have: it has the '
        "19 corruptions of imagenet-c; set corruptions.engine to benchc.",
    )


def test_a_severity_that_the_suite_lacks_is_refused(raw: dict[str, Any], root: Path) -> None:
    raw["corruptions"] |= {"suite": "r-bench", "types": ["jpeg"]}
    assert faults(raw, root) == (
        "config.yaml: corruptions.severities[2] is 5, but r-bench has the severities 1, 2, 3.",
    )


def test_what_the_benchmark_trains_needs_the_demo_block(raw: dict[str, Any], root: Path) -> None:
    raw |= {"weight": 7, "demo": None}
    assert "makes drawn-text, drawn-charts, small, a weight (config" in faults(raw, root)[0]


def test_a_missing_key_is_named_with_what_it_allows(raw: dict[str, Any], root: Path) -> None:
    del raw["corruptions"]["engine"]
    assert faults(raw, root) == ("config.yaml: corruptions.engine is missing; it must be benchc or imgaug.",)


@pytest.mark.parametrize(
    ("benchmark", "fault"), [(None, "is missing; it must be "), (3, "is 3, but must be ")]
)
def test_without_a_benchmark_there_is_one_fault(
    raw: dict[str, Any], root: Path, benchmark: object, fault: str
) -> None:
    raw |= {"benchmark": benchmark, "seed": "x"}
    (only,) = faults(raw, root)
    assert only.startswith(f"config.yaml: benchmark {fault}") and only.endswith("toy.")


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
        'models.yaml: bad.scoring is "word", but must be letter, text or text_mean.',
        'config.yaml: targets[2] is "tiny", which is no id in models.yaml; there are small, large, bad.',
    )


def test_loading_changes_nothing_in_what_it_was_given(raw: dict[str, Any], root: Path) -> None:
    before = copy.deepcopy(raw)
    load(raw, root)
    assert raw == before


def test_a_key_that_stands_twice_in_the_main_file_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "config.yaml").write_text(CONFIG)
    load(raw, root, file="config.yaml")
    (root / "config.yaml").write_text(CONFIG + "seed: 2\n")
    assert faults(raw, root) == ("config.yaml: seed stands twice, in lines 4 and 16.",)
