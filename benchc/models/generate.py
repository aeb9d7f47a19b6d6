"""Let a model answer in its own words, greedily."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from benchc.models.chat import ChatInterface
from benchc.models.encoding import Encoded
from benchc.models.generation import Generation
from benchc.models.local import Numbers
from benchc.models.protocol import ModelError, Reply
from benchc.models.question import Question, bare_prompt
from benchc.pixels import Pixels


@dataclass
class Generator(ChatInterface):
    """A :class:`benchc.models.protocol.Generative` model of transformers.

    Decoding is greedy, unless the model's class searches otherwise, with the other settings of the
    checkpoint's generation_config.json, such as a repetition penalty.
    """

    generation: Generation

    def identity(self) -> dict[str, str]:
        """Return all that decides a reply besides prompt and pixels."""
        settings = self.chat.decoder.generation_config.to_json_string(ignore_metadata=True)
        return {
            **self.chat.facts(),
            "scoring": "generate",
            "max_new_tokens": str(self.generation.max_new_tokens),
            "generation_config": hashlib.blake2b(settings.encode(), digest_size=16).hexdigest(),
        }

    def prompt(self, question: Question, images: int) -> str:
        text = self.generation.prompt(question) if self.chat.has_template else bare_prompt(question)
        return self.chat.render(text, images)

    def replies(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> list[Reply]:
        return self.ask(question, self.encode(question, variants))

    def numbers(self, question: Question, encoded: Encoded) -> Numbers:
        """Return the logits of the first step [V, vocabulary]; of a beam search, those of all beams."""
        steps: list[torch.Tensor] = []
        head = self.chat.decoder.get_output_embeddings()
        hook = head.register_forward_hook(lambda _, __, logits: steps.append(logits[:, -1]))
        try:
            replace(self, generation=replace(self.generation, max_new_tokens=1)).ask(question, encoded)
        finally:
            hook.remove()
        first: Numbers = steps[0].float().reshape(encoded.rows, -1).cpu().numpy()
        return first

    @torch.inference_mode()
    def ask(self, question: Question, encoded: Encoded) -> list[Reply]:
        """Return the answer under each variant of the question's images, generated as one batch.

        An answer ends at the model's context, with ``finish`` length. Raises ModelError where a logit is NaN,
        and where the prompt fills the context.
        """
        inputs = self.chat.on_device(encoded.inputs)
        before, context = self.chat.before_answer(inputs), self.chat.context()
        self.chat.require_context(before + 1)
        # Beyond its context, a model writes what it never learned.
        most = self.generation.max_new_tokens
        if context is not None:
            most = min(most, context - before)
        # A logits processor would do, but Janus' own `generate` ignores those that it is given.
        hook = self.chat.decoder.get_output_embeddings().register_forward_hook(self._refuse_nan)
        try:
            tokens = self.chat.answer_tokens(self._generated(inputs, most), inputs)
        finally:
            hook.remove()
        if tokens.shape[1] > most:
            raise ModelError(
                f"{self.chat.name}: `generate` of {type(self.chat.model).__name__} returns {tokens.shape[1]} "
                f"tokens where at most {most} are allowed; ask the model over a server (docs/models.md)"
            )
        return [self._reply(row) for row in tokens.tolist()]

    def _refuse_nan(self, _: torch.nn.Module, __: Any, logits: torch.Tensor) -> None:
        if logits[:, -1].isnan().any():
            raise ModelError(
                f"{self.chat.name}: a logit of an answer is NaN; set `dtype: float32` (float16 overflows) in "
                "the model catalogue, or check the model's weights"
            )

    def _generated(self, inputs: Mapping[str, Any], most: int) -> Any:
        """Return what `generate` of transformers makes of the input, int64[rows, tokens]."""
        return self.chat.model.generate(
            **inputs,
            **self.chat.search(most),
            do_sample=False,
            # A checkpoint's own limits and forms of output are not those of an answer here.
            max_time=None,
            stop_strings=None,
            num_return_sequences=1,
            return_dict_in_generate=False,
        )

    def _reply(self, tokens: list[int]) -> Reply:
        ends = self.chat.end_tokens
        count = next((place + 1 for place, token in enumerate(tokens) if token in ends), None)
        kept = tokens if count is None else tokens[:count]
        text = self.chat.tokenizer.decode(kept, skip_special_tokens=True).strip()
        return Reply(text, "length" if count is None else "stop", len(kept))
