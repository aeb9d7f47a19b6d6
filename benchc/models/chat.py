"""A loaded chat model of transformers: its prompt, its input tensors, and a forward pass."""

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import torch
from PIL import Image

from benchc.models.protocol import ModelError
from benchc.pixels import Pixels


class Head:
    """The option rows of the language head, applied in float32 to the hidden states that entered it.

    In bfloat16 the head's output is quantised to steps of 0.06 to 0.12, which creates ties between options.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._weight: torch.Tensor = module.weight  # type: ignore[assignment]
        self._bias: torch.Tensor | None = getattr(module, "bias", None)
        self.states = torch.empty(0)  # [rows, positions, hidden]

    def logits(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return float32 logits [n, K] of ``tokens`` [K] or [n, K] at ``states`` [n, hidden]."""
        weight = self._weight[tokens].float()  # [K, hidden] or [n, K, hidden]
        logits = torch.einsum("nh,kh->nk" if weight.ndim == 2 else "nh,nkh->nk", states.float(), weight)
        return logits if self._bias is None else logits + self._bias[tokens].float()


@dataclass
class ChatModel:
    """A loaded model and its processor. ``identity``: what its checkpoint and the libraries decide."""

    model: Any
    processor: Any
    identity: Mapping[str, str]
    _rendered: dict[tuple[str, int], str] = field(default_factory=dict)

    # Whether a forward pass can continue several answers from the keys and values of one prompt.
    shares_prompt: ClassVar[bool] = True

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
        """Return the model's input: one row per variant, all with the same prompt."""
        images = [[Image.fromarray(pixels) for pixels in variant] for variant in variants]
        inputs = self.processor(text=[rendered] * len(variants), images=images, return_tensors="pt")
        return {
            name: value.to(self.model.device, self.model.dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
        }

    def language_head(self) -> Any:
        """Return the module that turns the last hidden states into logits; None where there is none."""
        return self.model.get_output_embeddings()

    @contextmanager
    def head(self) -> Iterator[Head]:
        """Yield the language head, which records the hidden states that enter it during forward passes."""
        module = self.language_head()
        if module is None or not hasattr(module, "weight"):
            raise ModelError(
                f"{self.name}: the model has no language head with a weight; add a family (docs/models.md)"
            )
        head = Head(module)

        def record(_: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
            head.states = arguments[0]

        hook = module.register_forward_pre_hook(record)
        try:
            yield head
        finally:
            hook.remove()

    def forward(self, inputs: Mapping[str, Any], *, last_only: bool) -> Any:
        """Run the model; ``last_only`` computes the logits of the last position alone where the class can."""
        extra = {"logits_to_keep": 1} if last_only and self._keeps_logits else {}
        return self.model(**inputs, **extra)

    def extended(self, inputs: Mapping[str, Any], tokens: Sequence[int]) -> dict[str, Any]:
        """Return the inputs with ``tokens`` after the prompt; only for a model without ``shares_prompt``."""
        raise NotImplementedError

    @property
    def _keeps_logits(self) -> bool:
        return "logits_to_keep" in inspect.signature(self.model.forward).parameters
