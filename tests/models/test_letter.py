"""Letters by hand; test_scoring.py compares them with models of transformers."""

from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.encoding import Encoded
from benchc.models.letter import LetterScorer
from benchc.models.protocol import ModelError
from benchc.models.question import Question
from tests.models import bigram
from tests.models.bigram import TABLE, BigramChat, ids


@pytest.mark.parametrize(("end", "letters"), [(" ", "ABC"), ("x", None)])
def test_scores_are_the_logits_of_the_letters_after_the_prompt(end, letters):
    chat: Any = BigramChat(shares_prompt=True)
    scorer = LetterScorer(chat)
    prompts = [f"which {variant}{end}" for variant in "ab"]
    rows = torch.tensor([ids(prompt) for prompt in prompts])
    encoded = Encoded(prompts[0], ((1, 1),), 2, {"input_ids": rows}, independent=True)
    question = Question("?", ("red", "green", "blue"))
    if letters is None:  # after a word, they begin with a blank, which is a token of its own here
        with pytest.raises(ModelError, match=r"^bigram: the letters A to C are not one distinct token each "):
            scorer.ask(question, encoded)
        return
    scores = scorer.ask(question, encoded)
    assert chat.calls == [(False, True)]
    expected = TABLE[ids(end)][:, ids(letters)].expand(2, -1)
    np.testing.assert_allclose(scores.logits, expected, rtol=1e-6)
    mass = TABLE[ids(end)].softmax(dim=-1)[0, ids(letters)].sum()
    assert scores.label_mass.tolist() == pytest.approx([float(mass)] * 2, rel=1e-5)
    assert scores.logits.dtype == scores.label_mass.dtype == np.float32
    assert scorer.identity() == {"model": "bigram", "scoring": "letter"}


def test_tokens_of_letters_are_kept_by_the_end_of_the_prompt_and_must_differ(monkeypatch):
    chat: Any = BigramChat(shares_prompt=True)
    scorer = LetterScorer(chat)
    first = scorer.letter_tokens("x" * 50 + " ", ("A", "B"))
    assert first.tolist() == ids("AB")
    assert scorer.letter_tokens("y" * 12 + "x" * 39 + " ", ("A", "B")) is first
    assert scorer.letter_tokens("y" * 12 + "x" * 38 + " ", ("A", "B")) is not first
    assert scorer.letter_tokens("x" * 50 + " ", ("B", "A")).tolist() == ids("BA")
    for tokens in ({"A": [1], "B": [1]}, {"A": [1], "B": [2, 3]}):
        monkeypatch.setattr(chat, "tokens_after", lambda _, answer, tokens=tokens: tokens[answer])
        with pytest.raises(ModelError, match="letters A to B are not one distinct token each"):
            LetterScorer(chat).letter_tokens("is it ", ("A", "B"))


def test_letters_that_are_all_of_the_probability_make_no_mass_over_one(monkeypatch):
    table, letters = torch.full(TABLE.shape, -100.0), "ABCDEFGH"
    table[:, ids(letters)] = TABLE[:, : len(letters)]
    monkeypatch.setattr(bigram, "TABLE", table)
    chat: Any = BigramChat(shares_prompt=True)
    # Of these prompts, some sums of two orders differ in the last bit.
    rows = torch.arange(len(table))[:, None]
    encoded = Encoded("is it ", ((1, 1),), len(rows), {"input_ids": rows}, independent=True)
    scores = LetterScorer(chat).ask(Question("?", tuple("stuvwxyz")), encoded)
    assert scores.label_mass.max() == 1.0 and scores.label_mass.min() > 0.99
