"""An invalid configuration is refused with one line per error; a valid one is returned complete."""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from benchc.config.corruption_batches import corruption_batches
from benchc.config.errors import ConfigError, validation_errors
from benchc.config.load import Config, load, read_config
from benchc.config.resolved import resolved
from benchc.config.strict import Strict
from benchc.corruptions.registry import SUITES, corruptions_of
from benchc.errors import InputError
from tests.config.trial import CONFIG, MODELS, SOURCES, errors, rows_of
from tests.corruptions.own_files import written

pytestmark = pytest.mark.usefixtures("toy")


def test_a_valid_configuration_is_returned_with_the_entries_it_uses(raw: dict[str, Any], root: Path) -> None:
    raw["sources"] = ["drawn-charts"]
    config = load(raw, root)
    assert isinstance(config, Config)
    assert list(config.sources) == ["drawn-charts"]
    assert list(config.models) == ["small", "large"]  # selectors first, each once
    assert config.settings.corruptions.severities == [1, 3, 5]
    assert config.settings.weight == 1.0
    # Unset keys are left to the script's defaults.
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


INVALID = """
pool.per_task: 0
    config.yaml: pool.per_task is 0, but should be greater than or equal to 1.
pool.per_task: 1000000000
    config.yaml: pool.per_task is 1000000000, but should be less than or equal to 10000000.
pool.total: 0
    config.yaml: pool.total is 0, but should be greater than or equal to 1.
pool.total: 10000001
    config.yaml: pool.total is 10000001, but should be less than or equal to 10000000.
results_page: {"corruptions": ["fog", "frost"]}
    config.yaml: results_page.corruptions[1] is "frost", but corruptions.types has snow, fog, pixelate.
seed: -1
    config.yaml: seed is -1, but should be greater than or equal to 0.
inference.workers: -1
    config.yaml: inference.workers is -1, but should be greater than or equal to 0.
inference.workers: 257
    config.yaml: inference.workers is 257, but should be less than or equal to 256.
results_page: {samples: 0}
    config.yaml: results_page.samples is 0, but should be greater than or equal to 1.
results_page: {samples: 100001}
    config.yaml: results_page.samples is 100001, but should be less than or equal to 100000.
results_page: {longest_side: 31}
    config.yaml: results_page.longest_side is 31, but should be greater than or equal to 32.
results_page: {longest_side: 2001}
    config.yaml: results_page.longest_side is 2001, but should be less than or equal to 2000.
pool.per_task: "16"
    config.yaml: pool.per_task is "16", but should be a valid integer (YAML reads it as text: write no
    quotes, and 1.0e-3 instead of 1e-3).
pool.per_tsk: 3
    config.yaml: unknown key pool.per_tsk (did you mean per_task?).
demo.sed: 3
    config.yaml: unknown key demo.sed (did you mean seed?).
selecters: []
    config.yaml: unknown key selecters (did you mean selectors?).
name: "My run"
    config.yaml: name is "My run", but should be lower-case letters, digits and dashes.
name: "Größe"
    config.yaml: name is "Größe", but should be lower-case letters, digits and dashes.
name: 7
    config.yaml: name is 7, but should be a valid string (put it in quotes).
inference.corruptions_per_job: "every"
    config.yaml: inference.corruptions_per_job is "every", but should be 'all', 'group' or 'one'.
seed: true
    config.yaml: seed is true, but should be a valid integer.
corruptions.severities: [1, 3, 5, 6]
    config.yaml: corruptions.severities[3] is 6, but should be less than or equal to 5.
corruptions.severities: [0, 1]
    config.yaml: corruptions.severities[0] is 0, but should be greater than or equal to 1.
corruptions.severities: [3, 3, 5]
    config.yaml: corruptions.severities is [3, 3, 5], but should be ascending without repetition: [3, 5].
corruptions.severities: [5, 3, 3]
    config.yaml: corruptions.severities is [5, 3, 3], but should be ascending without repetition: [3, 5].
corruptions.types: ["snow", "defocus_blurr"]
    config.yaml: corruptions.types[1] is "defocus_blurr", but there is no such corruption in imagenet-c
    (did you mean defocus_blur?); one of your own needs corruptions.own_files.
corruptions.own_files: ["a\\0.py"]
    config.yaml: corruptions.own_files[0] is "a\\u0000.py", but should be a path without braces, angle
    brackets and control characters.
corruptions.types: ["snow", "fog", "snow"]
    config.yaml: corruptions.types has snow more than once; name each once.
corruptions.suite: "imagenet"
    config.yaml: corruptions.suite is "imagenet", but there is no such suite (did you mean imagenet-c?).
selectors: ["smal"]
    config.yaml: selectors[0] is "smal", but there is no such id in models.yaml (did you mean small?).
sources: ["drawn-charts", "drawn-charts"]
    config.yaml: sources has drawn-charts more than once; name each once.
name: "downloads"
    config.yaml: name is downloads, which is a folder that runs share; choose another name.
name: "generated"
    config.yaml: name is generated, which is a folder that runs share; choose another name.
catalogues.models: "envs"
    envs: cannot be read (Is a directory); name a YAML file in catalogues.models.
catalogues.models: "a\\0"
    a\0: cannot be read (embedded null byte); name a YAML file in catalogues.models.
catalogues.models: ""
    config.yaml: catalogues.models is "", but should name a YAML file, such as config/models.yaml.
catalogues.sources: " "
    config.yaml: catalogues.sources is " ", but should name a YAML file, such as config/sources.yaml.
demo.training_set: {items_per_category: 2, 1: 2}
    config.yaml: key 1 in demo.training_set should be text (put it in quotes).
demo: {seed: 1, training_set: {items_per_category: 2}, 1: 2}
    config.yaml: key 1 in demo should be text (put it in quotes).
demo: null
    config.yaml: demo is missing, but needed for drawn-text, drawn-charts, small; see config/demo.yaml.
weight: .inf
    config.yaml: weight is Infinity, but should be a finite number.
weight: 13
    config.yaml: weight is 13, which brings bad luck; take another number.
benchmark: "tooy"
    config.yaml: benchmark is "tooy", but there is no such benchmark (did you mean toy?).
"""


