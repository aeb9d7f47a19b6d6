"""What is checked of every class. A check fails by an assertion, or where the product refuses the class."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.predict import Passes, predict_units
from benchc.models.predictor import Predictor
from benchc.models.protocol import ModelError
from benchc.models.units import Unit
from benchc.pixels import Pixels
from tests.models.classes.builders import Loaded
from tests.models.classes.common import QUESTIONS

TOLERANCE = 1e-4


def variants(images: int = 1) -> list[list[Pixels]]:
    """Return three variants of some images."""
    rng = np.random.default_rng(3)
    return [[rng.integers(0, 256, (40, 56, 3), dtype=np.uint8) for _ in range(images)] for _ in range(3)]


def letters(tested: Loaded) -> None:
    """Each letter is one token, which is that letter."""
    scorer = tested.letter
    for question in QUESTIONS:
        tokens = scorer.letter_tokens(scorer.prompt(question, 1), question.letters)
        assert [scorer.chat.tokenizer.decode([token]).strip() for token in tokens.tolist()] == list(
            "ABCD"[: len(question.options)]
        )


def first_step(tested: Loaded) -> None:
    """The logits are those of the first step of generation."""
    scorer = tested.letter
    for question in QUESTIONS:
        rendered = scorer.prompt(question, 1)
        tokens = scorer.letter_tokens(rendered, question.letters)
        scores = scorer.score(question, variants())
        for row, images in enumerate(variants()):
            generated = scorer.chat.model.generate(
                **scorer.chat.encode(rendered, [images]),
                max_new_tokens=1,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
            ).logits[0][0]
            _close(scores.logits[row], generated[tokens])
            mass = generated.softmax(-1)[tokens].sum().item()
            assert scores.label_mass[row] == pytest.approx(mass, abs=1e-5)


def batch(tested: Loaded) -> None:
    """Severities together give what each gives alone, and the image matters."""
    for scorer in (tested.letter, tested.text):
        for question in QUESTIONS:
            together = scorer.score(question, variants()).logits
            alone = [scorer.score(question, [images]).logits[0] for images in variants()]
            _close(together, np.stack(alone))
            assert np.abs(together[0] - together[1]).max() > TOLERANCE


def images(tested: Loaded) -> None:
    """Each of two images matters, and so does their order where the class can tell it."""
    first, second = variants(2)[0]
    other = variants(2)[1][0]
    pairs = [[first, second], [first, other], [other, second], [second, first]]
    logits = tested.letter.score(QUESTIONS[0], pairs).logits
    # Cross attention has no positions, so that it cannot tell the order.
    ordered = not tested.class_name.startswith("Mllama")
    for row in (1, 2, 3) if ordered else (1, 2):
        assert np.abs(logits[0] - logits[row]).max() > TOLERANCE
    _close(logits[2], tested.letter.score(QUESTIONS[0], [pairs[2]]).logits[0])


def text(tested: Loaded) -> None:
    """Log-likelihoods of texts are those of one pass over prompt and text."""
    scorer = tested.text
    for question in QUESTIONS:
        scores = scorer.score(question, variants())
        rendered = scorer.prompt(question, 1)
        separator = "" if rendered[-1].isspace() else " "
        for k, option in enumerate(question.options):
            answer = scorer.chat.tokens_after(rendered, separator + option)
            whole = _followed(scorer.chat.encode(rendered, variants()), answer, tested.class_name)
            with torch.no_grad():
                logs = scorer.chat.model(**whole).logits[:, -len(answer) - 1 : -1].log_softmax(-1)
            targets = torch.tensor(answer).expand(len(logs), -1)[..., None]
            _close(scores.logits[:, k], logs.gather(-1, targets).sum((1, 2)))


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
    """Without an image, the logits are those of the first step of generation from the question alone."""
    scorer = tested.letter
    question = QUESTIONS[0]
    scores = scorer.score(question, [[]])
    rendered = scorer.prompt(question, 0)
    inputs = scorer.chat.processor(text=[rendered], return_tensors="pt")
    tokenized = scorer.chat.tokenizer(rendered)["input_ids"]
    assert inputs["input_ids"][0].tolist()[-len(tokenized) :] == tokenized
    with torch.no_grad():
        logits = scorer.chat.model(input_ids=inputs["input_ids"]).logits[0, -1]
    _close(scores.logits[0], logits[scorer.letter_tokens(rendered, question.letters)])


CHECKS = {
    "letters": letters,
    "first step": first_step,
    "batch": batch,
    "two images": images,
    "text": text,
    "NaN": nan,
    "no image": no_image,
}


def outcome(tested: Loaded, check: str) -> str | None:
    """Return why the product refuses what is checked; None where the check is passed."""
    try:
        CHECKS[check](tested)
    except ModelError as error:
        return str(error)
    return None


def _followed(inputs: dict[str, Any], answer: list[int], class_name: str) -> dict[str, Any]:
    """Return a model's input with the tokens of an answer after every row."""
    rows, length = inputs["input_ids"].shape
    fill = {"input_ids": torch.tensor(answer), "attention_mask": torch.ones(len(answer), dtype=torch.int64)}
    if class_name.startswith("PaliGemma"):
        # Its prompt's tokens see each other; those of type 1 only see what is before them.
        fill["token_type_ids"] = fill["attention_mask"]
    none = torch.zeros(len(answer), dtype=torch.int64)
    if "cross_attention_mask" in inputs:  # [rows, positions, images, tiles]
        mask = inputs["cross_attention_mask"]
        added = mask[:, -1:].repeat(1, len(answer), 1, 1)
        inputs = {**inputs, "cross_attention_mask": torch.cat([mask, added], dim=1)}
    return {
        name: torch.cat([value, fill.get(name, none).expand(rows, -1)], dim=1)
        if value.shape == (rows, length)
        else value
        for name, value in inputs.items()
    }


def _close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), atol=TOLERANCE, rtol=0)
