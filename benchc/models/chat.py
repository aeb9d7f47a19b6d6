"""A chat model of transformers: loading it, rendering its prompt, and one forward pass over its options."""

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from PIL import Image as PILImage
from safetensors import SafetensorError

from benchc.models.protocol import Image, ModelError, ModelSource
from benchc.torchvision_ops import declare_missing_operators

declare_missing_operators()

import transformers  # noqa: E402

transformers.utils.logging.disable_progress_bar()

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


class Head:
    """The option rows of the language head, applied in float32 to the states that entered it.

    In bfloat16 the head's output is quantised to steps of 0.06 to 0.12, which makes ties between options.
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
    """A loaded model and its processor. ``identity`` names all that decides its answers but the input."""

    model: Any
    processor: Any
    identity: Mapping[str, str]
    _rendered: dict[tuple[str, int], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.identity["model"]

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
                f"{rendered[-20:]!r}; its family's module must render a prompt that ends at a token border"
            )
        return list(whole[len(prompt) :])

    def encode(self, rendered: str, variants: Sequence[Sequence[Image]]) -> dict[str, Any]:
        """Return the model's input: one row a variant, all with the same prompt."""
        pictures = [[PILImage.fromarray(image) for image in images] for images in variants]
        inputs = self.processor(text=[rendered] * len(variants), images=pictures, return_tensors="pt")
        return {
            name: value.to(self.model.device, self.model.dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
        }

    @contextmanager
    def head(self) -> Iterator[Head]:
        """Give the language head, which notes the states that enter it during forward passes."""
        module = self.model.get_output_embeddings()
        if module is None or not hasattr(module, "weight"):
            raise ModelError(f"{self.name}: has no language head with a weight; score it by another family")
        head = Head(module)

        def note(_: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
            head.states = arguments[0]

        hook = module.register_forward_pre_hook(note)
        try:
            yield head
        finally:
            hook.remove()

    def forward(self, inputs: Mapping[str, Any], *, last_only: bool) -> Any:
        """Run the model; ``last_only`` spares the head all positions but the last where it can."""
        extra = {"logits_to_keep": 1} if last_only and self._keeps_logits else {}
        return self.model(**inputs, **extra)

    @property
    def _keeps_logits(self) -> bool:
        return "logits_to_keep" in inspect.signature(self.model.forward).parameters


def load_chat_model(source: ModelSource, *, chat_template: str | None = None) -> ChatModel:
    """Load a model that transformers knows natively.

    ``chat_template`` serves a checkpoint that comes without one. Raises ModelError where the model cannot
    be loaded.
    """
    options = {} if Path(source.location).is_dir() else {"revision": source.revision}
    try:
        processor = transformers.AutoProcessor.from_pretrained(source.location, **options)
        # Two backends resize differently in the fourth decimal of a logit: hold on to one.
        processor.image_processor = transformers.AutoImageProcessor.from_pretrained(
            source.location, backend="pil", **options
        )
        model, report = transformers.AutoModelForImageTextToText.from_pretrained(
            source.location, dtype=DTYPES[source.dtype], output_loading_info=True, **options
        )
    except (OSError, ValueError, KeyError, ImportError, SafetensorError) as error:
        raise ModelError(
            f"{source.location}: cannot be loaded ({' '.join(str(error).split())}); check the id or folder "
            "and revision in the model catalogue, and that the machine reaches the Hub or has the model in "
            "its cache"
        ) from error
    # transformers fills what it does not find with random numbers, and only logs that it did.
    absent = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if absent:
        raise ModelError(
            f"{source.location}: lacks {len(absent)} of the model's weights, such as {absent[0]}; fetch the "
            "checkpoint again, or name the family and form that it is of"
        )
    _set_processor(processor.image_processor, source)
    processor.chat_template = getattr(processor, "chat_template", None) or chat_template
    if processor.chat_template is None:
        raise ModelError(
            f"{source.location}: its processor has no chat template; give it a family of its own"
        )
    model.to(source.device).eval()
    return ChatModel(model, processor, _identity(source, model, processor))


def _set_processor(image_processor: Any, source: ModelSource) -> None:
    for name, value in source.processor.items():
        if not hasattr(image_processor, name):
            raise ModelError(
                f"{source.location}: its image processor {type(image_processor).__name__} has no setting "
                f"{name!r}; mend `processor` of the model in its catalogue"
            )
        setattr(image_processor, name, value)


def _identity(source: ModelSource, model: Any, processor: Any) -> dict[str, str]:
    folder = Path(source.location)
    commit: str | None = getattr(model.config, "_commit_hash", None) or source.revision
    revision = folder_digest(folder) if folder.is_dir() else commit
    if revision is None:
        raise ModelError(f"{source.location}: its commit is unknown; pin `revision` in the catalogue")
    device = torch.cuda.get_device_name() if source.device == "cuda" else "cpu"
    return {
        "model": folder.name if folder.is_dir() else source.location,
        "revision": revision,
        "dtype": source.dtype,
        "device": device,
        "processor": _digest(json.dumps(processor.to_dict(), sort_keys=True, default=str).encode()),
        "chat_template": _digest(str(processor.chat_template).encode()),
        **{name: version(name) for name in ("torch", "transformers", "tokenizers", "pillow", "numpy")},
    }


def folder_digest(folder: Path) -> str:
    """Return a hash of the names and contents of the files in and below a folder."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\x1f".encode())
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