@pytest.mark.parametrize(("setting", "sentence"), rows_of(INVALID))
def test_an_error_is_one_line(raw: dict[str, Any], root: Path, setting: str, sentence: str) -> None:
    key, _, value = setting.partition(": ")
    *outer, last = key.split(".")
    block = raw
    for name in outer:
        block = block[name]
    block[last] = yaml.safe_load(value)
    assert sentence in errors(raw, root)
    if key not in ("corruptions.types", "selecters"):
        assert len(errors(raw, root)) == 1


def test_the_error_of_a_missing_catalogue_names_the_folder(raw: dict[str, Any], root: Path) -> None:
    raw["catalogues"]["models"] = "no.yaml"
    assert errors(raw, root) == (
        "no.yaml: cannot be read (No such file or directory); run it in the folder to which the path is "
        f"relative (now: {root}), or name a YAML file in catalogues.models.",
    )


@pytest.mark.parametrize(("content", "is_shown"), [("[1]", "[1]"), ("", "null")])
def test_a_catalogue_that_is_no_mapping_is_one_error(
    raw: dict[str, Any], root: Path, content: str, is_shown: str
) -> None:
    (root / "models.yaml").write_text(content)
    assert errors(raw, root) == (
        f"models.yaml: the content is {is_shown}, but should be a mapping of ids to entries.",
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read (No such file or directory)"),
        ("a: ]", "line 1 is not YAML ("),
        ("[1]", "not a mapping of keys to values"),
    ],
)
def test_a_file_that_is_no_configuration_is_one_error(
    tmp_path: Path, content: str | None, reason: str
) -> None:
    path = tmp_path / "mine.yaml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_config(path)
    assert str(caught.value).startswith(f"{path}: {reason}")
    assert str(caught.value).endswith("; see config/config.yaml for an example")


