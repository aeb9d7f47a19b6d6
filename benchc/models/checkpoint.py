"""Load a checkpoint whose class transformers knows."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError

from benchc.hugging_face import transformers
from benchc.models.chat import ChatModel
from benchc.models.protocol import CheckpointSource, ModelError

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load(source: CheckpointSource, *, chat_template: str | None = None) -> ChatModel:
    """Load a model and its processor; raises ModelError where this fails.

    ``chat_template`` is used where the checkpoint comes without one.
    """
    options = {} if Path(source.location).is_dir() else {"revision": source.revision}
    try:
        processor = transformers.AutoProcessor.from_pretrained(source.location, **options)
        # The two backends resize differently, which shows in the fourth decimal of a logit.
        processor.image_processor = transformers.AutoImageProcessor.from_pretrained(
            source.location, backend="pil", **options, **source.processor
        )
        model, report = transformers.AutoModelForImageTextToText.from_pretrained(
            source.location, dtype=DTYPES[source.dtype], output_loading_info=True, **options
        )
    except (OSError, ValueError, KeyError, ImportError, SafetensorError) as error:
        raise ModelError(
            f"{source.location}: cannot be loaded ({' '.join(str(error).split())}); check the id or folder "
            "and the revision in the model catalogue, and that the Hub can be reached or the model is in its "
            "cache"
        ) from error
    # transformers fills missing weights with random numbers and only logs it.
    absent = sorted(map(str, [*report["missing_keys"], *report["mismatched_keys"]]))
    if absent:
        raise ModelError(
            f"{source.location}: {len(absent)} of the model's weights are missing, for example {absent[0]}; "
            "download the checkpoint again, or correct its family in the model catalogue"
        )
    _check_settings(processor.image_processor, source)
    processor.chat_template = getattr(processor, "chat_template", None) or chat_template
    if processor.chat_template is None:
        raise ModelError(
            f"{source.location}: its processor has no chat template; add a family with one (docs/models.md)"
        )
    model.to(source.device).eval()
    return ChatModel(model, processor, _identity(source, model, processor))


def _check_settings(image_processor: Any, source: CheckpointSource) -> None:
    """Raise ModelError for a setting that the image processor does not have; transformers would ignore it."""
    known = type(image_processor).valid_kwargs.__annotations__
    for name in source.processor:
        if name not in known and not hasattr(image_processor, name):
            raise ModelError(
                f"{source.location}: its image processor {type(image_processor).__name__} has no setting "
                f"{name!r}; correct `processor` of the model in the catalogue"
            )


def _identity(source: CheckpointSource, model: Any, processor: Any) -> dict[str, str]:
    folder = Path(source.location)
    commit: str | None = getattr(model.config, "_commit_hash", None) or source.revision
    revision = folder_digest(folder) if folder.is_dir() else commit
    if revision is None:
        raise ModelError(f"{source.location}: its commit is unknown; pin `revision` in the model catalogue")
    return {
        "model": folder.name if folder.is_dir() else source.location,
        "revision": revision,
        "dtype": source.dtype,
        "device": torch.cuda.get_device_name() if source.device == "cuda" else "cpu",
        "processor": _digest(json.dumps(processor.to_dict(), sort_keys=True, default=str).encode()),
        "chat_template": _digest(str(processor.chat_template).encode()),
        **{name: version(name) for name in ("torch", "transformers", "tokenizers", "pillow", "numpy")},
    }


def folder_digest(folder: Path) -> str:
    """Return a hash of the names and contents of all files in a folder and its subfolders."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\x1f".encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
