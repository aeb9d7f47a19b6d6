from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from benchc.benchmarks.naturalbench import checking, crosscheck
from benchc.benchmarks.naturalbench.planning.plan import plan_of
from benchc.benchmarks.naturalbench.settings import Captions, FineTuning, Release, Retrieval, Writer
from benchc.benchmarks.naturalbench.workflow import Workflow
from benchc.config.errors import ConfigError
from benchc.config.load import load
from benchc.models.tuning.settings import TuningSettings
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize
from tests.benchmarks.naturalbench.runs import config_of
from tests.config.test_shipped import ROOT

TAGGED = {"label": "A", "name": "ViT-L-14", "pretrained": "laion400m_e32"}


def raw(**keys: Any) -> dict[str, Any]:
    return {"models": ["m"], "sources": ["s"], "encoders": {"a": dict(TAGGED)}, **keys}


def found(content: dict[str, Any]) -> list[str]:
    return list(crosscheck.curation_errors(content, "run.yaml"))


@pytest.mark.parametrize(
    "encoder",
    [
        TAGGED,
        {"name": "trained"},
        {"name": "models/longclip"},
        {"name": "clip-ViT-B-32", "library": "sentence_transformers"},
        {"name": "Salesforce/blip2-itm-vit-g", "library": "blip2"},
    ],
)
def test_encoders_that_fit(encoder: dict[str, str]) -> None:
    assert found(raw(encoders={"a": encoder})) == []


WEIGHTS = 'a.pretrained is "openai", but names weights of open_clip; remove it.'


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"name": "ViT-L-14"}, "a.pretrained is missing; name the weights of ViT-L-14, such as openai."),
        ({"name": "trained", "pretrained": "openai"}, WEIGHTS),
        ({"name": "x/y", "library": "blip2", "pretrained": "openai"}, WEIGHTS),
        (
            {"name": "trained", "library": "blip2"},
            'a.library is "blip2", but the encoder that the run trains is of open_clip.',
        ),
    ],
)
def test_encoders_that_do_not_fit(encoder: dict[str, str], message: str) -> None:
    assert found(raw(encoders={"a": encoder})) == [f"run.yaml: encoders.{message}"]


def test_models_that_answer_other_benchmarks_are_models_of_the_run() -> None:
    assert list(crosscheck.blind_errors(raw(blind={"sources": ["x"], "models": ["m"]}), "run.yaml")) == []
    (line,) = crosscheck.blind_errors(raw(blind={"sources": ["x"], "models": ["n"]}), "run.yaml")
    assert line.startswith('run.yaml: blind.models[0] is "n"') and "id in models" in line
    # Drawn captions need the demo.
    curate = {"captions": {"real": {"form": "csv"}, "drawn": {"form": "generated", "count": 9}}}
    (line,) = found(raw(curate=curate))
    assert "demo is missing, but its seed is needed to draw curate.captions.drawn" in line
    assert found(raw(curate=curate, demo={"seed": 1})) == []
    # They are not shortened.
    curate["shorten"] = {"below": 230}
    (line,) = found(raw(curate=curate, demo={"seed": 1}))
    assert "curate.shorten is given, but curate.captions.drawn is drawn" in line and "remove" in line
    assert found(raw(curate={"captions": {"real": {"form": "docci"}}, "shorten": {"below": 230}})) == []
    # A trained encoder needs its steps.
    trained = {"a": {"name": "trained"}, "b": {"name": "folder/b"}}
    (line,) = found(raw(encoders=trained, demo={"seed": 1}))
    assert line == "run.yaml: demo.image_encoder is missing, but needed for encoders.a; give its steps."
    assert found(raw(encoders=trained, demo={"seed": 1, "image_encoder": {"steps": 3}})) == []