def test_models_on_the_benchmark_of_a_finished_run_are_those_of_both_catalogues(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "data.tsv").touch()
    (root / "old").mkdir()
    models = MODELS.replace('repo: owner/large, revision: "1"', "path: old")
    (root / "models.yaml").write_text(models)
    (root / "sources.yaml").write_text("s: {label: S, path: data.tsv, task_column: category}\n")
    for path, text in resolved(load(raw | {"sources": ["s"]}, root), "results/trial", root).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    # What the finished run read need not be here, and its models are as they were.
    (root / "data.tsv").unlink()
    (root / "old").rmdir()
    (root / "model").mkdir()
    third = "third: {label: Third, family: llava, scoring: letter, path: '${HERE}/model', gpus: 2}\n"
    (root / "models.yaml").write_text(models.replace("label: Large", "label: Changed") + third)
    new = {"name": "new", "catalogues": {"models": "models.yaml"}}
    new["evaluate"] = {"benchmark": "results/trial", "models": ["third"]}
    config = load(new, root, environment={"HERE": "."})
    assert config.settings.targets == ["large", "small", "third"] and config.settings.name == "new"
    assert {id_: model.label for id_, model in config.models.items()} == {
        "small": "Small",
        "large": "Large",
        "third": "Third",
    }
    assert {id_: model.path for id_, model in config.asked.items()} == {"third": "./model"}
    assert (config.most_gpus, config.sources["s"].path) == (2, "data.tsv")
    # Nothing is embedded again, so that the GPUs of an encoder do not count.
    monkeypatch.setattr(type(config.settings), "encoder_gpus", 3)
    assert (config.most_gpus, replace(config, finished=None).most_gpus) == (2, 3)
    on_cpu = {"third": config.models["third"].model_copy(update={"gpus": 0})}
    assert replace(config, models=on_cpu).most_gpus == replace(config, models={}).most_gpus == 0


def test_a_corruption_that_imgaug_lacks_is_refused(raw: dict[str, Any], root: Path) -> None:
    raw["corruptions"] |= {"engine": "imgaug", "types": ["snow", "frost_six"]}
    assert errors(raw, root) == (
        "config.yaml: corruptions.types[1] is \"frost_six\", but engine 'imgaug' has only the 19 corruptions "
        "of imagenet-c, not 'frost_six' of 'imagenet-c'; use engine 'benchc'.",
    )


OWN = """
@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})
def darken(image, *, strength):
    return np.rint(image * (1 - strength)).astype(np.uint8)
"""


