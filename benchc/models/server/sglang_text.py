"""Score options over an SGLang server by the log-likelihood of their texts, as /generate returns it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchc.models.server.chat import Answered
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.models.server.sglang import GENERATE, SglangChat, entries
from benchc.models.server.text import ServedTextScorer


@dataclass
class SglangTextScorer(ServedTextScorer):
    """A :class:`benchc.models.protocol.Scorer` whose logits are log-likelihoods of the options' texts."""

    chat: SglangChat
    path: ClassVar[str] = GENERATE
    asked: ClassVar[str] = "input_token_logprobs"

    def request(self, text: str, images: Sequence[str], option: str) -> dict[str, object]:
        return self.chat.generate(text, images, option, logprob_start_len=0)

    def positions(self, answer: Answered) -> list[Mapping[int, object]] | None:
        found = self.chat.returned(answer, self.asked)
        return [dict(entries([entry])) for entry in found] if isinstance(found, list) else None


def probe_scorer(chat: SglangChat, scoring: str, top: int) -> SglangTextScorer:
    """Return the scorer once the server has answered it; see :mod:`benchc.models.server.text`."""
    chat.require_place_for_image()
    chat.require_answer_after_prompt()
    scorer = SglangTextScorer(chat, length_normalised=scoring == "text_mean")
    scorer.score(PROBE, [[PROBE_IMAGE]])
    return scorer