def test_pairs_of_a_file_need_the_folder_of_their_images() -> None:
    Retrieval(encoders=["a"])
    Retrieval(encoders=["a"], pairs="pairs.csv", images="images")
    for given in ({"pairs": "pairs.csv"}, {"images": "images"}):
        with pytest.raises(ValidationError, match="has one of pairs and images; give both"):
            Retrieval(encoders=["a"], **given)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"form": "generated"}, "needs count, and neither file nor images"),
        ({"form": "generated", "count": 5, "file": "a"}, "needs count, and neither file nor images"),
        ({"form": "csv", "images": "a"}, "needs file, and no count"),
        ({"form": "docci", "file": "a"}, "needs the folder images"),
        ({"form": "xm3600", "file": "a", "images": "b"}, "has the form xm3600, which needs locale, such as"),
        ({"form": "docci", "file": "a", "images": "b", "locale": "zh"}, "has no locale; remove it"),
        ({"form": "tsv", "file": "a", "count": 5}, "needs file, and no count"),
    ],
)
def test_captions_need_their_files(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Captions(label="A", **keys)
    Captions(label="A", form="tsv", file="a")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"models": []}, "translate is given without models, which answer what is translated; add a model."),
        ({}, None),
    ],
)
def test_translated_questions_need_models(keys: dict[str, Any], message: str | None) -> None:
    expected = [] if message is None else [f"run.yaml: {message}"]
    assert list(crosscheck.translation_errors(raw(translate={"model": "m"}, **keys), "run.yaml")) == expected
    assert list(crosscheck.translation_errors(raw(**keys), "run.yaml")) == []


def test_a_reading_is_of_single_answers() -> None:
    message = (
        "r.yaml: readings has neither decoding nor deterministic, one of which Tables 1 and 5 and the "
        "figures need; add one."
    )
    for readings in (["sample"], ["global", "post_hoc"]):
        assert list(crosscheck.reading_errors(raw(readings=readings), "r.yaml")) == [message]
    for readings in (["sample", "deterministic"], ["decoding"]):
        assert list(crosscheck.reading_errors(raw(readings=readings), "r.yaml")) == []
    assert list(crosscheck.reading_errors(raw(), "r.yaml")) == []
    # Without models there are no answers.
    assert list(crosscheck.reading_errors(raw(models=[], readings=["sample"]), "r.yaml")) == []


def test_every_type_has_a_template() -> None:
    with pytest.raises(ValidationError, match="has no template of multiple_choice; add it to templates"):
        Writer(model="m", templates={"yes_no": "a.txt"})
    Writer(model="m", types=["yes_no"], templates={"yes_no": "a.txt"})
    # A release has a day of the calendar.
    for date in ("2026-13-45", "2026-02-30"):
        with pytest.raises(ValidationError, match="date"):
            Release(name="x", date=date)


ENTRY = {"label": "M", "family": "llava", "scoring": "letter", "repo": "owner/m"}


def tuning(models: dict[str, Any], *names: str) -> list[str]:
    raw = {"models": list(models), "fine_tuning": {"models": [*names]}}
    return list(crosscheck.tuning_errors(raw, models, "run.yaml", "models.yaml"))


def test_a_known_model_can_be_tuned_and_an_unknown_name_is_an_error_of_one_line():
    assert tuning({"m": ENTRY}, "m") == []
    assert tuning({"my-model": ENTRY}, "my-modle") == [
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
        ({"env": "monkey"}, "peft is only in the environment transformers (env: monkey)"),
    ],
)
def test_a_model_that_cannot_be_tuned_is_an_error_of_one_line(changes, reason):
    assert tuning({"a": ENTRY, "m": ENTRY | changes}, "a", "m") == [
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


WRONG = [{"models": []}, {"models": ["m", "m"]}, {"modality": ["audio"]}, {"epochs": 0}]


@pytest.mark.parametrize("wrong", [*WRONG, {"lora": {"rank": 0}}, {"lora": {"modules": [""]}}])
def test_values_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValidationError):
        FineTuning.model_validate({"models": ["m"]} | wrong)


def test_each_setting_reaches_the_training_under_its_own_name():
    lora = {"rank": 3, "alpha": 5, "modules": ["q_proj"]}
    given = {"seed": 7, "epochs": 11, "batch": 13, "learning_rate": 0.5, "lora": lora}
    assert FineTuning.model_validate({"models": ["m"]} | given).tuning() == TuningSettings(
        epochs=11, batch=13, learning_rate=0.5, rank=3, alpha=5, modules=("q_proj",), seed=7
    )
    # Tuned models are entries with the folder of the run.
    workflow = Workflow(config_of(models={"m": "letter", "n": "text"}, fine_tuning={"models": ["m"]}))
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
    tuned = {"models": ["m", "n"], "modality": ["text"], "epochs": 3}
    config = config_of(models={"m": "letter", "n": "text"}, fine_tuning=tuned)
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