def test_types_may_name_corruptions_of_own_files(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    raw["corruptions"] |= {"own_files": [Path(written(root, OWN)).name], "types": ["fog", "darken"]}
    raw["inference"]["corruptions_per_job"] = "group"
    settings = load(raw, root).settings
    expected = {"own": ["clean", "darken"], "weather": ["fog"]}
    assert corruption_batches(settings.corruptions, settings.inference) == expected
    raw["corruptions"]["types"] = ["fog", "darkn"]
    assert errors(raw, root) == (
        'config.yaml: corruptions.types[1] is "darkn", but there is no such corruption in imagenet-c '
        "(did you mean darken?).",
    )
    raw["corruptions"] |= {"types": ["darken"], "engine": "imgaug"}
    (line,) = errors(raw, root)
    assert line.startswith("config.yaml: corruptions.types[0] is \"darken\", but engine 'imgaug' has only")


@pytest.mark.parametrize("types", [None, ["fog", "snow"]])
def test_an_own_file_without_a_corruption_in_types_is_an_error(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch, types: list[str] | None
) -> None:
    monkeypatch.chdir(root)
    raw["corruptions"] |= {"own_files": [Path(written(root, OWN)).name], "types": types}
    if types is None:
        del raw["corruptions"]["types"]
    line = errors(raw, root)[0]
    assert line.startswith(
        "config.yaml: corruptions.own_files has mine.py, but corruptions.types has none of"
    )
    assert "(darken)" in line


def test_an_own_file_that_cannot_be_used_is_one_error(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    raw["corruptions"] |= {"own_files": ["gone.py"], "types": ["fog", "darken"]}
    assert errors(raw, root) == (
        "config.yaml: corruptions.own_files: gone.py: there is no such Python file; correct the path, or "
        "create it.",
    )


def test_a_severity_that_the_suite_lacks_is_refused(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw["corruptions"] |= {"suite": "r-bench", "types": ["jpeg"], "severities": [3, 4, 5]}
    assert errors(raw, root) == (
        "config.yaml: corruptions.severities[1] is 4, but r-bench has the severities 1, 2, 3.",
        "config.yaml: corruptions.severities[2] is 5, but r-bench has the severities 1, 2, 3.",
    )
    harder = replace(SUITES["r-bench"], severities=(4, 5, 6))
    monkeypatch.setattr("benchc.config.load.suite_with", lambda *_: harder)
    raw["corruptions"] = {"suite": "r-bench", "severities": [1, 2, 3, 4]}
    assert [error.partition(", but")[0] for error in errors(raw, root)] == [
        f"config.yaml: corruptions.severities[{place}] is {place + 1}" for place in range(3)
    ]


def test_training_needs_the_demo_block(raw: dict[str, Any], root: Path) -> None:
    raw |= {"weight": 7, "demo": None}
    assert "needed for drawn-text, drawn-charts, small, a weight; see" in errors(raw, root)[0]


def test_only_of_a_text_the_advice_is_to_quote_it() -> None:
    class Two(Strict):
        at: tuple[int, int]

    with pytest.raises(ValidationError) as caught:
        Two.model_validate({"at": 5})
    (line,) = validation_errors(caught.value, Two, {"at": 5}, "x.yaml")
    assert line == "x.yaml: at is 5, but should be a valid tuple."


def test_a_missing_key_is_named(raw: dict[str, Any], root: Path) -> None:
    del raw["targets"]
    assert errors(raw, root) == ("config.yaml: targets is missing; docs/configuration.md describes it.",)


def test_a_key_that_is_no_text_is_named(raw: dict[str, Any], root: Path) -> None:
    found = errors({**raw, 1: 2}, root)
    assert found == ("config.yaml: key 1 should be text (put it in quotes).",)


def test_keys_that_are_not_given_have_the_defaults_of_the_suite(raw: dict[str, Any], root: Path) -> None:
    given = {"benchmark", "name", "sources", "selectors", "targets", "weight", "demo"}
    small = {key: value for key, value in raw.items() if key in given}
    (root / "config").mkdir()
    for kind in ("sources", "models"):
        (root / f"{kind}.yaml").rename(root / f"config/{kind}.yaml")
    settings = load(small, root).settings
    assert settings.corruptions.types == list(corruptions_of("imagenet-c"))
    assert settings.corruptions.severities == [1, 2, 3, 4, 5]
    assert settings.catalogues.models == "config/models.yaml"
    # Another seed or pool is another benchmark.
    assert (settings.seed, settings.pool.per_task, settings.pool.total) == (20251119, 200, 4000)
    assert (settings.inference.workers, settings.inference.corruptions_per_job) == (8, "group")
    assert (settings.results_page.samples, settings.results_page.longest_side) == (1000, 480)
    small["corruptions"] = {"suite": "r-bench"}
    chosen = load(small, root).settings.corruptions
    assert (chosen.types, chosen.severities) == (list(corruptions_of("r-bench")), [1, 2, 3])
    small["corruptions"] |= {"types": ["jpeg"], "engine": "benchc"}
    assert load(small, root).settings.corruptions.types == ["jpeg"]


def test_an_engine_that_lacks_the_suite_is_refused(raw: dict[str, Any], root: Path) -> None:
    raw["corruptions"] = {"suite": "r-bench", "engine": "imgaug"}
    (only,) = errors(raw, root)
    assert only.startswith(
        "config.yaml: corruptions.engine is \"imgaug\", but engine 'imgaug' has only the 19"
    )
    raw["corruptions"]["types"] = ["jpeg"]
    (only,) = errors(raw, root)
    assert only.startswith("config.yaml: corruptions.types[0] is \"jpeg\", but engine 'imgaug' has only")
    raw["corruptions"] = {"suite": "imagenet-c", "engine": "imgaug"}
    assert load(raw, root).settings.corruptions.engine == "imgaug"


def test_an_unknown_suite_without_types_is_one_error(raw: dict[str, Any], root: Path) -> None:
    raw["corruptions"] = {"suite": "none"}
    (only,) = errors(raw, root)
    assert only.startswith('config.yaml: corruptions.suite is "none", but there is no such suite')
    # What depends on the suite is no error of its own, and other keys are checked.
    raw["corruptions"] = {"suite": 3, "severities": [9]}
    assert errors(raw, root) == (
        "config.yaml: corruptions.suite is 3, but should be a valid string (put it in quotes).",
        "config.yaml: corruptions.severities[0] is 9, but should be less than or equal to 5.",
    )


@pytest.mark.parametrize(
    ("benchmark", "error"), [(None, "is missing; it should be "), (3, "is 3, but there is no such benchmark")]
)
def test_without_a_benchmark_there_is_one_error(
    raw: dict[str, Any], root: Path, benchmark: object, error: str
) -> None:
    raw |= {"benchmark": benchmark, "seed": "x"}
    (only,) = errors(raw, root)
    assert only.startswith(f"config.yaml: benchmark {error}") and only.endswith("toy.")


def test_all_errors_of_all_files_are_reported_together(raw: dict[str, Any], root: Path) -> None:
    raw["seed"] = "x"
    raw["targets"] = ["large", "small", "tiny"]
    models = MODELS.replace("label: Large", "label: Thirteen")
    (root / "models.yaml").write_text(models + "bad: {label: Bad, family: llava, scoring: word, repo: a/b}\n")
    (root / "sources.yaml").write_text(
        SOURCES + "both: {label: B, url: 'http://x/y', path: z, task_column: category}\n"
    )
    assert errors(raw, root) == (
        'config.yaml: seed is "x", but should be a valid integer.',
        "sources.yaml: both needs exactly one of url, path, generated, convert, but has url and path.",
        "models.yaml: bad.scoring is \"word\", but should be 'letter', 'text', 'text_mean', "
        "'text_vqascore', 'generate' or 'classify'.",
        'config.yaml: targets[2] is "tiny", but there is no such id in models.yaml; '
        "there are small, large, bad.",
        "config.yaml: targets has large, whose label in models.yaml brings bad luck.",
    )


def test_loading_does_not_change_its_argument(raw: dict[str, Any], root: Path) -> None:
    before = copy.deepcopy(raw)
    config = load(raw, root)
    assert raw == before
    # Its name in messages need not be one that a file can have.
    assert load(raw, root, file="\0") == config
    with pytest.raises(ValidationError, match="frozen"):
        config.settings.seed = 2


def test_a_repeated_key_in_the_main_file_is_refused(
    raw: dict[str, Any], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "config.yaml").write_text(CONFIG)
    config = load(raw, root, file="config.yaml")
    monkeypatch.chdir(root)
    assert read_config(Path("config.yaml")) == config
    (root / "config.yaml").write_text(CONFIG + "seed: 2\n")
    assert errors(raw, root) == ("config.yaml: seed is given twice, in lines 4 and 16.",)


def test_each_of_several_files_is_read_again(raw: dict[str, Any], root: Path) -> None:
    """Snakemake merges them, by YAML 1.1 and with the last of the values that a key has."""
    (root / "config.yaml").write_text(CONFIG)
    (root / "more.yml").write_text("seed: 1:30\n")
    with pytest.raises(ConfigError) as caught:
        load({**raw, "seed": 90}, root, file="config.yaml more.yml", merged=["config.yaml", "more.yml"])
    assert [error.partition(" in YAML")[0] for error in caught.value.errors] == [
        "more.yml: line 1: 1:30 is 90"
    ]
