"""Score options over a server by the log-likelihood of their texts as the answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchc.models.protocol import ModelError, OptionScores, require_options
from benchc.models.question import Question, text_prompt
from benchc.models.server.chat import CHAT, Answered, ServedChat, continuing, data_url
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.pixels import Pixels


@dataclass
class ServedTextScorer:
    """A :class:`benchc.models.protocol.Scorer` whose logits are log-likelihoods of the options' texts.

    They are summed over a text's tokens, or averaged if ``length_normalised``. Each option of each variant is
    one request for the log-probabilities of a prompt that ends in the option's text.
    """

    chat: ServedChat
    length_normalised: bool = False
    path: ClassVar[str] = CHAT
    asked: ClassVar[str] = "prompt_logprobs"

    def identity(self) -> dict[str, str]:
        scoring = "text_mean" if self.length_normalised else "text"
        return {**self.chat.facts, "scoring": scoring, "asked": self.asked}

    def prompt(self, question: Question, images: int) -> str:
        require_options(question)
        return self.chat.prompt_text(text_prompt(question), images)

    def score(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> OptionScores:
        require_options(question)
        text = text_prompt(question)
        texts = question.texts
        tokens = self.chat.tokens_after(text, texts)
        urls = [[data_url(image) for image in images] for images in variants]
        bodies = [self.request(text, images, option) for images in urls for option in texts]
        answers = self.chat.client.post_all(self.path, bodies)
        sums = [
            self._log_likelihood(answer, tokens[place % len(tokens)], texts[place % len(tokens)])
            for place, answer in enumerate(answers)
        ]
        total = np.array(sums).reshape(len(variants), len(tokens))
        mass = np.exp(total).sum(axis=1).clip(max=1.0)
        lengths = np.array([len(option) for option in tokens])
        logits = total / lengths if self.length_normalised else total
        return OptionScores(logits.astype(np.float32), mass.astype(np.float32))

    def request(self, text: str, images: Sequence[str], option: str) -> dict[str, object]:
        """Return the request for the log-probabilities of one variant's prompt with one option's text."""
        content = self.chat.messages(text, images, option)
        return self.chat.request(content, prompt_logprobs=1, **continuing(option))

    def _log_likelihood(self, answer: Answered, tokens: Sequence[int], option: str) -> float:
        """Return the sum of the log-probabilities of the prompt's last tokens, which are the option's."""
        positions = self.positions(answer)
        if positions is None or len(positions) < len(tokens):
            raise ModelError(
                f"{self.chat.model}: the server returns no log-probabilities of the prompt ({self.asked})"
                "; use `scoring: letter`, or vLLM"
            )
        total = 0.0
        for position, token in zip(positions[-len(tokens) :], tokens, strict=True):
            if token not in position:
                raise ModelError(
                    f"{self.chat.model}: the log-probabilities of the server's prompt do not end in the "
                    f"tokens of the option {option!r}; use `scoring: letter`"
                )
            total += self.chat.log_probability(position[token], f"the option {option!r}")
        return total

    def positions(self, answer: Answered) -> list[Mapping[int, object]] | None:
        """Return the log-probabilities at each position of the prompt by token id; None without them."""
        found = self.chat.content(answer, "the request").get("prompt_logprobs")
        return [_by_token(position) for position in found] if isinstance(found, list) else None


def _by_token(position: object) -> dict[int, object]:
    try:
        return {int(token): entry["logprob"] for token, entry in position.items()}  # type: ignore[attr-defined]
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
        return {}


def probe_scorer(chat: ServedChat, scoring: str, top: int) -> ServedTextScorer:
    """Return the scorer once the server has answered it.

    ``scoring``: text or text_mean; ``top`` is not needed. Raises ModelError where the server cannot score.
    """
    chat.require_answer_after_prompt()
    scorer = ServedTextScorer(chat, length_normalised=scoring == "text_mean")
    image = data_url(PROBE_IMAGE)
    answer = chat.client.post(CHAT, scorer.request(text_prompt(PROBE), [image], PROBE.options[0]))
    if not answer.ok and "logprob" in answer.shown():
        raise ModelError(
            f"{chat.model}: the server returns no log-probabilities of the prompt ({answer.shown()}); use "
            "`scoring: letter`, or vLLM"
        )
    if not answer.ok:
        raise ModelError(chat.refused_image(answer))
    scorer.score(PROBE, [[PROBE_IMAGE]])
    return scorer
