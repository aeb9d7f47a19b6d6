"""Which models a run tunes: checks of the configuration, the plan and `benchc check`."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from benchc.benchmarks.naturalbench import checking
from benchc.benchmarks.naturalbench.crosscheck import tuning_errors
from benchc.benchmarks.naturalbench.planning.plan import plan_of
from benchc.benchmarks.naturalbench.settings import FineTuning
from benchc.benchmarks.naturalbench.workflow import Workflow
from benchc.config.errors import ConfigError
from benchc.config.load import load
from benchc.models.tuning.settings import TuningSettings
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize
from tests.benchmarks.naturalbench.runs import config_of
from tests.config.test_shipped import ROOT

ENTRY = {"label": "M", "family": "llava", "scoring": "letter", "repo": "owner/m"}


def found(models: dict[str, Any], *names: str) -> list[str]:
    raw = {"models": list(models), "fine_tuning": {"models": [*names]}}
    return list(tuning_errors(raw, models, "run.yaml", "models.yaml"))


def test_a_model_of_the_run_can_be_tuned():
    assert found({"m": ENTRY}, "m") == []


def test_an_unknown_name_is_an_error_of_one_line():
    assert found({"my-model": ENTRY}, "my-modle") == [
        'run.yaml: fine_tuning.models[0] is "my-modle", but there is no such id in models (did you mean '
        "my-model?)."
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"server": {"url": "http://localhost:8000"}}, "a server answers for it (server)"),
        ({"family": "molmo"}, "it is loaded by code of its own"),
        ({"trust_remote_code": True}, "it is loaded by code of its own"),
        ({"scoring": "generate"}, "it has no probabilities of options (scoring: generate)"),
        (
            {"env": "monkey"},
            "peft is only in the environment transformers (env: monkey)",
        ),
    ],
)
def test_a_model_that_cannot_be_tuned_is_an_error_of_one_line(changes, reason):
    assert found({"a": ENTRY, "m": ENTRY | changes}, "a", "m") == [
        f'run.yaml: fine_tuning.models[1] is "m", which cannot be tuned: in models.yaml, {reason}; remove it '
        "from fine_tuning.models."
    ]


def test_the_configuration_is_refused_before_anything_runs():
    raw = yaml.safe_load((ROOT / "config/demo-naturalbench.yaml").read_text())
    raw["fine_tuning"]["models"] = ["tiny-vilt", "tiny-llava-m"]
    with pytest.raises(ConfigError) as error:
        load(raw, ROOT, file="run.yaml")
    assert [line for line in error.value.errors if "fine_tuning" in line] == [
        'run.yaml: fine_tuning.models[0] is "tiny-vilt", but there is no such id in models; there are '
        "tiny-llava-m, tiny-llava-l, tiny-internvl-m."
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"models": []},
        {"models": ["m", "m"]},
        {"modality": ["audio"]},
        {"epochs": 0},
        {"lora": {"rank": 0}},
        {"lora": {"modules": [""]}},
    ],
)
def test_values_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError):
        FineTuning.model_validate({"models": ["m"]} | wrong)


def test_each_setting_reaches_the_training_under_its_own_name():
    lora = {"rank": 3, "alpha": 5, "modules": ["q_proj"]}
    given = {"seed": 7, "epochs": 11, "batch": 13, "learning_rate": 0.5, "lora": lora}
    assert FineTuning.model_validate({"models": ["m"]} | given).tuning() == TuningSettings(
        epochs=11, batch=13, learning_rate=0.5, rank=3, alpha=5, modules=("q_proj",), seed=7
    )


def test_tuned_models_are_entries_with_the_folder_of_the_run():
    config = config_of(models={"m": "letter", "n": "text"}, fine_tuning={"models": ["m"]})
    workflow = Workflow(config)
    assert workflow.fine_tuned is not None
    entries = workflow.fine_tuned.config.models
    assert {id_: (entry.path, entry.repo, entry.scoring) for id_, entry in entries.items()} == {
        f"m.{modality}": (f"results/trial/fine_tuning/m.{modality}", None, "letter")
        for modality in ("images", "text")
    }
    assert workflow.fine_tuned.original(["all"]) == [
        "<results>/predictions/groups/m/all.parquet",
        "<results>/predictions/questions/m/no_image.parquet",
    ]
    assert Workflow(config_of(models={"m": "letter"})).fine_tuned is None


def test_the_plan_names_the_jobs_that_tune():
    config = config_of(
        models={"m": "letter", "n": "text"},
        fine_tuning={"models": ["m", "n"], "modality": ["text"], "epochs": 3},
    )
    notes = plan_of(config, Path("a-run-without-results"), RunSize(Amount(8))).notes
    assert [note for note in notes if note.startswith("fine_tuning")] == [
        "fine_tuning: 2 jobs (2 models × text) of 3 epochs on half of the items, and predictions on the "
        "other half; their hours are not estimated."
    ]


def test_a_missing_package_is_named_before_the_run(monkeypatch):
    tuning = FineTuning(models=["m"])
    assert [each.level for each in checking._tuning(tuning)] == ["ok"]
    monkeypatch.setattr(checking, "find_spec", lambda _: None)
    (finding,) = checking._tuning(tuning)
    assert finding.level == "warning" and "needs the package peft" in finding.text
