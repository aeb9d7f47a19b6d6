"""Score options by their letters over an SGLang server: by their tokens' log-probabilities in /generate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from benchc.models.protocol import ModelError
from benchc.models.question import Question, letter_prompt
from benchc.models.server.chat import Answered, data_url
from benchc.models.server.letter import ServedLetterScorer
from benchc.models.server.probe import PROBE, PROBE_IMAGE
from benchc.models.server.sglang import GENERATE, SglangChat, entries
from benchc.pixels import Pixels


@dataclass
class SglangLetterScorer(ServedLetterScorer):
    """A :class:`benchc.models.protocol.Scorer` whose logits are log-probabilities of the letters A, B, …"""

    chat: SglangChat
    path: ClassVar[str] = GENERATE
    if_missing: ClassVar[str] = "use SGLang 0.5.23 or later, or vLLM"

    @property
    def asked(self) -> str:
        return "token_ids_logprob"

    def request(
        self, question: Question, images: Sequence[Pixels], tokens: Sequence[int]
    ) -> dict[str, object]:
        urls = [data_url(image) for image in images]
        asked = {"token_ids_logprob": list(tokens), "logprob_start_len": -1}
        return self.chat.generate(letter_prompt(question), urls, None, **asked)

    def returned(self, answer: Answered) -> Mapping[int, object]:
        positions = self.chat.returned(answer, "output_token_ids_logprobs")
        first = positions[0] if isinstance(positions, list) and positions else None
        found = self.chat.by_token(entries(first))
        if not found:
            raise ModelError(f"{self.chat.model}: the server returns no log-probabilities; {self.if_missing}")
        return found


def probe_scorer(chat: SglangChat, scoring: str, top: int) -> SglangLetterScorer:
    """Return the scorer once the server has answered it; see :mod:`benchc.models.server.letter`."""
    chat.require_place_for_image()
    scorer = SglangLetterScorer(chat)
    scorer.score(PROBE, [[PROBE_IMAGE]])
    return scorer
