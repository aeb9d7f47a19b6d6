"""A loaded chat model of transformers: its prompt, its input tensors, and a forward pass."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from PIL import Image

from benchc.models.protocol import ModelError
from benchc.pixels import Pixels
from benchc.pluralize import pluralize

# Settings of image processors that bound the number of an image's tokens; a class has one of them, or none.
TOKEN_SETTINGS = (
    "max_pixels",
    "max_patches",
    "max_crops",
    "max_slice_nums",
    "max_soft_tokens",
    "max_image_tiles",
    "dynamic_hd",
)


@dataclass
class ChatModel:
    """A loaded model and its processor. ``identity``: what its checkpoint and the libraries decide."""

    model: Any
    processor: Any
    identity: Mapping[str, str]
    _rendered: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.identity["model"]

    def facts(self) -> dict[str, str]:
        """Return the identity, and what transformers chose: attention and image processor."""
        config = self.model.config
        parts = {"model": config} | {name: getattr(config, name, None) for name in config.sub_configs}
        attention = (
            f"{name} {part._attn_implementation}" for name, part in parts.items() if part is not None
        )
        # The class says which backend resizes; the processor's settings do not.
        return {
            **self.identity,
            "attention": ", ".join(attention),
            "image_processor": type(self.processor.image_processor).__name__,
        }

    @property
    def tokenizer(self) -> Any:
        return self.processor.tokenizer

    def render(self, text: str, images: int) -> str:
        """Return the chat prompt for one user message of ``images`` images followed by ``text``."""
        key = (text, images)
        if key not in self._rendered:
            content = [{"type": "image"}] * images + [{"type": "text", "text": text}]
            self._rendered[key] = self.processor.apply_chat_template(
                [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
            )
        return self._rendered[key]

    def tokens_after(self, rendered: str, answer: str) -> list[int]:
        """Return the tokens that ``answer`` adds to the prompt. Raises ModelError where the two merge."""
        prompt = self.tokenizer(rendered, add_special_tokens=False)["input_ids"]
        whole = self.tokenizer(rendered + answer, add_special_tokens=False)["input_ids"]
        if whole[: len(prompt)] != prompt or len(whole) == len(prompt):
            raise ModelError(
                f"{self.name}: the answer {answer!r} changes the tokens of the prompt that ends in "
                f"{rendered[-20:]!r}; give the model a chat template whose prompt ends at a token boundary"
            )
        return list(whole[len(prompt) :])

    def encode(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        """Return the model's input: one row per variant, all with the same prompt.

        Raises ModelError for images that the processor does not take, and where the context is exceeded.
        """
        images = [[Image.fromarray(pixels) for pixels in variant] for variant in variants]
        try:
            inputs = self.processor(text=[rendered] * len(variants), images=images, return_tensors="pt")
        except Exception as error:  # processors raise many types
            sizes = ", ".join(f"{pixels.shape[1]} x {pixels.shape[0]}" for pixels in variants[0])
            raise ModelError(
                f"{self.name}: {type(self.processor).__name__} does not take a prompt with "
                f"{pluralize(len(variants[0]), 'image')} ({sizes} pixels): {type(error).__name__}: "
                f"{' '.join(str(error).split())}; remove such items, or this model"
            ) from error
        self.require_context(inputs["input_ids"].shape[1])
        return {
            name: value.to(self.model.device, self.model.dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
            if name != "labels"  # some processors prepare training
        }

    def require_context(self, tokens: int) -> None:
        """Raise ModelError for more tokens than the model takes; transformers would at most warn."""
        config = self.model.config.get_text_config()
        limit = getattr(config, "max_position_embeddings", None)
        scaling = getattr(config, "rope_parameters", None)
        if isinstance(scaling, dict) and "original_max_position_embeddings" in scaling and limit is not None:
            stretched = scaling["original_max_position_embeddings"] * scaling.get("factor", 1)
            limit = max(limit, int(stretched))
        if limit is not None and tokens > limit:
            raise ModelError(
                f"{self.name}: prompt, images and answer have {tokens} tokens, but the model takes {limit} "
                f"(max_position_embeddings in config.json); {self._smaller_images()}, or remove the item"
            )

    def _smaller_images(self) -> str:
        """Return what to do so that an image has fewer tokens."""
        known = type(self.processor.image_processor).valid_kwargs.__annotations__
        name = next((name for name in TOKEN_SETTINGS if name in known), "the size of images")
        return f"lower {name} in `processor` of the model catalogue"

    @contextmanager
    def exact(self, tokens: torch.Tensor) -> Iterator[None]:
        """Let the language head compute the logits of ``tokens`` in float32 during forward passes.

        In bfloat16 the head's output is quantised to steps of 0.06 to 0.12, which creates ties between
        options. What the class does to the output, such as soft capping, it then does in float32.

        Args:
            tokens: int64[K], those of the last position, the only one whose logits are then returned; or
                int64[rows, positions], one per position.
        """
        module = self.model.get_output_embeddings()
        if module is None or not hasattr(module, "weight"):
            raise ModelError(
                f"{self.name}: the model has no language head with a weight; add a family (docs/models.md)"
            )
        bias = getattr(module, "bias", None)

        def replace(
            _: torch.nn.Module, arguments: tuple[torch.Tensor, ...], output: torch.Tensor
        ) -> torch.Tensor:
            states = arguments[0]  # [rows, positions, hidden]
            if tokens.ndim == 1:
                states, output = states[:, -1:], output[:, -1:]
                weight = module.weight[tokens].float()  # [K, hidden]
                logits = torch.einsum("rph,kh->rpk", states.float(), weight)
                index = tokens.expand(*logits.shape)
            else:
                weight = module.weight[tokens].float()  # [rows, positions, hidden]
                logits = torch.einsum("rph,rph->rp", states.float(), weight)[..., None]
                index = tokens[..., None]
            if bias is not None:
                logits = logits + bias[index].float()
            return output.float().scatter(-1, index, logits)

        hook = module.register_forward_hook(replace)
        try:
            yield
        finally:
            hook.remove()

    def forward(self, inputs: Mapping[str, Any], *, last_only: bool) -> Any:
        """Run the model; ``last_only`` computes the logits of the last position alone where the class can."""
        extra = {"logits_to_keep": 1} if last_only and self._keeps_logits else {}
        return self.model(**inputs, **extra)

    @property
    def _keeps_logits(self) -> bool:
        return "logits_to_keep" in inspect.signature(self.model.forward).parameters
