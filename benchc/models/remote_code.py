"""Models whose class is Python code outside transformers: code of their checkpoint, or of a package.

Such code needs the old versions of transformers, huggingface_hub and numpy that its environment pins
(envs/), so that this module and the families that use it keep to what transformers 4.33 and Python 3.11
have, and do not import :mod:`benchc.models.checkpoint`.
"""

import hashlib
import importlib
import inspect
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Self

import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.chat import ChatModel, Head
from benchc.models.checkpoint_files import check_files, loading
from benchc.models.loading_report import require_floats, require_weights
from benchc.models.pinned import checkpoint_facts, file_times, pinned_commit
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code_families import untrusted
from benchc.models.snapshot import checkpoint_folder
from benchc.pixels import Pixels

Batch = dict[str, torch.Tensor]

# transformers renamed it in 4.56.
_DTYPE = "dtype" if tuple(map(int, version("transformers").split(".")[:2])) >= (4, 56) else "torch_dtype"
# What may decide a number besides torch and transformers, where it is installed.
_LIBRARIES = ("tokenizers", "pillow", "numpy", "einops", "timm", "tiktoken", "sentencepiece", "xformers")


@dataclass(frozen=True)
class Loading:
    """A checkpoint while it is loaded. ``commit``: of a model on the Hub; None for a folder."""

    source: CheckpointSource
    commit: str | None

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of ``from_pretrained`` that pin the checkpoint and its code."""
        return {"revision": self.commit, "trust_remote_code": self.source.trust_remote_code}

    def folder(self) -> str:
        """Return a folder with all files of the checkpoint, for code that takes no revision."""
        return str(checkpoint_folder(self.source.location, self.commit))

    def model(self, auto_class: str, **options: Any) -> Any:
        """Return the model that an Auto class loads; raises ModelError unless it has all weights."""
        model, report = getattr(transformers, auto_class).from_pretrained(
            self.source.location,
            output_loading_info=True,
            **{_DTYPE: getattr(torch, self.source.dtype)},
            **self.options,
            **options,
        )
        self.require_weights(model, report)
        return model.to(self.source.device).eval()

    def require_weights(self, model: Any, report: Mapping[str, Any]) -> None:
        """Raise ModelError unless a loaded model has all weights of the checkpoint, and no others."""
        quantised = getattr(model.config, "quantization_config", None) is not None
        require_weights(self.source.location, report, quantised=quantised)
        if not quantised:
            require_floats(self.source.location, Path(self.folder()))

    def settings(self, **defaults: Any) -> dict[str, Any]:
        """Return the settings of the preprocessing; ModelError for one that the family does not have."""
        for name in self.source.processor:
            if name not in defaults:
                known = ", ".join(defaults) or "none"
                raise ModelError(
                    f"{self.source.location}: its preprocessing has no setting {name!r} (it has {known}); "
                    "correct `processor` of the model in the catalogue"
                )
        return defaults | dict(self.source.processor)


@contextmanager
def remote_code(source: CheckpointSource) -> Iterator[Loading]:
    """Check a checkpoint that is loaded by its own code, and turn errors of the block into one line.

    Raises ModelError unless its code is trusted, at a commit where it is on the Hub.
    """
    if not source.trust_remote_code:
        raise untrusted(source.location)
    with _without_flash_attention(), package_code(source) as found:
        yield found


@contextmanager
def _without_flash_attention() -> Iterator[None]:
    """Let code be loaded that imports flash_attn where it is installed, without it.

    transformers checks that what a checkpoint's code imports is installed; before 4.48, also what it imports
    only if it is there.
    """
    module = transformers.dynamic_module_utils
    imports_of = module.get_imports
    module.get_imports = lambda path: [name for name in imports_of(path) if name != "flash_attn"]
    try:
        yield
    finally:
        module.get_imports = imports_of


@contextmanager
def package_code(source: CheckpointSource) -> Iterator[Loading]:
    """Check a checkpoint that is loaded by a package's code, and turn errors of the block into one line."""
    for key, what in {
        "system_prompt": "writes the prompt",
        "chat_template": "writes the prompt",
        "attention": "chooses the attention",
        "adapter": "loads the weights",
    }.items():
        if getattr(source, key) is not None:
            raise ModelError(
                f"{source.location}: its own code {what}; remove `{key}` of the model in the catalogue"
            )
    commit = pinned_commit(source)
    check_files(source, commit)
    before = file_times(source)
    with loading(source, commit, divides=False):
        yield Loading(source, commit)
    if file_times(source) != before:
        raise ModelError(f"{source.location}: its files changed while it was loaded; run snakemake again")


