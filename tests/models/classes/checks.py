"""What is checked of every class. A check fails by an assertion, or where the product refuses the class."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.predict import Passes, answer_units, predict, predict_units
from benchc.models.predictor import Predictor
from benchc.models.protocol import ModelError, OptionScores, Scorer, UnitInput
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.pixels import Pixels
from tests.models.classes.builders import Loaded
from tests.models.classes.common import QUESTIONS, variants
from tests.models.classes.plain import with_bos

TOLERANCE = 1e-4
STEPS = 4  # tokens of an answer


def asked(scorer: Scorer, question: Question, variants: Sequence[Sequence[Pixels]]) -> OptionScores:
    """Return the scores as a job computes them."""
    return predict(scorer, question, variants)[0]


def prompt(tested: Loaded) -> None:
    """The model reads what transformers makes of the message, whether template or tokenizer writes BOS."""
    chat, question = tested.letter.chat, QUESTIONS[0]
    # A prompt of a family begins with no BOS token.
    templates = (True, False) if tested.plain.written is None else (False,)
    for by_template, by_tokenizer in product(templates, (True, False)):
        written = with_bos(chat.processor, by_template=by_template, by_tokenizer=by_tokenizer)
        asked = LetterScorer(replace(chat, processor=written, _rendered={}))
        plain = tested.plain.with_bos(by_template=by_template, by_tokenizer=by_tokenizer)
        for number in chat.numbers_of_images or (1, 2):
            images = variants(number)[0]
            found = asked.encode(question, [images]).inputs
            expected = plain.inputs(_letter_prompt(question), images)
            for name, value in found.items():
                assert torch.equal(value, expected[name]), (by_template, by_tokenizer, name)
            assert expected.keys() - found.keys() <= {"labels"}


def letters(tested: Loaded) -> None:
    """Each letter, or label, is one token, which is that letter."""
    scorer = tested.letter
    for question in QUESTIONS:
        tokens = scorer.letter_tokens(scorer.prompt(question, 1), question.letters)
        assert [[token] for token in tokens.tolist()] == list(map(tested.plain.tokens, question.letters))


def first_step(tested: Loaded) -> None:
    """The logits are those of the first step of generation: of each question, for one of the variants."""
    for row, question in enumerate(QUESTIONS):
        scores = asked(tested.letter, question, variants())
        tokens = [tested.plain.tokens(letter)[0] for letter in question.letters]
        logits = tested.plain.first_logits(_letter_prompt(question), variants()[row])
        _close(scores.logits[row], logits[tokens])
        mass = logits.softmax(-1)[tokens].sum().item()
        assert scores.label_mass[row] == pytest.approx(mass, abs=1e-5)


def batch(tested: Loaded) -> None:
    """Severities together give what each gives alone, and the image matters."""
    for scorer, question in ((tested.letter, QUESTIONS[0]), (tested.text, QUESTIONS[1])):
        together = asked(scorer, question, variants()).logits
        alone = [asked(scorer, question, [images]).logits[0] for images in variants()]
        _close(together, np.stack(alone))
        assert np.abs(together[0] - together[1]).max() > TOLERANCE


def images(tested: Loaded) -> None:
    """Each of two images matters, and so does their order where the class can tell it."""
    first, second = variants(2)[0]
    other = variants(2)[1][0]
    pairs = [[first, second], [first, other], [other, second], [second, first]]
    logits = asked(tested.letter, QUESTIONS[0], pairs).logits
    # Cross attention has no positions, so that it cannot tell the order.
    ordered = not tested.class_name.startswith("Mllama")
    for row in (1, 2, 3) if ordered else (1, 2):
        assert np.abs(logits[0] - logits[row]).max() > TOLERANCE
    _close(logits[2], asked(tested.letter, QUESTIONS[0], [pairs[2]]).logits[0])


def text(tested: Loaded) -> None:
    """Log-likelihoods of texts are those of a generation that is allowed their tokens alone.

    Each text is checked for one of the variants.
    """
    for question in QUESTIONS:
        scores = asked(tested.text, question, variants())
        for k, option in enumerate(question.options):
            row = k % len(variants())
            expected = tested.plain.log_likelihood(_text_prompt(question), variants()[row], option)
            _close(scores.logits[row, k], expected)


def answer(tested: Loaded) -> None:
    """Answers are those of `generate`, one item at a time."""
    one_by_one = tested.letter.one_by_one
    generator = Generator(tested.letter.chat, Generation(STEPS), one_by_one=one_by_one)
    question = QUESTIONS[0]
    [(replies, _)] = answer_units(generator, question, [UnitInput(variants())], Passes())
    expected = [tested.plain.answer(_letter_prompt(question), images, STEPS) for images in variants()]
    assert [(reply.text, reply.tokens) for reply in replies] == expected


def nan(tested: Loaded) -> None:
    """A model with NaN weights is refused."""
    weight = tested.letter.chat.model.get_output_embeddings().weight
    kept = weight.detach().clone()
    unit = Unit("s/1", "fog", [1, 2, 3], variants(), 1)
    with TemporaryDirectory() as folder, PredictionCache(Path(folder), {"model": "x"}, "a") as cache:
        with torch.no_grad():
            weight.fill_(float("nan"))
        try:
            with pytest.raises(ModelError, match="which must be finite"):
                compute = partial(predict_units, passes=Passes())
                Predictor(tested.letter, cache, compute).ask(QUESTIONS[0], [unit])
        finally:
            with torch.no_grad():
                weight.copy_(kept)


def no_image(tested: Loaded) -> None:
    """Without an image, also after one with, scores are those of generation from the question alone."""
    question, found = QUESTIONS[0], []
    for images in (variants()[:1], variants()):
        asked(tested.text, question, images)
        found += [asked(scorer, question, [[]]).logits[0] for scorer in (tested.letter, tested.text)]
    tokens = [tested.plain.tokens(letter)[0] for letter in question.letters]
    logits = tested.plain.first_logits(_letter_prompt(question), [])[tokens]
    texts = [tested.plain.log_likelihood(_text_prompt(question), [], option) for option in question.options]
    for each, expected in zip(found, [logits, texts] * 2, strict=True):
        _close(each, expected)


CHECKS = {
    "prompt": prompt,
    "letters": letters,
    "first step": first_step,
    "batch": batch,
    "two images": images,
    "text": text,
    "answer": answer,
    "NaN": nan,
    "no image": no_image,
}


def outcome(tested: Loaded, check: str) -> str | None:
    """Return why the product refuses what is checked; None where the check is passed."""
    try:
        CHECKS[check](tested)
    except ModelError as error:
        return str(error).removeprefix(f"{tested.letter.chat.name}: ")
    return None


# The prompts as VLMEvalKit and VQAScore write them.
def _letter_prompt(question: Question) -> str:
    if question.prompt is not None:
        return question.prompt
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    options = "".join(f"{letter}. {text}\n" for letter, text in zip("ABCD", question.options, strict=False))
    return (
        f"{hint}Question: {question.question}\nOptions:\n{options}"
        "Please select the correct answer from the options above. \n"
    )


def _text_prompt(question: Question) -> str:
    if question.prompt is not None:
        return question.prompt
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    return f"{hint}Question: {question.question}"


def _close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), atol=TOLERANCE, rtol=2e-5)
