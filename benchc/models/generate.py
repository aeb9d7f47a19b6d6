"""Let a model answer in its own words, greedily."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch

from benchc.models.chat import ChatModel
from benchc.models.protocol import ModelError
from benchc.models.question import Question, letter_prompt, open_prompt
from benchc.pixels import Pixels


class Reply(NamedTuple):
    """A generated answer."""

    text: str  # without special tokens
    finish: Literal["stop", "length"]  # the model ended it, or it has the most tokens allowed
    tokens: int  # generated ones; the one that ends the answer counts


@dataclass
class Generator:
    """A loaded model that generates answers.

    Decoding is greedy, with the other settings of the checkpoint's generation_config.json, such as a
    repetition penalty. ``instruction`` follows the text of an open-ended question, on a line of its own.
    """

    chat: ChatModel
    max_new_tokens: int
    instruction: str = ""

    def identity(self) -> dict[str, str]:
        """Return all that decides a reply besides prompt and pixels."""
        settings = self.chat.model.generation_config.to_json_string(ignore_metadata=True)
        return {
            **self.chat.facts(),
            "scoring": "generate",
            "max_new_tokens": str(self.max_new_tokens),
            "generation_config": hashlib.blake2b(settings.encode(), digest_size=16).hexdigest(),
        }

    def prompt(self, question: Question, images: int) -> str:
        """Return the rendered prompt: that of letters if the question has options."""
        text = letter_prompt(question) if question.options else open_prompt(question, self.instruction)
        return self.chat.render(text, images)

    @torch.inference_mode()
    def replies(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> list[Reply]:
        """Return the answer under each variant of the question's images, generated as one batch.

        All variants must have the same number of images of the same sizes, so that no row needs padding.
        Raises ModelError where a logit is NaN.
        """
        inputs = self.chat.encode(self.prompt(question, len(variants[0])), variants)
        steps = _FiniteSteps(self.chat.name)
        tokens = self.chat.model.generate(
            **inputs,
            max_new_tokens=self.max_new_tokens,
            do_sample=False,
            num_beams=1,
            # Settings of sampling mean nothing here, and transformers warns of them.
            temperature=None,
            top_p=None,
            top_k=None,
            logits_processor=[steps],
        )
        return [self._reply(row) for row in tokens[:, -steps.count :].tolist()]

    def _reply(self, tokens: list[int]) -> Reply:
        configured = self.chat.model.generation_config.eos_token_id
        ends = configured if isinstance(configured, list) else [configured]
        count = next((place + 1 for place, token in enumerate(tokens) if token in ends), None)
        kept = tokens if count is None else tokens[:count]
        text = self.chat.tokenizer.decode(kept, skip_special_tokens=True).strip()
        return Reply(text, "length" if count is None else "stop", len(kept))


@dataclass
class _FiniteSteps:
    """A logits processor that counts the generated tokens and changes nothing."""

    model: str
    count: int = 0

    def __call__(self, _: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if scores.isnan().any():
            raise ModelError(
                f"{self.model}: a logit of an answer is NaN; set `dtype: float32` (float16 overflows) in the "
                "model catalogue, or check the model's weights"
            )
        self.count += 1
        return scores
