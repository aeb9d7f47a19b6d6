"""The catalogue of a run that evaluates models on a finished benchmark."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc.config.errors import ConfigError
from benchc.config.evaluation import FinishedRun, finished_run

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
        ({"gpus": 1, "path": "models/b"}, "path and device (gpus)"),
        # Of GPUs, their number is no other device.
        ({"gpus": 0, "path": "../root/models/a"}, None),
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
    for mine, recorded in ((own | change, own), (own, own | change)):
        assert merged({"a": mine}, {"a": recorded}, ["a"])[1] == [message] * (differing is not None)


SETTINGS = {
    "benchmark": "toy",
    "name": "x",
    "seed": 1,
    "catalogues": {"sources": "s.yaml", "models": "m.yaml"},
    "targets": ["old", "other"],
    "inference": {"corruptions_per_job": "group", "workers": 8},
    "corruptions": {"types": ["fog"]},
    "pool": {"total": 4},
}


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    """A folder with the record of the finished run results/x."""
    (tmp_path / "results/x").mkdir(parents=True)
    (tmp_path / "results/x/config.yaml").write_text(yaml.safe_dump(SETTINGS))
    (tmp_path / "results/x/config-models.yaml").write_text(yaml.safe_dump({"old": ENTRY}))
    return tmp_path


RAW = {"name": "mine", "evaluate": {"benchmark": "results/x", "models": ["a", "other"]}}


def completed(raw: dict[str, Any], root: Path) -> tuple[Any, Any]:
    return finished_run(raw, root, "run.yaml", {"toy": "targets"}.__getitem__)


def test_all_other_settings_are_those_of_the_finished_run(finished: Path) -> None:
    raw: dict[str, Any] = {"name": "plain", "evaluate": None}
    assert completed(raw, finished) == (raw, None)
    settings, run = completed(RAW, finished)
    assert settings == SETTINGS | RAW | {
        "catalogues": {"models": "config/models.yaml", "sources": "results/x/config-sources.yaml"},
        "targets": ["old", "other", "a"],
    }
    assert run == FinishedRun("results/x", SETTINGS, {"old": ENTRY}, ["old", "other"], ["a", "other"])
    # Its own are the catalogue of the new models, and what changes no number.
    own = {"catalogues": {"models": "own.yaml"}, "inference": {"workers": 2}, "seed": 1, "name": "yours"}
    settings, _ = completed(RAW | own, finished)
    assert settings["catalogues"]["models"] == "own.yaml"
    assert settings["catalogues"]["sources"] == "results/x/config-sources.yaml"
    assert settings["inference"] == {"corruptions_per_job": "group", "workers": 2}
    # A name that is missing is an error of its own.
    assert "name" not in completed({"evaluate": RAW["evaluate"]}, finished)[0]
    # A key that no run has stays, and is refused as unknown.
    assert "sead" in completed(RAW | {"sead": None}, finished)[0]


DECIDED = "is given, but results/x decides it; remove it"


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        ({"seed": 2}, [f"seed {DECIDED}"]),
        ({"pool": {}, "seed": 2}, [f"pool {DECIDED}", f"seed {DECIDED}"]),
        # Only of `inference` a part may be given.
        ({"corruptions": {}}, [f"corruptions {DECIDED}"]),
        ({"inference": {"corruptions_per_job": "one", "workers": 2}}, [f"inference {DECIDED}"]),
        ({"inference": {"corruptions_per_job": "all"}}, [f"inference {DECIDED}"]),
        ({"inference": 3}, [f"inference {DECIDED}"]),
        ({"name": "x"}, ['name is "x", which is that of results/x; choose another one']),
        # The folder of a finished run may have another name than it had.
        (
            {"name": "moved", "evaluate": RAW["evaluate"] | {"benchmark": "results/moved"}},
            ['name is "moved", which is that of results/moved; choose'],
        ),
        (
            {"evaluate": RAW["evaluate"] | {"benchmark": "results/none"}},
            [
                'evaluate.benchmark is "results/none", but its config.yaml cannot be read (No such file or '
                "directory); give the folder of a finished run"
            ],
        ),
        (
            {"evaluate": RAW["evaluate"] | {"benchmark": "results/list"}},
            ['evaluate.benchmark is "results/list", but its config.yaml is no mapping of keys to values;'],
        ),
        (
            {"evaluate": RAW["evaluate"] | {"benchmark": "results/damaged"}},
            ['evaluate.benchmark is "results/damaged", but its config.yaml cannot be read (line 1 is not'],
        ),
        ({"evaluate": {"models": ["a"]}}, ["evaluate.benchmark is missing"]),
    ],
)
def test_what_the_finished_run_decides_is_refused(
    finished: Path, change: dict[str, Any], sentences: list[str]
) -> None:
    (finished / "results/moved").symlink_to("x")
    (finished / "results/list").mkdir()
    (finished / "results/list/config.yaml").write_text("[1]")
    (finished / "results/damaged").mkdir()
    (finished / "results/damaged/config.yaml").write_text("a: ]")
    with pytest.raises(ConfigError) as caught:
        completed(RAW | change, finished)
    assert len(caught.value.errors) == len(sentences)
    for error, sentence in zip(caught.value.errors, sentences, strict=True):
        assert error.startswith(f"run.yaml: {sentence}")
