"""Letter and text scores against plain forward passes of the same models."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image as PILImage

from benchc.models import families
from benchc.models.generation import Generation
from benchc.models.label_prompt import LabelPrompt
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.predict import Passes, predict_units
from benchc.models.predictor import unit_hashes
from benchc.models.protocol import CheckpointSource, ModelError, NoTextOnlyError
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.registry import answering, scorer_modules
from benchc.models.supported import UnsupportedFamilyError, check_family
from benchc.models.text import TextScorer
from benchc.models.units import GREY_SHAPE, InPlaceOfImages, Unit
from tests.models.conftest import FAMILIES, QUESTIONS


def next_token_log_probabilities(chat, text, images):
    """Return log-probabilities [positions, vocabulary] of one prompt, by one unbatched forward pass."""
    pictures = [PILImage.fromarray(image) for image in images]
    inputs = chat.processor(text=[text], images=[pictures], return_tensors="pt")
    with torch.no_grad():
        return chat.model(**inputs).logits[0].log_softmax(-1)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", QUESTIONS, ids=["unweighted", "hint", "chinese"])
def test_letter_scores_are_the_logits_of_the_letters(scorers, variants, family, question):
    scorer = scorers[family, "letter"]
    scores = scorer.score(question, variants)
    rendered = scorer.chat.render(letter_prompt(question), 1)
    spaced = [f" {letter}" for letter in "ABCD"[: len(question.options)]]
    letters = [scorer.chat.tokenizer(each, add_special_tokens=False)["input_ids"][0] for each in spaced]
    assert scores.logits.dtype == np.float32 and scores.logits.shape == (5, len(question.options))
    for row, images in enumerate(variants):
        expected = next_token_log_probabilities(scorer.chat, rendered, images)[-1, letters]
        found = torch.from_numpy(scores.logits[row])
        torch.testing.assert_close(found.log_softmax(-1), expected.log_softmax(-1), atol=2e-5, rtol=0)
        assert scores.label_mass[row] == pytest.approx(expected.exp().sum().item(), abs=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("question", QUESTIONS, ids=["unweighted", "hint", "chinese"])
def test_text_scores_are_log_likelihoods_of_whole_sequences(scorers, variants, family, question):
    scorer = scorers[family, "text"]
    scores = scorer.score(question, variants)
    means = scorers[family, "text_mean"].score(question, variants)
    rendered = scorer.chat.render(text_prompt(question), 1)
    for row, images in enumerate(variants[:2]):
        for k, option in enumerate(question.options):
            tokens = scorer.chat.tokenizer(f" {option}", add_special_tokens=False)["input_ids"]
            whole = next_token_log_probabilities(scorer.chat, f"{rendered} {option}", images)
            positions = range(len(whole) - len(tokens) - 1, len(whole) - 1)
            expected = sum(whole[p, t].item() for p, t in zip(positions, tokens, strict=True))
            assert scores.logits[row, k] == pytest.approx(expected, abs=1e-4)
            assert means.logits[row, k] == pytest.approx(expected / len(tokens), abs=1e-4)
    mass = np.exp(scores.logits.astype(np.float64)).sum(axis=1)
    np.testing.assert_allclose(scores.label_mass, np.minimum(mass, 1), atol=1e-5)


def test_vqascore_is_the_mean_over_answer_and_end_token(checkpoints, variants):
    # linzhiqiu/t2v_metrics, models/vqascore_models/llava_model.py: the labels are the answer and </s>.
    scorer = load_scorer(None, "text_vqascore", CheckpointSource(str(checkpoints["llava"])))
    assert scorer.identity()["scoring"] == "text_vqascore"
    question = QUESTIONS[1]
    logits = scorer.score(question, variants[:2]).logits
    rendered = scorer.chat.render(text_prompt(question), 1)
    for row, images in enumerate(variants[:2]):
        for k, option in enumerate(question.options):
            tokens = scorer.chat.tokenizer(f" {option}</s>", add_special_tokens=False)["input_ids"]
            whole = next_token_log_probabilities(scorer.chat, f"{rendered} {option}</s>", images)
            labels = torch.tensor(tokens)
            loss = torch.nn.functional.nll_loss(whole[-len(tokens) - 1 : -1], labels)
            assert logits[row, k] == pytest.approx(-loss.item(), abs=1e-4)


@pytest.mark.parametrize(
    ("written", "end"), [("<|im_end|>\n<|end|>", 3), ("<|end|>", 5), ("</s>", None), ("", None)]
)
def test_of_several_end_tokens_the_template_says_which_ends_an_answer(scorers, monkeypatch, written, end):
    chat = scorers["llava", "text"].chat
    names = {5: "<|end|>", 3: "<|im_end|>"}
    monkeypatch.setattr(chat.model.generation_config, "eos_token_id", [*names])
    monkeypatch.setattr(chat.tokenizer, "convert_ids_to_tokens", names.get)
    template = f"{{% for m in messages %}}{{{{ m.content[0].text }}}}{written}{{% endfor %}}"
    monkeypatch.setattr(chat.processor, "chat_template", template)
    scorer = TextScorer(chat, length_normalised=True, ended=True)
    if end is not None:
        assert scorer._end_token == end
    else:
        with pytest.raises(ModelError, match="the token that ends an answer is not known, which `scoring: t"):
            _ = scorer._end_token


@pytest.mark.parametrize("family", FAMILIES)
def test_both_of_two_images_count(scorers, variants, family):
    scorer = scorers[family, "letter"]
    first, second, other = (images[0] for images in variants[:3])
    scores = scorer.score(QUESTIONS[0], [[first, second], [first, other], [other, second]])
    assert np.abs(scores.logits[0] - scores.logits[1]).max() > 1e-4
    assert np.abs(scores.logits[0] - scores.logits[2]).max() > 1e-4


def test_bfloat16_models_give_options_without_ties(checkpoints, variants):
    scorer = load_scorer("llava", "letter", CheckpointSource(str(checkpoints["llava"]), dtype="bfloat16"))
    logits = scorer.score(QUESTIONS[1], variants).logits
    quantised = torch.from_numpy(logits).bfloat16().float().numpy()
    assert (logits != quantised).mean() > 0.9
    assert all(len(set(row)) == len(row) for row in logits.tolist())


def test_letters_must_be_one_distinct_token_each(scorers, monkeypatch):
    scorer = LetterScorer(scorers["llava", "letter"].chat)
    rendered = scorer.prompt(QUESTIONS[0], 1)
    assert len(scorer.letter_tokens(rendered, tuple("ABC"))) == 3
    for letters, after in (("ABCD", lambda *_: [5]), ("ABCDE", lambda _, answer: [ord(answer[-1]), 6])):
        monkeypatch.setattr(scorer.chat, "tokens_after", after, raising=False)
        with pytest.raises(ModelError, match=r"one distinct token .*scoring: text"):
            scorer.letter_tokens(rendered, tuple(letters))


def test_an_unknown_family_or_scoring_or_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(UnsupportedFamilyError, match=r"no model type.*did you mean 'internvl'"):
        check_family("internvl3")
    with pytest.raises(ModelError, match="unknown scoring 'letters'"):
        scorer_modules("llava", "letters")
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_scorer("llava", "letter", CheckpointSource(str(tmp_path)))
    # The known ones are the model types of transformers and those with a file.
    from transformers.models.auto.modeling_auto import MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES

    files = {path.stem for path in Path(families.__path__[0]).glob("*.py")} - {"__init__"}
    for family in (None, *MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES, *files):
        check_family(family)


def test_a_model_whose_options_are_scored_answers_in_its_own_words():
    found = [answering(scoring) for scoring in ("letter", "text_vqascore", "generate", "classify")]
    assert found == ["generate", "generate", "generate", "classify"]


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_an_open_question_is_refused(scorers, variants, scoring):
    scorer = scorers["llava", scoring]
    for call in (lambda open_: scorer.prompt(open_, 1), lambda open_: scorer.score(open_, variants)):
        # 80 characters of a long one.
        with pytest.raises(ModelError, match=f"has no options to score: 'How {'many ' * 15}m'; remove it"):
            call(Question(f"How {'many ' * 20}dots are there?", ()))


FORM = LabelPrompt("Please answer Yes or No.", "Please output the letter of the correct option.")
BY_TEXT = LabelPrompt(FORM.yes_no, "Answer in short.", by_text=True)
COLOUR = FORM.asked(Question("Which colour is the square?", ("red", "green")))


ACTION = Question("What are they doing?", ("Jumping", "Standing"))
IS_IT = Question("Is it?", ("Yes", "No"))
HINTED = dataclasses.replace(IS_IT, hint="Look left.")
LISTED = "What are they doing?\nOption: A:Jumping; B:Standing;"


@pytest.mark.parametrize(
    ("form", "question", "prompt", "labels"),
    [
        (FORM, IS_IT, "Is it? Please answer Yes or No.", ("Yes", "No")),
        # Labels are in the order of the options.
        (FORM, Question("Is it?", ("no", "yes")), "Is it? Please answer Yes or No.", ("No", "Yes")),
        (FORM, Question("Is it?", (" NO", "yes ")), "Is it? Please answer Yes or No.", ("No", "Yes")),
        (FORM, ACTION, f"{LISTED} {FORM.others}", ("A", "B")),
        # Before and after all letters, and Yes and No, in the order of characters.
        *(
            (
                FORM,
                Question("Which?", each),
                f"Which?\nOption: A:{each[0]}; B:{each[1]}; {FORM.others}",
                ("A", "B"),
            )
            for each in (("10", "20"), ("round", "square"))
        ),
        # Options that are letters are in the question already.
        (FORM, Question(LISTED, ("A", "B")), f"{LISTED} {FORM.others}", ("A", "B")),
        (BY_TEXT, ACTION, "What are they doing? Answer in short.", ("Jumping", "Standing")),
        (BY_TEXT, IS_IT, "Is it? Please answer Yes or No.", ("Yes", "No")),
        # Without a separator or an end, the question stands alone.
        (LabelPrompt("Yes?", "A?", ""), IS_IT, "Is it?Yes?", ("Yes", "No")),
        (LabelPrompt("", "A?"), IS_IT, "Is it?", ("Yes", "No")),
        # A hint comes first.
        (FORM, HINTED, "Look left.\nIs it? Please answer Yes or No.", ("Yes", "No")),
    ],
)
def test_a_question_and_its_labels(form, question, prompt, labels):
    asked = form.asked(question)
    assert (asked.prompt, asked.labels) == (prompt, labels)
    # All protocols ask with this prompt.
    assert letter_prompt(asked) == text_prompt(asked) == Generation(8).prompt(asked) == prompt
    assert form.asked(Question("What is it?", ())) == Question("What is it?", ())


def test_labels_are_letters_or_texts():
    asked = FORM.asked(IS_IT)
    assert asked.letters == asked.texts == ("Yes", "No")
    assert BY_TEXT.asked(ACTION).texts == ("Jumping", "Standing")
    # Yes and No can be options of a multiple-choice question.
    asked = FORM.asked(IS_IT, "multiple_choice")
    assert asked.prompt == f"Is it?\nOption: A:Yes; B:No; {FORM.others}"
    assert asked.labels == ("A", "B")
    assert FORM.asked(IS_IT, "yes_no") == FORM.asked(IS_IT)


@pytest.mark.parametrize("family", ["llava", "internvl", "idefics3"])
def test_labels_are_scored_as_texts_or_by_their_tokens(scorers, variants, family):
    scorer = scorers[family, "text"]
    plain = Question("Which colour is the square?", ("A", "B"), prompt=COLOUR.prompt)
    expected = scorer.score(plain, variants).logits
    np.testing.assert_array_equal(scorer.score(COLOUR, variants).logits, expected)
    scorer = scorers[family, "letter"]
    rendered = scorer.prompt(COLOUR, 1)
    assert COLOUR.prompt in rendered
    tokens = scorer.letter_tokens(rendered, ("A", "B")).tolist()
    assert [scorer.chat.tokenizer.decode([token]).strip() for token in tokens] == ["A", "B"]
    # In the other order of labels, the scores change places.
    swapped = dataclasses.replace(COLOUR, labels=("B", "A"))
    both = scorer.score(COLOUR, variants).logits, scorer.score(swapped, variants).logits
    np.testing.assert_array_equal(both[0], both[1][:, ::-1])


def test_labels_of_several_tokens_are_refused_by_letter_scoring(scorers, variants, monkeypatch):
    scorer = scorers["llava", "letter"]
    monkeypatch.setattr(type(scorer.chat), "tokens_after", lambda self, prompt, answer: [1, 2])
    with pytest.raises(ModelError, match="the answers Yes and No are not one distinct token each"):
        scorer.score(FORM.asked(IS_IT), variants)


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
    ((scores, split),) = predict_units(scorer, COLOUR, [unit], Passes())
    assert scores.logits.shape == (1, 2) and np.isfinite(scores.logits).all() and not split
    assert "<image>" not in scorer.prompt(COLOUR, 0)
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
    with pytest.raises(NoTextOnlyError, match=r"no prompt without an image \(ValueError: images are need"):
        scorer.encode(Question("Is it?", ("a", "b")), [[]])
    with pytest.raises(ValueError, match="images are needed"):
        scorer.encode(Question("Is it?", ("a", "b")), [[np.zeros((8, 8, 3), dtype=np.uint8)]])

    # Nor is a full GPU, on which some models encode, the model's fault.
    def fill(self, prompt, variants):
        raise torch.OutOfMemoryError("full")

    monkeypatch.setattr(type(scorer.chat), "encode", fill)
    with pytest.raises(torch.OutOfMemoryError):
        scorer.encode(Question("Is it?", ("a", "b")), [[]])
