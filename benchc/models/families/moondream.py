"""Moondream2, revision 2025-01-09: remote code of its checkpoint.

open-compass/VLMEvalKit at e8e78f05f3080fe28154f2130321f17951c3be94, vlmeval/vlm/moondream.py, calls
``model.query`` with the result of ``encode_image``. What they do, in vikhyat/moondream at
87fc02e598291bcf4edeab0995b510b4ceb300e2, clients/python/moondream/torch/moondream.py::

    image = self.encode_image(image)    # keys and values of the image, and their number, pos
    prompt_tokens = torch.tensor([templates["query"]["prefix"] + tokenizer.encode(question).ids
                                  + templates["query"]["suffix"]])
    kv_cache = image.kv_cache.clone()
    logits, hidden, next_token, pos = self._prefill_prompt(kv_cache, prompt_tokens, image.pos)

``_prefill_prompt`` returns the logits of the last position alone and the hidden states before the last
norm; the norm ``text.post_ln`` and the head ``text.lm_head`` are applied here as ``lm_head`` of text.py
there does, to all positions. The code of the revision itself was not found, and later commits differ: a
revision whose ``_prefill_prompt`` takes other arguments is refused. The model takes one image. It loads
its tokenizer from revision 2024-08-26 of its own repository, which the commit does not pin; the identity
has a digest of it.

vLLM registers the class name, HfMoondream, for Moondream3: do not serve Moondream2 with it.
"""

import hashlib
from typing import Any

import torch
from PIL import Image

from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import end_of
from benchc.models.remote_code import Batch, RemoteCodeModel, remote_code, require_class, require_parameters


class Moondream(RemoteCodeModel):
    """A loaded Moondream2."""

    all_images = False
    batches = False
    marker = "<|endoftext|>"
    marks_images = False

    @property
    def tokenizer(self) -> Any:
        return self.model.model.tokenizer

    def facts(self) -> dict[str, str]:
        words = hashlib.blake2b(self.tokenizer.to_str().encode(), digest_size=16).hexdigest()
        return super().facts() | {"tokenizer": words}

    def language_head(self) -> Any:
        return self.model.model.text["lm_head"]

    @property
    def _template(self) -> dict[str, list[int]]:
        template: dict[str, list[int]] = self.model.model.config.tokenizer.templates["query"]
        return template

    def prompt(self, text: str, images: int) -> str:
        before, after = (self.tokenizer.decode(self._template[part]) for part in ("prefix", "suffix"))
        return f"{before}{text}{after}"

    def tokens_after(self, rendered: str, answer: str) -> list[int]:
        suffix = self._template["suffix"]
        whole = self.tokenizer.encode(self.tokenizer.decode(suffix) + answer).ids
        if whole[: len(suffix)] != suffix or len(whole) == len(suffix):
            raise ModelError(
                f"{self.name}: the answer {answer!r} changes the tokens of the prompt that ends in "
                f"{end_of(rendered)!r}"
            )
        return list(whole[len(suffix) :])

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        encoded = self.model.encode_image(images[0])
        ids = self._template["prefix"] + self.tokenizer.encode(text).ids + self._template["suffix"]
        return {
            "input_ids": torch.tensor([ids]),
            "kv_cache": encoded.kv_cache,
            "pos": torch.tensor(encoded.pos),
        }

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        text = self.model.model.text
        _, hidden, _, _ = self.model.model._prefill_prompt(
            batch["kv_cache"].clone(), batch["input_ids"], int(batch["pos"])
        )
        states = text["post_ln"](hidden[:, -1:] if last_only else hidden)
        logits: torch.Tensor = text["lm_head"](states)
        return logits

    def positions(self, batch: Batch) -> int:
        return int(batch["pos"]) + super().positions(batch)

    def context(self) -> int | None:
        most: int = self.model.model.config.text.max_context
        return most

    def _moved(self, row: Batch) -> Batch:
        # The code chose the type of the keys and values.
        return {name: value.to(self.model.device) for name, value in row.items()}


def load(source: CheckpointSource) -> Moondream:
    """Load a checkpoint of the family."""
    if source.dtype != "float16":
        raise ModelError(
            f"{source.location}: its code computes in float16 alone; set `dtype: float16` in the model "
            "catalogue"
        )
    with remote_code(source) as found:
        settings = found.settings()
        model = found.model("AutoModelForCausalLM")
        require_class(source.location, model, "HfMoondream")
        require_parameters(source.location, model.model._prefill_prompt, "kv_cache", "prompt_tokens", "pos")
        return Moondream.of(found, model, model.model, settings=settings)
