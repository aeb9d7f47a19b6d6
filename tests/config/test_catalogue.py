"""A catalogue at fault, or an entry that does not go with the run, is refused with one sentence per fault."""

from pathlib import Path
from typing import Any

import pytest

from benchc.config.load import load
from tests.config.trial import MODELS, SOURCES, faults

pytestmark = pytest.mark.usefixtures("toy")

TRAIN = (
    "hidden: 48, vision_layers: 1, text_layers: 2, patch: 8, steps: 3, batch: 4, learning_rate: 0.01, seed: 1"
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
            f"{{label: X, family: llava, scoring: text, train: {{{TRAIN}, stesp: 600}}}}",
            "models.yaml: x.train.stesp is not a known key; the nearest is steps.",
        ),
        (
            f"{{label: X, family: llava, scoring: text, train: {{{TRAIN}, text_share: 1.5}}}}",
            "models.yaml: x.train.text_share is 1.5, but must be a number from 0 to 1.",
        ),
        (
            f"{{label: X, family: llava, scoring: text, train: {{{TRAIN.replace('48', '50')}}}}}",
            "models.yaml: x.train.hidden is 50, but must be a whole number of at least 24, a multiple of 24.",
        ),
        (
            f"{{label: X, family: llava, scoring: text, train: {{{TRAIN.replace('patch: 8', 'patch: 5')}}}}}",
            "models.yaml: x.train.patch is 5, but must be 1, 2, 3, 4, 6, 8, 12 or 24.",
        ),
        (
            f"{{label: X, family: ovis2, scoring: text, train: {{{TRAIN}}}}}",
            "models.yaml: x has a train with the family ovis2, but a run trains only llava, internvl, "
            "idefics3.",
        ),
        (
            "{label: X, family: llava, scoring: text, repo: a/b, parameters_b: .inf}",
            "models.yaml: x.parameters_b is Infinity, but must be a number above 0 or null (infinity and NaN "
            "are not allowed).",
        ),
        (
            "{label: X, family: llava, scoring: text, repo: a/b, processor: {scale: .nan}}",
            "models.yaml: x.processor.scale is NaN, but must be true or false, a whole number, a number or "
            "text (infinity and NaN are not allowed).",
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
    assert faults(raw, root)[0] == "models.yaml: small stands twice, in lines 2 and 9."


def test_a_file_that_is_not_yaml_is_refused_with_the_line(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text("a: {b: c\nd: e")
    assert faults(raw, root)[0].startswith("models.yaml: line 2 is not YAML")


def test_paths_expand_variables_and_a_missing_file_names_them(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        "drawn-text: {label: A, path: '${BENCHC_SHARED}/a.tsv', task_column: category}\n"
    )
    raw["sources"] = ["drawn-text"]
    (root / "data").mkdir()
    (root / "data" / "a.tsv").touch()
    config = load(raw, root, environment={"BENCHC_SHARED": "data"})
    assert config.sources["drawn-text"].path == "data/a.tsv"
    assert faults(raw, root, BENCHC_SHARED="elsewhere") == (
        'sources.yaml: drawn-text.path is "${BENCHC_SHARED}/a.tsv", and there is no elsewhere/a.tsv; '
        "set the environment "
        "variable BENCHC_SHARED to move it.",
    )
    assert "there is no ../shared/a.tsv" in faults(raw, root)[0]


def test_an_unset_variable_is_named(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        "drawn-text: {label: A, path: '${DATA}/a.tsv', task_column: category}\n"
    )
    raw["sources"] = ["drawn-text"]
    assert "the environment variable DATA is not set" in faults(raw, root)[0]


def test_two_models_of_a_run_with_one_label_are_refused(raw: dict[str, Any], root: Path) -> None:
    third = "third: {label: Small, family: llava, scoring: text, repo: a/b}\n"
    (root / "models.yaml").write_text(MODELS + third)
    load(raw, root)  # a model that the run does not use is no matter
    raw["selectors"] = ["small", "third"]
    assert faults(raw, root) == (
        'models.yaml: third.label is "Small", and so is small.label; figures and tables of a run that uses '
        "both need two labels.",
    )


def test_two_sources_with_one_label_are_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(SOURCES.replace("label: B", "label: A"))
    assert faults(raw, root) == (
        'sources.yaml: drawn-charts.label is "A", and so is drawn-text.label; figures and tables of a run '
        "that uses both need two labels.",
    )


def test_a_drawn_source_that_cannot_be_drawn_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "sources.yaml").write_text(
        SOURCES + "drawn-shape: {label: C, drawn: {groups: 3}, task_column: category}\n"
    )
    assert faults(raw, root) == (
        "sources.yaml: drawn-shape has drawn, but a run can draw no source of this id; the nearest is "
        "drawn-shapes.",
    )


def test_an_environment_without_a_file_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "models.yaml").write_text(MODELS.replace('revision: "1"', 'revision: "1", env: transformer'))
    assert faults(raw, root) == (
        'models.yaml: large.env is "transformer", which is no file in envs; the nearest is transformers.',
    )
    (root / "models.yaml").write_text(MODELS.replace('revision: "1"', 'revision: "1", env: null'))
    assert load(raw, root).models["large"].env is None


@pytest.mark.parametrize("content", [b"a: \xff", b"a: \x00"])
def test_a_catalogue_of_other_bytes_than_text_is_refused(
    raw: dict[str, Any], root: Path, content: bytes
) -> None:
    (root / "models.yaml").write_bytes(content)
    assert faults(raw, root)[0].startswith("models.yaml: the whole is not YAML in UTF-8 (")


def test_a_path_of_the_wrong_kind_is_refused(raw: dict[str, Any], root: Path) -> None:
    (root / "model").touch()
    (root / "models.yaml").write_text(MODELS.replace('repo: owner/large, revision: "1"', "path: model"))
    (root / "sources.yaml").write_text(SOURCES + "table: {label: T, path: envs, task_column: category}\n")
    raw["sources"] = ["table", "drawn-text"]
    assert faults(raw, root) == (
        'sources.yaml: table.path is "envs", and envs is a folder, but must be a TSV file.',
        'models.yaml: large.path is "model", and model is a file, but must be a folder of the Hub\'s form.',
    )


@pytest.mark.parametrize("scoring", ["letter", "text", "text_mean"])
def test_every_scoring_may_be_named(raw: dict[str, Any], root: Path, scoring: str) -> None:
    (root / "models.yaml").write_text(MODELS.replace("scoring: text", f"scoring: {scoring}"))
    assert load(raw, root).models["small"].scoring == scoring
