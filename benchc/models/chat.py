"""A loaded chat model of transformers: its prompt, its input tensors, and a forward pass."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import torch

from benchc.models.chat_template import CORRECT_TEMPLATE, apply_template
from benchc.models.encoding import Encoded, PromptEncoder, sizes_of
from benchc.models.gpu_memory import is_out_of_memory
from benchc.models.protocol import ModelError, NoTextOnlyError
from benchc.models.question import Question, answer_separator, end_of, system_messages
from benchc.models.special_tokens import SpecialTokens, times_at_start
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


class Head:
    """The language head, with the logits of ``tokens`` in float32.

    In bfloat16 the head's output is quantised to steps of 0.06 to 0.12, which creates ties between options.
    If ``tokens`` are set before a forward pass, their logits are computed in float32 and replace those in
    the head's output. What the class does to the output, such as soft capping, it then does in float32.

    Attributes:
        tokens: int64[K], those of the last position; int64[rows or 1, n], one for each of the last n
            positions; or None. Only logits of these positions are then returned.
        states: the hidden states [rows, positions, hidden] that entered the head last.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        self._weight: torch.Tensor = module.weight  # type: ignore[assignment]
        self._bias: torch.Tensor | None = getattr(module, "bias", None)
        self.tokens: torch.Tensor | None = None
        self.states = torch.empty(0)

    def logits(self, states: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return float32 logits [n, K] of ``tokens`` [K] or [n, K] at ``states`` [n, hidden]."""
        # Of a model on several GPUs, the head may be on another than the input.
        tokens, states = tokens.to(self._weight.device), states.to(self._weight.device)
        weight = self._weight[tokens].float()  # [K, hidden] or [n, K, hidden]
        logits = torch.einsum("nh,kh->nk" if weight.ndim == 2 else "nh,nkh->nk", states.float(), weight)
        return logits if self._bias is None else logits + self._bias[tokens].float()

    def after_forward(self, states: torch.Tensor, output: torch.Tensor) -> torch.Tensor:
        """Record the states that entered the head, and return its output with the logits of ``tokens``."""
        self.states = states
        if self.tokens is None:
            return output
        if self.tokens.ndim == 1:
            states, output = states[:, -1:], output[:, -1:]
            logits = self.logits(states[:, 0], self.tokens)[:, None]  # [rows, 1, K]
            index = self.tokens.to(logits.device).expand_as(logits)
        else:
            count = self.tokens.shape[1]
            states, output = states[:, -count:], output[:, -count:]
            index = self.tokens.to(output.device).expand(len(states), -1)[..., None]  # [rows, n, 1]
            logits = self.logits(states.flatten(0, 1), index.flatten(0, 1)).view(index.shape)
        return output.float().scatter(-1, index, logits)


@dataclass
class ChatModel:
    """A loaded model and its processor.

    ``identity``: what its checkpoint and the libraries decide; ``system_prompt``: text of the system message
    before each question; None: no such message.
    """

    model: Any
    processor: Any
    identity: Mapping[str, str]
    system_prompt: str | None = None
    _rendered: dict[tuple[str, int], str] = field(default_factory=dict)

    # Whether a forward pass can continue several answers from the keys and values of one prompt.
    shares_prompt: ClassVar[bool] = True
    # Whether `generate` of transformers takes the input of :meth:`encode`.
    generates: ClassVar[bool] = True
    # Whether the model has a chat template; without, it reads the bare question.
    has_template: ClassVar[bool] = True
    # How many images an item may have; None: any number.
    numbers_of_images: ClassVar[tuple[int, ...] | None] = None
    # Whether :meth:`encode` needs no device, so that it may run in another process.
    encodes_on_host: ClassVar[bool] = True

    @cached_property
    def _encoder(self) -> PromptEncoder:
        return PromptEncoder(self.processor)

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
        """Return the chat prompt for one user message of ``images`` images followed by ``text``.

        Raises ModelError where the chat template fails, or leaves out the text or the system prompt.
        """
        key = (text, images)
        if key not in self._rendered:
            content = [{"type": "image"}] * images + [{"type": "text", "text": text}]
            system = system_messages(self.system_prompt)
            rendered = apply_template(
                self.name,
                self.processor,
                [*system, {"role": "user", "content": content}],
                "" if self.system_prompt is None else ", or remove `system_prompt` in the model catalogue",
                add_generation_prompt=True,
            )
            if text.strip() not in rendered:
                raise ModelError(
                    f"{self.name}: its chat template leaves out the question {text[:40]!r}; "
                    f"{CORRECT_TEMPLATE}"
                )
            self._require_system_prompt(text, rendered)
            self._rendered[key] = rendered + self.processor_end(images)
        return self._rendered[key]

    def processor_end(self, images: int) -> str:
        """Return what the processor itself writes after a prompt of the chat template."""
        return ""

    def _require_system_prompt(self, text: str, rendered: str) -> None:
        """Raise ModelError where the chat template has left out the system prompt."""
        for message in system_messages(self.system_prompt):
            system = str(self.system_prompt).strip()
            # The question may have the same words. A template that takes texts alone writes the list of parts
            # as Python does.
            if rendered.count(system) <= text.count(system) or str(message["content"]) in rendered:
                raise ModelError(
                    f"{self.name}: its chat template has no place for a system prompt; remove "
                    "`system_prompt` of the model in the catalogue"
                )

    def separator(self, rendered: str) -> str:
        """Return what separates a rendered prompt from the answer."""
        # Tokenizers of some packages do not tell their special tokens.
        added = getattr(self.tokenizer, "added_tokens_decoder", {})
        return answer_separator(rendered, map(str, added.values()))

    def tokens_after(self, rendered: str, answer: str) -> list[int]:
        """Return the tokens that ``answer`` adds to the prompt.

        Of a prompt that ends in a blank which merges with the answer, they are those that the blank and the
        answer add to the rest, as in a conversation that has the answer. Raises ModelError where prompt and
        answer merge otherwise.
        """
        rest = rendered.rstrip(" ")
        for prompt, added in ((rendered, answer), (rest, f" {answer}")):
            before = self.tokenizer(prompt, add_special_tokens=False)["input_ids"]
            whole = self.tokenizer(prompt + added, add_special_tokens=False)["input_ids"]
            if whole[: len(before)] == before and len(whole) > len(before):
                return list(whole[len(before) :])
            if rest == rendered:
                break
        raise ModelError(
            f"{self.name}: the answer {answer!r} changes the tokens of the prompt that ends in "
            f"{end_of(rendered)!r}; give the model a chat template whose prompt ends at a token boundary"
        )

    def encode(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        """Return the model's input in the host's memory: one row per variant, all with the same prompt.

        The images of all variants have the same sizes. Raises ModelError for images that the processor does
        not take, where it writes more after the prompt, and where the context is exceeded.
        """
        images = len(variants[0])
        if self.numbers_of_images is not None and images not in self.numbers_of_images:
            raise ModelError(
                f"{self.name}: {type(self.model).__name__} reads one image, but the item has {images}; "
                "remove such items, or this model"
            )
        try:
            given = rendered.removesuffix(self.processor_end(images))
            inputs = self._encoder.encode(given, variants)
        except Exception as error:  # processors raise many types
            sizes = ", ".join(f"{pixels.shape[1]} x {pixels.shape[0]}" for pixels in variants[0])
            raise ModelError(
                f"{self.name}: {type(self.processor).__name__} does not take a prompt with "
                f"{pluralize(len(variants[0]), 'image')} ({sizes} pixels): {type(error).__name__}: "
                f"{' '.join(str(error).split())}; remove such items, or this model"
            ) from error
        rows, tokens = inputs["input_ids"].shape
        if rows != len(variants):
            raise ModelError(
                f"{self.name}: {type(self.processor).__name__} makes {pluralize(rows, 'prompt')} of "
                f"{pluralize(len(variants), 'variant')} of one question; choose another model"
            )
        if self.has_template:
            self._require_ends(rendered, inputs["input_ids"][0].tolist())
        self.require_context(tokens)
        return {
            name: value.to(self.model.dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
            if name != "labels"  # some processors prepare training
        }

    def _require_ends(self, rendered: str, ids: list[int]) -> None:
        """Raise ModelError unless the tokens that the model reads begin and end as the prompt does."""
        added, plain = (
            list(self.tokenizer(rendered, add_special_tokens=flag)["input_ids"]) for flag in (True, False)
        )
        if ids[-1] not in (added[-1], plain[-1]):
            raise ModelError(
                f"{self.name}: {type(self.processor).__name__} makes a prompt that ends in "
                f"{end_of(self.tokenizer.decode(ids[-20:]), 60)!r} of one that ends in {end_of(rendered)!r}, "
                "so that an answer would not follow the chat template; choose another model, or add a family "
                "that writes its prompt (docs/models.md)"
            )
        before = SpecialTokens.of(added, plain).before
        # transformers drops the tokenizer's where the prompt begins with its bos_token, which may be null. A
        # processor such as Emu3's then writes a second one itself, as it does in transformers.
        dropped = self.tokenizer.bos_token is not None and rendered.startswith(self.tokenizer.bos_token)
        twice = before and 0 < times_at_start(plain, before) < times_at_start(ids, before)
        if twice and not dropped:
            raise ModelError(
                f"{self.name}: its chat template and its tokenizer both write "
                f"{self.tokenizer.decode(before)!r}, which the model would read twice; set `bos_token` in "
                "tokenizer_config.json of the model"
            )

    def encoded(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> Encoded:
        """Return :meth:`encode` with what it is of."""
        inputs = self.encode(rendered, variants)
        independent = self.encodes_on_host and self._encoder.independent(len(variants[0]))
        return Encoded(rendered, sizes_of(variants[0]), len(variants), inputs, independent)

    def on_device(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's input on its device."""
        return {name: value.to(self.model.device, non_blocking=True) for name, value in inputs.items()}

    def context(self) -> int | None:
        """Return the tokens that the model takes, answer included; None where config.json does not say."""
        config = self.model.config.get_text_config()
        limit: int | None = getattr(config, "max_position_embeddings", None)
        scaling = getattr(config, "rope_parameters", None)
        if isinstance(scaling, dict) and "original_max_position_embeddings" in scaling and limit is not None:
            stretched = scaling["original_max_position_embeddings"] * scaling.get("factor", 1)
            limit = max(limit, int(stretched))
        return limit

    @property
    def decoder(self) -> Any:
        """The module whose settings of generation decide an answer."""
        return self.model

    @property
    def end_tokens(self) -> list[int]:
        """The tokens that end an answer; none where config.json and generation_config.json do not say."""
        ends = self.model.generation_config.eos_token_id
        return ends if isinstance(ends, list) else [ends]

    def before_answer(self, inputs: Mapping[str, Any]) -> int:
        """Return the tokens of the model's context that an answer follows."""
        return int(inputs["input_ids"].shape[1])

    def search(self, most: int) -> dict[str, Any]:
        """Return how `generate` of transformers looks for an answer of at most ``most`` tokens."""
        return {"max_new_tokens": most, "num_beams": 1}

    def answer_tokens(self, output: Any, inputs: Mapping[str, Any]) -> Any:
        """Return the answers, int64[rows, tokens], in what `generate` returned for ``inputs``.

        Most classes return prompt and answer; some, which give the model no ids, the answer alone.
        """
        prompt = inputs["input_ids"]
        begin = prompt.shape[1]
        return output[:, begin:] if torch.equal(output[:, :begin], prompt) else output

    def require_context(self, tokens: int) -> None:
        """Raise ModelError for more tokens than the model takes; transformers would at most warn."""
        limit = self.context()
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

    def language_head(self) -> Any:
        """Return the module that turns the last hidden states into logits; None where there is none."""
        return self.model.get_output_embeddings()

    @contextmanager
    def head(self) -> Iterator[Head]:
        """Yield the language head, which acts on forward passes as :class:`Head` says."""
        module = self.language_head()
        if module is None or not hasattr(module, "weight"):
            raise ModelError(
                f"{self.name}: the model has no language head with a weight; add a family (docs/models.md)"
            )
        head = Head(module)
        hook = module.register_forward_hook(
            lambda _, arguments, output: head.after_forward(arguments[0], output)
        )
        try:
            yield head
        finally:
            hook.remove()

    def forward(self, inputs: Mapping[str, Any], *, last_only: bool) -> Any:
        """Run the model; ``last_only`` computes the logits of the last position alone where the class can."""
        extra = {"logits_to_keep": 1} if last_only and self._keeps_logits else {}
        return self.model(**inputs, **extra)

    def forget_images(self) -> None:
        """Forget the positions of the images before, as at the begin of each prompt.

        Qwen-VL's classes and those made after them keep the difference between positions and tokens of the
        last prompt with images, and would give it to what continues a prompt without any.
        """
        for module in self.model.modules():
            if "rope_deltas" in vars(module):
                module.rope_deltas = None

    def extended(self, inputs: Mapping[str, Any], tokens: Sequence[int]) -> dict[str, Any]:
        """Return the inputs with ``tokens`` after the prompt; only for a model without ``shares_prompt``."""
        raise NotImplementedError

    @property
    def _keeps_logits(self) -> bool:
        return "logits_to_keep" in inspect.signature(self.model.forward).parameters


@dataclass
class ChatInterface(ABC):
    """A chat model that is asked in one way.

    ``one_by_one``: about each variant alone, since its numbers depend on the others
    (:func:`benchc.models.predict.batch_difference`).
    """

    chat: ChatModel
    one_by_one: bool = field(default=False, kw_only=True)

    @abstractmethod
    def prompt(self, question: Question, images: int) -> str:
        """Return the rendered prompt of a question with that many images."""

    @property
    def encodes_on_host(self) -> bool:
        return self.chat.encodes_on_host

    def encode(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> Encoded:
        """Return variants of a question's images, all of the same sizes, as input of the model.

        Raises NoTextOnlyError for variants without images, where the model needs one.
        """
        prompt = self.prompt(question, len(variants[0]))
        if variants[0]:
            return self.chat.encoded(prompt, variants)
        if 0 not in (self.chat.numbers_of_images or (0,)):
            raise NoTextOnlyError(
                f"the model takes no prompt without an image ({type(self.chat.model).__name__} reads one)"
            )
        try:
            return self.chat.encoded(prompt, variants)
        except Exception as error:  # processors and families raise many types
            if is_out_of_memory(error):  # of a family that encodes on the device
                raise
            reason = error.__cause__ or error
            raise NoTextOnlyError(
                f"the model takes no prompt without an image ({type(reason).__name__}: "
                f"{' '.join(str(reason).split())})"
            ) from error
