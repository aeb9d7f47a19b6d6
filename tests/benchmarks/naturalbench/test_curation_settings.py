"""Checks of the keys of curation and retrieval."""

from typing import Any

import pytest
from pydantic import ValidationError

from benchc.benchmarks.naturalbench.crosscheck import blind_errors, curation_errors, translation_errors
from benchc.benchmarks.naturalbench.settings import Captions, Release, Retrieval, Writer

TAGGED = {"label": "A", "name": "ViT-L-14", "pretrained": "laion400m_e32"}


def raw(**keys: Any) -> dict[str, Any]:
    return {"models": ["m"], "sources": ["s"], "encoders": {"a": dict(TAGGED)}, **keys}


def found(content: dict[str, Any]) -> list[str]:
    return list(curation_errors(content, "run.yaml"))


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


@pytest.mark.parametrize(
    ("encoder", "message"),
    [
        ({"name": "ViT-L-14"}, "a.pretrained is missing; name the weights of ViT-L-14, such as openai."),
        (
            {"name": "trained", "pretrained": "openai"},
            'a.pretrained is "openai", but names weights of open_clip; remove it.',
        ),
        (
            {"name": "x/y", "library": "blip2", "pretrained": "openai"},
            'a.pretrained is "openai", but names weights of open_clip; remove it.',
        ),
        (
            {"name": "trained", "library": "blip2"},
            'a.library is "blip2", but the encoder that the run trains is of open_clip.',
        ),
    ],
)
def test_encoders_that_do_not_fit(encoder: dict[str, str], message: str) -> None:
    assert found(raw(encoders={"a": encoder})) == [f"run.yaml: encoders.{message}"]


def test_models_that_answer_other_benchmarks_are_models_of_the_run() -> None:
    assert list(blind_errors(raw(blind={"sources": ["x"], "models": ["m"]}), "run.yaml")) == []
    (line,) = blind_errors(raw(blind={"sources": ["x"], "models": ["n"]}), "run.yaml")
    assert line.startswith('run.yaml: blind.models[0] is "n"') and "id in models" in line


def test_drawn_captions_need_the_demo() -> None:
    curate = {"captions": {"real": {"form": "csv"}, "drawn": {"form": "generated", "count": 9}}}
    (line,) = found(raw(curate=curate))
    assert "demo is missing, but its seed is needed to draw curate.captions.drawn" in line
    assert found(raw(curate=curate, demo={"seed": 1})) == []


def test_a_trained_encoder_needs_its_steps() -> None:
    trained = {"a": {"name": "trained"}, "b": {"name": "folder/b"}}
    (line,) = found(raw(encoders=trained, demo={"seed": 1}))
    assert line == "run.yaml: demo.image_encoder is missing, but needed for encoders.a; give its steps."
    assert found(raw(encoders=trained, demo={"seed": 1, "image_encoder": {"steps": 3}})) == []


def test_drawn_captions_are_not_shortened() -> None:
    curate = {"captions": {"drawn": {"form": "generated", "count": 9}}, "shorten": {"below": 230}}
    (line,) = found(raw(curate=curate, demo={"seed": 1}))
    assert "curate.shorten is given, but curate.captions.drawn is drawn" in line and "remove" in line
    assert found(raw(curate={"captions": {"real": {"form": "docci"}}, "shorten": {"below": 230}})) == []


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
        (
            {"readings": ["sample", "global"]},
            "translate is given, but readings has neither decoding nor deterministic, one of which Table 5 "
            "needs; add one.",
        ),
        ({"readings": ["sample", "deterministic"]}, None),
        ({}, None),
    ],
)
def test_translated_questions_need_models_and_a_reading(keys: dict[str, Any], message: str | None) -> None:
    expected = [] if message is None else [f"run.yaml: {message}"]
    assert list(translation_errors(raw(translate={"model": "m"}, **keys), "run.yaml")) == expected
    assert list(translation_errors(raw(**keys), "run.yaml")) == []


def test_every_type_has_a_template() -> None:
    with pytest.raises(ValidationError, match="has no template of multiple_choice; add it to templates"):
        Writer(model="m", templates={"yes_no": "a.txt"})
    Writer(model="m", types=["yes_no"], templates={"yes_no": "a.txt"})


@pytest.mark.parametrize("date", ["2026-13-45", "2026-02-30"])
def test_a_release_has_a_day_of_the_calendar(date: str) -> None:
    with pytest.raises(ValidationError, match="date"):
        Release(name="x", date=date)
