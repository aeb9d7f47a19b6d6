"""Score options by their letters: the logit of each letter at the first position of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from benchc.models.chat import ChatInterface
from benchc.models.encoding import Encoded
from benchc.models.local import Numbers
from benchc.models.protocol import ModelError, OptionScores, require_options
from benchc.models.question import Question, end_of, in_words, letter_prompt
from benchc.pixels import Pixels


@dataclass
class LetterScorer(ChatInterface):
    """A :class:`benchc.models.protocol.Scorer` whose logits are those of the options' letters A, B, …"""

    _tokens: dict[tuple[str, tuple[str, ...]], torch.Tensor] = field(default_factory=dict)

    def identity(self) -> dict[str, str]:
        return {**self.chat.facts(), "scoring": "letter"}

    def prompt(self, question: Question, images: int) -> str:
        require_options(question)
        return self.chat.render(letter_prompt(question), images)

    def score(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> OptionScores:
        return self.ask(question, self.encode(question, variants))

    def numbers(self, question: Question, encoded: Encoded) -> Numbers:
        return self.ask(question, encoded).logits

    @torch.inference_mode()
    def ask(self, question: Question, encoded: Encoded) -> OptionScores:
        tokens = self.letter_tokens(encoded.prompt, question.letters)
        with self.chat.head() as head:
            head.tokens = tokens
            inputs = {**self.chat.on_device(encoded.inputs), "use_cache": False}
            output = self.chat.forward(inputs, last_only=True)
        vocabulary = output.logits[:, -1].float()
        logits = vocabulary[:, tokens]  # [V, K]
        mass = (logits.logsumexp(dim=-1) - vocabulary.logsumexp(dim=-1)).exp().clamp(max=1.0)
        return OptionScores(_to_numpy(logits), _to_numpy(mass))

    def letter_tokens(self, rendered: str, letters: tuple[str, ...]) -> torch.Tensor:
        """Return the token of each of K letters, or other labels of options, after the prompt, int64[K].

        Raises ModelError unless each letter is exactly one token and no two letters have the same.
        """
        key = (rendered[-40:], letters)
        if key not in self._tokens:
            separator = self.chat.separator(rendered)
            added = [self.chat.tokens_after(rendered, separator + letter) for letter in letters]
            tokens = [tokens[0] for tokens in added]
            if any(len(tokens) != 1 for tokens in added) or len(set(tokens)) < len(letters):
                raise ModelError(
                    f"{self.chat.name}: the {in_words(letters)} are not one distinct token "
                    f"each after a prompt that ends in {end_of(rendered)!r}; use `scoring: text` for this "
                    "model"
                )
            self._tokens[key] = torch.tensor(tokens, device=self.chat.model.device)
        return self._tokens[key]


def _to_numpy(tensor: torch.Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return tensor.float().cpu().numpy()
