import dataclasses

import numpy as np
import pytest

from benchc.models.generation import Generation
from benchc.models.label_prompt import LabelPrompt
from benchc.models.predict import Passes, predict_units
from benchc.models.predictor import unit_hashes
from benchc.models.protocol import ModelError, NoTextOnlyError
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.units import GREY_SHAPE, InPlaceOfImages, Unit

FORM = LabelPrompt(
    "Please answer Yes or No.", "Please output the letter corresponding to the correct option."
)


def test_a_question_of_yes_and_no_has_these_as_its_labels():
    asked = FORM.asked(Question("Is the dog running?", ("Yes", "No")))
    assert asked.prompt == "Is the dog running? Please answer Yes or No."
    assert asked.labels == asked.letters == asked.texts == ("Yes", "No")


@pytest.mark.parametrize("options", [("no", "yes"), (" NO", "yes ")])
def test_labels_are_in_the_order_of_the_options(options):
    assert FORM.asked(Question("Is it?", options)).labels == tuple(o.strip().capitalize() for o in options)


def test_options_with_texts_are_listed_and_called_by_their_letters():
    asked = FORM.asked(Question("What are they doing?", ("Jumping", "Standing")))
    assert asked.prompt == (
        "What are they doing?\nOption: A:Jumping; B:Standing; "
        "Please output the letter corresponding to the correct option."
    )
    assert asked.labels == ("A", "B")


def test_options_that_are_letters_are_in_the_question_already():
    stored = "What are they doing?\nOption: A:Jumping; B:Standing;"
    assert FORM.asked(Question(stored, ("A", "B"))).prompt == f"{stored} {FORM.others}"


def test_options_are_called_by_their_texts():
    by_text = LabelPrompt(FORM.yes_no, "Answer in short.", by_text=True)
    asked = by_text.asked(Question("What are they doing?", ("Jumping", "Standing")))
    assert asked.prompt == "What are they doing? Answer in short."
    assert asked.labels == asked.texts == ("Jumping", "Standing")
    yes_no = Question("Is it?", ("Yes", "No"))
    assert by_text.asked(yes_no) == FORM.asked(yes_no)


def test_without_a_separator_or_an_end_the_question_stands_alone():
    question = Question("Is it?", ("Yes", "No"))
    assert LabelPrompt("Yes?", "A?", "").asked(question).prompt == "Is it?Yes?"
    assert LabelPrompt("", "A?").asked(question).prompt == "Is it?"


def test_yes_and_no_can_be_options_of_a_multiple_choice_question():
    question = Question("Is it?", ("Yes", "No"))
    asked = FORM.asked(question, "multiple_choice")
    assert asked.prompt == f"Is it?\nOption: A:Yes; B:No; {FORM.others}"
    assert asked.labels == ("A", "B")
    assert FORM.asked(question, "yes_no") == FORM.asked(question)


def test_a_hint_comes_first_and_an_open_question_stays_as_it_is():
    assert FORM.asked(Question("Is it?", ("Yes", "No"), "Look left.")).prompt == (
        "Look left.\nIs it? Please answer Yes or No."
    )
    open_ended = Question("What is it?", ())
    assert FORM.asked(open_ended) is open_ended


def test_all_protocols_ask_with_this_prompt():
    asked = FORM.asked(Question("Is it?", ("Yes", "No")))
    assert letter_prompt(asked) == text_prompt(asked) == Generation(8).prompt(asked) == asked.prompt


@pytest.mark.parametrize("family", ["llava", "internvl", "idefics3"])
def test_labels_are_scored_as_texts_after_the_prompt(scorers, variants, family):
    scorer = scorers[family, "text"]
    asked = FORM.asked(Question("Which colour is the square?", ("red", "green")))
    scores = scorer.score(asked, variants)
    plain = Question("Which colour is the square?", ("A", "B"), prompt=asked.prompt)
    np.testing.assert_array_equal(scores.logits, scorer.score(plain, variants).logits)


@pytest.mark.parametrize("family", ["llava", "internvl", "idefics3"])
def test_letters_of_labels_are_scored_by_their_tokens(scorers, variants, family):
    scorer = scorers[family, "letter"]
    asked = FORM.asked(Question("Which colour is the square?", ("red", "green")))
    rendered = scorer.prompt(asked, 1)
    assert asked.prompt in rendered
    tokens = scorer.letter_tokens(rendered, ("A", "B")).tolist()
    assert [scorer.chat.tokenizer.decode([token]).strip() for token in tokens] == ["A", "B"]
    # In the other order of labels, the scores change places.
    swapped = dataclasses.replace(asked, labels=("B", "A"))
    both = scorer.score(asked, variants).logits, scorer.score(swapped, variants).logits
    np.testing.assert_array_equal(both[0], both[1][:, ::-1])


def test_labels_of_several_tokens_are_refused_by_letter_scoring(scorers, variants, monkeypatch):
    scorer = scorers["llava", "letter"]
    monkeypatch.setattr(type(scorer.chat), "tokens_after", lambda self, prompt, answer: [1, 2])
    asked = FORM.asked(Question("Is it unusual?", ("Yes", "No")))
    with pytest.raises(ModelError, match="the answers Yes and No are not one distinct token each"):
        scorer.score(asked, variants)


def test_labels_are_part_of_what_a_cached_prediction_is_found_by(scorers, variants):
    asked = FORM.asked(Question("Is it?", ("Yes", "No")))
    swapped = dataclasses.replace(asked, labels=("No", "Yes"))
    unit = Unit("s/1", "clean", [0], variants[:1], 1)
    scorer = scorers["llava", "text"]
    assert unit_hashes(scorer, asked, unit)[0] != unit_hashes(scorer, swapped, unit)[0]


@pytest.mark.parametrize("family", ["llava", "internvl", "idefics3"])
@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_without_images_a_question_is_scored_by_its_text_alone(scorers, family, scoring):
    (unit,) = InPlaceOfImages("no_image", ["s/1"]).units()
    assert (unit.corruption, unit.severities, unit.images) == ("no_image", [0], 0)
    scorer = scorers[family, scoring]
    question = FORM.asked(Question("Which colour is the square?", ("red", "green")))
    ((scores, split),) = predict_units(scorer, question, [unit], Passes())
    assert scores.logits.shape == (1, 2) and np.isfinite(scores.logits).all() and not split
    assert "<image>" not in scorer.prompt(question, 0)
    other = FORM.asked(Question("How many dots are there?", ("red", "green")))
    ((others, _),) = predict_units(scorer, other, [unit], Passes())
    assert np.abs(scores.logits - others.logits).max() > 1e-4


def test_a_grey_image_stands_in_place_of_the_images():
    first, second = InPlaceOfImages("grey_image", ["s/1", "s/2"]).units()
    assert (first.item, second.item, first.corruption) == ("s/1", "s/2", "grey_image")
    ((image,),) = first.variants
    assert image.shape == GREY_SHAPE and (image == 128).all()


def test_a_model_that_needs_an_image_says_so(scorers, monkeypatch):
    scorer = scorers["llava", "letter"]

    def refuse(self, prompt, variants):
        raise ValueError("images are needed")

    monkeypatch.setattr(type(scorer.chat), "encode", refuse)
    with pytest.raises(
        NoTextOnlyError, match=r"no prompt without an image \(ValueError: images are needed\)"
    ):
        scorer.encode(Question("Is it?", ("a", "b")), [[]])
    with pytest.raises(ValueError, match="images are needed"):
        scorer.encode(Question("Is it?", ("a", "b")), [[np.zeros((8, 8, 3), dtype=np.uint8)]])
