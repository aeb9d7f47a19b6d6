"""Likelihoods of texts by hand; test_scoring.py compares them with models of transformers."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.encoding import Encoded
from benchc.models.protocol import ModelError
from benchc.models.question import Question
from benchc.models.text import TextScorer
from tests.models.bigram import BigramChat, Cache, ids, log_likelihood

PROMPTS = ("which x", "which y")  # of two variants, whose images differ


def scored(options: tuple[str, ...], *, shared: bool, prompts: Any = PROMPTS, **how: bool) -> Any:
    chat: Any = BigramChat(shares_prompt=shared)
    scorer = TextScorer(chat, **how)
    scorer._cache = Cache  # type: ignore[method-assign]
    rows = torch.tensor([ids(prompt) for prompt in prompts])
    encoded = Encoded(prompts[0], ((1, 1),), len(prompts), {"input_ids": rows}, independent=True)
    return chat, scorer, scorer.ask(Question("?", options), encoded)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    "options", [("red", "b"), ("b", "green", "of"), ("r", "b")], ids=["two", "three lengths", "letters"]
)
@pytest.mark.parametrize("how", [{}, {"length_normalised": True}, {"length_normalised": True, "ended": True}])
def test_a_score_is_the_sum_or_mean_over_all_tokens_of_the_answer(shared, options, how):
    _, _, scores = scored(options, shared=shared, **how)
    answers = [f" {option}{'?' if how.get('ended') else ''}" for option in options]
    sums = np.array([[log_likelihood(prompt[-1], each) for each in answers] for prompt in PROMPTS])
    lengths = np.array([len(each) for each in answers]) if how else 1
    np.testing.assert_allclose(scores.logits, sums / lengths, rtol=1e-5)
    np.testing.assert_allclose(scores.label_mass, np.exp(sums).sum(axis=1), rtol=1e-4)
    assert scores.logits.dtype == scores.label_mass.dtype == np.float32


def test_one_token_needs_no_keys_and_values_and_the_longest_answer_all_its_positions_but_one():
    # After a blank, an option is its letter.
    chat, scorer, scores = scored(("r", "b"), shared=True, prompts=("is it ",))
    assert chat.calls == [("forgotten", False), (False, True)] and chat.positions == len("is it ")
    assert scores.logits[0].tolist() == pytest.approx([log_likelihood(" ", each) for each in "rb"], rel=1e-5)
    # The last token of an answer is not read.
    chat, scorer, _ = scored(("red", "b"), shared=True)
    assert chat.positions == len("which x red") - 1
    assert chat.calls == [("forgotten", False), (True, True), (None, False)]
    # Tokens are kept by the end of the prompt, and by the options.
    first = scorer._option_tokens("x" * 50 + "?", ("r",))
    assert scorer._option_tokens("y" * 12 + "x" * 39 + "?", ("r",)) is first
    assert scorer._option_tokens("y" * 12 + "x" * 38 + "?", ("r",)) is not first
    assert scorer._option_tokens("x" * 49 + " ", ("r",)) == [ids("r")]
    assert scorer._option_tokens("x" * 50 + "?", ("b",)) == [ids(" b")]


def test_probabilities_of_equal_options_make_no_mass_over_one():
    # Ten times the same text, of which the model is almost sure.
    best = max("abcdefgh", key=lambda letter: log_likelihood(" ", letter))
    *_, scores = scored((best,) * 26, shared=True, prompts=("is it ",))
    assert scores.label_mass.tolist() == [1.0]


@pytest.mark.parametrize(
    ("how", "name"),
    [({}, "text"), ({"length_normalised": True}, "text_mean"), ({"ended": True}, "text_vqascore")],
)
def test_the_identity_names_the_scoring(how, name):
    chat: Any = BigramChat(shares_prompt=True)
    assert TextScorer(chat, **how).identity() == {"model": "bigram", "scoring": name}


class Templated:
    """A processor whose template writes a text after each turn."""

    def __init__(self, written: str) -> None:
        self.written = written

    def apply_chat_template(self, turns: Any, *, tokenize: bool) -> Any:
        assert [turn["role"] for turn in turns] == ["user", "assistant"]
        text = "".join(turn["content"][0]["text"] + self.written for turn in turns)
        return ids(text) if tokenize else text


@pytest.mark.parametrize(
    ("written", "ends", "end"),
    [
        ("<|im_end|>\n<|end|>", (5, 3), 3),
        ("<|end|>\n<|im_end|>", (5, 3), 5),
        ("<|im_end|>", (5, None, 3), 3),
        ("", (None, 7), 7),  # the only one needs no template
        ("", (5, 3), None),
        ("<|im_end|>", (None,), None),
    ],
)
def test_of_several_end_tokens_the_first_after_an_answer_ends_it(written, ends, end):
    names = {5: "<|end|>", 3: "<|im_end|>"}
    chat: Any = BigramChat(shares_prompt=True)
    chat.end_tokens, chat.processor = ends, Templated(written)
    chat.tokenizer = SimpleNamespace(convert_ids_to_tokens=names.get)
    for generates in (True, False):
        chat.generates = generates
        scorer = TextScorer(chat, length_normalised=True, ended=True)
        if end is not None and generates:
            assert scorer._end_token == end
        else:
            with pytest.raises(ModelError, match=r"^bigram: the token that ends an answer is not known, w"):
                _ = scorer._end_token
