"""Score options by their letters over a server: their log-probabilities at the answer's first position."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from benchc.models.protocol import ModelError, OptionScores, require_options
from benchc.models.question import Question, in_words, letter_prompt
from benchc.models.server.chat import (
    CHAT,
    TOLERANCE,
    Answered,
    ServedChat,
    continuing,
    data_url,
)
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.pixels import Pixels

TOKEN = re.compile(r"token_id:(\d+)")


@dataclass
class ServedLetterScorer:
    """A :class:`benchc.models.protocol.Scorer` whose logits are log-probabilities of the letters A, B, …

    ``top``: None where the server returns those of given tokens (``logprob_token_ids``), else the number of
    most probable tokens to ask for (``top_logprobs``).
    """

    chat: ServedChat
    top: int | None = None
    _tokens: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    path: ClassVar[str] = CHAT
    if_missing: ClassVar[str] = (
        "raise the server's --max-logprobs and `top_logprobs`, or use vLLM with logprob_token_ids (0.26 or "
        "later)"
    )

    @property
    def asked(self) -> str:
        """What the server is asked for."""
        return "logprob_token_ids" if self.top is None else "top_logprobs"

    def identity(self) -> dict[str, str]:
        return {**self.chat.facts, "scoring": "letter", "asked": self.asked}

    def prompt(self, question: Question, images: int) -> str:
        require_options(question)
        return self.chat.prompt_text(letter_prompt(question), images)

    def score(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> OptionScores:
        require_options(question)
        tokens = self.letter_tokens(question)
        bodies = [self.request(question, images, tokens) for images in variants]
        answers = self.chat.client.post_all(self.path, bodies)
        letters = question.letters
        logits = np.array([self._scores(answer, letters, tokens) for answer in answers])  # [V, K]
        mass = np.exp(logits).sum(axis=1)
        if mass.max() > 1 + TOLERANCE:
            raise ModelError(
                f"{self.chat.model}: the server's probabilities of the {in_words(letters)} "
                f"add up to {mass.max():.4g}, but should to at most 1; start vLLM "
                "without --logprobs-mode"
            )
        return OptionScores(logits.astype(np.float32), mass.clip(max=1.0).astype(np.float32))

    def letter_tokens(self, question: Question) -> list[int]:
        """Return the token of each option's letter after the prompt, K different ones.

        Raises ModelError unless each letter is exactly one token and no two letters have the same.
        """
        letters = question.letters
        if letters not in self._tokens:  # every prompt with these ends in the same text
            added = self.chat.tokens_after(letter_prompt(question), letters)
            tokens = [tokens[0] for tokens in added]
            if any(len(tokens) != 1 for tokens in added) or len(set(tokens)) < len(letters):
                raise ModelError(
                    f"{self.chat.model}: the {in_words(letters)} are not one distinct token "
                    "each after the server's chat prompt; use `scoring: text` for this model"
                )
            self._tokens[letters] = tokens
        return self._tokens[letters]

    def request(
        self, question: Question, images: Sequence[Pixels], tokens: Sequence[int]
    ) -> dict[str, object]:
        """Return the request for the log-probabilities of ``tokens`` after one variant's prompt."""
        asked: dict[str, object] = (
            {"logprob_token_ids": list(tokens)} if self.top is None else {"top_logprobs": self.top}
        )
        content = self.chat.messages(letter_prompt(question), [data_url(image) for image in images])
        named = {"logprobs": True, "return_tokens_as_token_ids": True}
        return self.chat.request(content, **named, **asked, **continuing(None))

    def _scores(self, answer: Answered, letters: Sequence[str], tokens: Sequence[int]) -> list[float]:
        found = self.returned(answer)
        scores = []
        for letter, token in zip(letters, tokens, strict=True):
            if token not in found:
                raise ModelError(
                    f"{self.chat.model}: the letter {letter} is not among the {len(found)} tokens whose "
                    f"log-probabilities the server returns; {self.if_missing}"
                )
            scores.append(self.chat.log_probability(found[token], f"the letter {letter}"))
        return scores

    def returned(self, answer: Answered) -> Mapping[int, object]:
        """Return the log-probabilities of an answer by token id; raises ModelError where it has none."""
        content = self.chat.content(answer, "the request")
        try:
            first: dict[str, Any] = content["choices"][0]["logprobs"]["content"][0]
            # The sampled token need not be among the others.
            entries = [
                (TOKEN.fullmatch(str(entry["token"])), entry["logprob"])
                for entry in [first, *(first["top_logprobs"] or ())]
            ]
            found = [(int(name[1]), value) for name, value in entries if name]
        except (LookupError, TypeError, ValueError) as error:
            raise ModelError(
                f"{self.chat.model}: the server returns no log-probabilities; use a server that supports "
                "`logprobs` of chat completions, such as vLLM"
            ) from error
        if len(found) < len(entries):
            raise ModelError(
                f"{self.chat.model}: the server does not name tokens by their ids "
                "(return_tokens_as_token_ids), so that letters cannot be told from other tokens; use vLLM"
            )
        return self.chat.by_token(found)


def probe_scorer(chat: ServedChat, scoring: str, top: int) -> ServedLetterScorer:
    """Return the scorer by what the server returns to a first request of each kind.

    Args:
        chat: the model.
        scoring: letter.
        top: number of most probable tokens to ask for, where the server refuses to return given ones.

    Raises ModelError where the server refuses both.
    """
    scorer = ServedLetterScorer(chat)
    tokens = scorer.letter_tokens(PROBE)
    answer = chat.client.post(CHAT, scorer.request(PROBE, [PROBE_IMAGE], tokens))
    # Servers ignore settings that they do not know.
    if answer.ok and set(tokens) <= scorer.returned(answer).keys():
        return scorer
    fallback = ServedLetterScorer(chat, top)
    other = chat.client.post(CHAT, fallback.request(PROBE, [PROBE_IMAGE], tokens))
    if not other.ok:
        if "logprob" not in other.shown():
            raise ModelError(chat.refused_image(other))
        reason = "" if answer.ok else f", nor logprob_token_ids ({answer.shown()})"
        raise ModelError(
            f"{chat.model}: the server does not return the {top} largest log-probabilities ({other.shown()})"
            f"{reason}; start vLLM with --max-logprobs {top} or more, or lower `top_logprobs`"
        )
    fallback.returned(other)
    return fallback
