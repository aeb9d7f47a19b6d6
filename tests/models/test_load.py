"""A model is wrapped in its scoring, or it is said which scoring it has."""

from types import SimpleNamespace
from typing import Any

import pytest

from benchc.models import checkpoint
from benchc.models.classify import Classifier
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_classifier, load_generator, load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.text import TextScorer
from benchc.models.vqa import ClosedListModel

SOURCE = CheckpointSource("m")


@pytest.fixture
def loads(monkeypatch) -> Any:
    def load(chat: Any) -> Any:
        monkeypatch.setattr(checkpoint, "load", lambda _: chat)
        return chat

    return load


def chat(*, template: bool = True, generates: bool = True) -> Any:
    return SimpleNamespace(model="a model", has_template=template, generates=generates)


def closed_list() -> ClosedListModel:
    config = SimpleNamespace(id2label={0: "yes", 1: "no"})
    return ClosedListModel(SimpleNamespace(config=config), None, {"model": "m"})


@pytest.mark.parametrize(
    ("scoring", "kind", "normalised", "ended"),
    [
        ("letter", LetterScorer, None, None),
        ("text", TextScorer, False, False),
        ("text_mean", TextScorer, True, False),
        ("text_vqascore", TextScorer, True, True),
    ],
)
def test_a_scorer_scores_as_it_is_called(loads, scoring, kind, normalised, ended):
    model = loads(chat())
    scorer: Any = load_scorer(None, scoring, SOURCE)
    assert type(scorer) is kind and scorer.chat is model
    if kind is TextScorer:
        assert (scorer.length_normalised, scorer.ended) == (normalised, ended)


@pytest.mark.parametrize(("generates", "instead"), [(True, "generate"), (False, "classify")])
def test_a_model_without_a_template_scores_no_options(loads, generates, instead):
    loads(chat(template=False, generates=generates))
    with pytest.raises(
        ModelError, match=rf"^m: str scores no options; set `scoring: {instead}` in the model c"
    ):
        load_scorer(None, "letter", SOURCE)


def test_a_model_answers_from_its_list_or_in_its_own_words(loads):
    model = loads(chat())
    generator: Any = load_generator(None, SOURCE, Generation(8))
    assert type(generator) is Generator and generator.chat is model and generator.generation == Generation(8)
    with pytest.raises(
        ModelError, match=r"^m: the model has no closed list of answers; choose another `scor"
    ):
        load_classifier(None, SOURCE)
    loads(chat(generates=False))
    with pytest.raises(
        ModelError, match=r"^m: is loaded by code of its own, which answers in its own words on"
    ):
        load_generator(None, SOURCE, Generation(8))
    model = loads(closed_list())
    classifier: Any = load_classifier(None, SOURCE)
    assert type(classifier) is Classifier and classifier.chat is model
    with pytest.raises(
        ModelError, match=r"^m: SimpleNamespace answers from a closed list; set `scoring: class"
    ):
        load_generator(None, SOURCE, Generation(8))