def package(name: str, install: str, where: str) -> ModuleType:
    """Return an imported module; raises ModelError, with how to ``install`` it, where this fails."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ModelError(f"{where}: needs the package {name.split('.')[0]} ({error}); {install}") from error


def require_class(where: str, model: Any, name: str) -> None:
    """Raise ModelError unless the loaded model is of the class that the family is about."""
    found = type(model).__name__
    if found != name:
        raise ModelError(
            f"{where}: its code defines the model {found}, not {name}; correct `family` or `revision` of "
            "the model in the catalogue"
        )


def require_parameters(where: str, function: Callable[..., Any], *names: str) -> None:
    """Raise ModelError unless a function of foreign code takes the arguments that the family gives it.

    Other revisions of a checkpoint have other code, which might take an argument for another.
    """
    parameters = inspect.signature(function).parameters.values()
    known = {each.name for each in parameters}
    absent = [name for name in names if name not in known]
    if absent and not any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        raise ModelError(
            f"{where}: {function.__qualname__} of its code has no argument {absent[0]!r} (it has "
            f"{', '.join(sorted(known))}); give the revision that docs/models.md names"
        )


@dataclass
class RemoteCodeModel(ChatModel, ABC):
    """A model that is called as its authors call it.

    A family defines the prompt (:meth:`prompt`), the tensors of one variant (:meth:`row`), and what else
    differs. ``settings``: those of its preprocessing.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    _texts: dict[str, str] = field(default_factory=dict)
    _head: Head | None = None
    _warned: bool = False

    # Whether the model reads all images of an item; else it reads the first, as VLMEvalKit does.
    all_images: ClassVar[bool] = True
    # Whether variants pass through the model together; else one by one, where the code is for one.
    batches: ClassVar[bool] = True
    # Text that the model reads as an image, so that it must not be part of a question.
    marker: ClassVar[str] = "<image>"
    # Whether the prompt has a marker for each image.
    marks_images: ClassVar[bool] = True
    shares_prompt: ClassVar[bool] = False
    generates: ClassVar[bool] = False
    encodes_on_host: ClassVar[bool] = False

    @classmethod
    def of(
        cls,
        found: Loading,
        model: Any,
        processor: Any,
        *,
        settings: Mapping[str, Any],
        digest: str = "",
        **more: Any,
    ) -> Self:
        """Return a loaded model with its identity.

        Args:
            found: the checkpoint.
            model: the model.
            processor: what prepares its input.
            settings: settings of the preprocessing.
            digest: that of the code of a package that the checkpoint does not contain.
            more: fields of the family's class.
        """
        return cls(model, processor, _identity(found, settings, digest), settings=settings, **more)

    def facts(self) -> dict[str, str]:
        """Return the identity, the attention and the class that prepares the images."""
        return {
            **self.identity,
            "attention": str(getattr(self.model.config, "_attn_implementation", None)),
            "image_processor": type(self.processor).__name__,
            "images": "all" if self.all_images else "the first",
        }

    @abstractmethod
    def prompt(self, text: str, images: int) -> str:
        """Return the prompt up to the answer; with a marker for each image where ``marks_images``."""

    @abstractmethod
    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        """Return the input of one variant: tensors whose first axis is concatenated over variants."""

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        """Return the logits [rows, positions, vocabulary] of a batch, at least those of the last position."""
        logits: torch.Tensor = self.model(**batch, use_cache=False, return_dict=True).logits
        return logits

    def render(self, text: str, images: int) -> str:
        read = images if self.all_images else min(images, 1)
        if read < images and not self._warned:
            print(f"{self.name}: reads one image, so the first of each item with several", file=sys.stderr)
            self._warned = True
        rendered = self.prompt(text, read)
        if rendered.count(self.marker) != (read if self.marks_images else 0):
            raise ModelError(
                f"{self.name}: a question contains {self.marker!r}, which the model does not read as text: "
                f"{text[:80]!r}; remove the item from the source"
            )
        self._texts[rendered] = text
        return rendered

    def encode(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        """Return the batches of the variants; those of equal sizes need no padding."""
        rows = []
        for variant in variants:
            images = [Image.fromarray(pixels) for pixels in (variant if self.all_images else variant[:1])]
            rows.append(self._moved(self.row(self._texts[rendered], rendered, images)))
        self.require_context(max(map(self.positions, rows)))
        if self.batches:
            rows = [{name: torch.cat([row[name] for row in rows]) for name in rows[0]}]
        return {"batches": rows}

    def on_device(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        return dict(inputs)

    def positions(self, batch: Batch) -> int:
        """Return the positions of the context that a row of a batch takes, those of its images included."""
        return int(batch["input_ids"].shape[1])

    def context(self) -> int | None:
        config = self.model.config
        parts = (getattr(config, name, None) for name in ("text_config", "llm_config", "language_config"))
        limits = [getattr(part, "max_position_embeddings", None) for part in (config, *parts)]
        return min((limit for limit in limits if limit is not None), default=None)

    def require_context(self, tokens: int) -> None:
        limit = self.context()
        if limit is not None and tokens > limit:
            # Settings such as max_num and max_crops bound the tiles of an image.
            bounds = [name for name in self.settings if name.startswith("max_")]
            fix = f"lower {bounds[0]} in `processor` of the model catalogue, or " if bounds else ""
            raise ModelError(
                f"{self.name}: prompt, images and answer have {tokens} tokens, but the model takes {limit}; "
                f"{fix}remove the item, or this model"
            )

    def forward(self, inputs: Mapping[str, Any], *, last_only: bool) -> Any:
        head, logits, states = self._head, [], []
        assert head is not None  # inside head()
        for batch in inputs["batches"]:
            head.states = torch.empty(0)
            found = self.call(batch, last_only=last_only)
            if not len(head.states):
                raise ModelError(
                    f"{self.name}: its code does not call the language head; its logits cannot be read"
                )
            logits.append(found[:, -1:] if last_only else found)
            states.append(head.states[:, -1:] if last_only else head.states)
        head.states = torch.cat(states)
        return SimpleNamespace(logits=torch.cat(logits))

    def extended(self, inputs: Mapping[str, Any], tokens: Sequence[int]) -> dict[str, Any]:
        """Return the inputs with ``tokens`` after the prompt of each row."""
        batches = [self.continued(batch, tokens) for batch in inputs["batches"]]
        self.require_context(max(map(self.positions, batches)))
        return {"batches": batches}

    def continued(self, batch: Batch, tokens: Sequence[int]) -> Batch:
        """Return a batch with ``tokens`` after the prompt of each row."""
        ids = batch["input_ids"]
        added = {"input_ids": torch.tensor(tokens, device=ids.device).expand(len(ids), -1)}
        if "attention_mask" in batch:
            added["attention_mask"] = torch.ones_like(added["input_ids"])
        return batch | {
            name: torch.cat([batch[name], more.to(batch[name].dtype)], dim=1) for name, more in added.items()
        }

    @contextmanager
    def head(self) -> Iterator[Head]:
        with super().head() as head:
            self._head = head
            try:
                yield head
            finally:
                self._head = None  # it holds the states of the last pass

    def _moved(self, row: Batch) -> Batch:
        device, dtype = self.model.device, self.model.dtype
        return {
            name: value.to(device, dtype if value.is_floating_point() else None)
            for name, value in row.items()
        }


def package_digest(module: ModuleType) -> str:
    """Return a hash of the Python files of an imported package."""
    folder = Path(inspect.getfile(module)).parent
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py")):
        digest.update(f"{path.relative_to(folder).as_posix()}\x1f".encode() + path.read_bytes())
    return digest.hexdigest()


def _identity(found: Loading, settings: Mapping[str, Any], digest: str) -> dict[str, str]:
    versions = {name: version(name) for name in ("torch", "transformers")}
    for name in _LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        **checkpoint_facts(found.source, found.commit),
        "processor": json.dumps(settings, sort_keys=True, default=str),
        "package": digest,
        **versions,
    }
