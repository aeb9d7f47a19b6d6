"""The catalogue of a run that evaluates models on a finished benchmark."""

from pathlib import Path
from typing import Any

import pytest

from benchc.config.evaluation import FinishedRun

ENTRY = {"label": "A", "path": "models/a"}


def merged(own: dict[str, Any], recorded: dict[str, Any], new: list[str]) -> tuple[dict[str, Any], list[str]]:
    run = FinishedRun("results/x", {}, recorded, ["old"], new)
    errors: list[str] = []
    return run.catalogue(own, "own.yaml", "run.yaml", Path("/root"), errors), errors


def test_new_models_have_their_own_entry_and_all_others_that_of_the_run() -> None:
    own = {"old": ENTRY | {"label": "Mine"}, "a": ENTRY | {"label": "New"}, "b": ENTRY, "other": ENTRY}
    recorded = {"old": ENTRY | {"label": "Old"}, "a": ENTRY, "c": ENTRY}
    found, errors = merged(own, recorded, ["a", "b"])
    assert {id_: entry["label"] for id_, entry in found.items()} == {
        "old": "Old",
        "a": "New",
        "b": "A",
        "other": "A",
        "c": "A",
    }
    assert errors == []


def test_a_model_that_the_run_has_evaluated_is_refused() -> None:
    assert merged({"old": ENTRY}, {"old": ENTRY}, ["b", "old"])[1] == [
        'run.yaml: evaluate.models[1] is "old", but results/x has evaluated this model already; see its '
        "tables, or give the new model another id."
    ]


@pytest.mark.parametrize(
    ("change", "differing"),
    [
        ({"path": "models/b"}, "path"),
        ({"gpus": 1}, "device (gpus)"),
        ({"scoring": "text", "path": "models/b"}, "scoring and path"),
        ({"path": "/root/models/a", "mem_mb": 10, "label": "B", "year": 2020}, None),
    ],
)
def test_another_model_of_the_same_id_is_refused(change: dict[str, Any], differing: str | None) -> None:
    own = {"gpus": 0, "scoring": "letter"} | ENTRY
    message = (
        f'run.yaml: evaluate.models[0] is "a", but in results/x this id has another {differing} than in '
        "own.yaml; give the new model another id."
    )
    assert merged({"a": own | change}, {"a": own}, ["a"])[1] == [message] * (differing is not None)
