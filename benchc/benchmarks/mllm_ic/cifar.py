"""The test pictures of CIFAR-10, from the archive or the folder of its Python version."""

import io
import pickle
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchc.errors import InputError
from benchc.image_keys import named_key
from benchc.images import encode
from benchc.randomness import seed_of

BATCH = "cifar-10-batches-py/test_batch"
LARGEST = 2**26  # bytes; the published batch has half of them
SIDE = 32
# All that a batch needs: a pickle may else run any code.
NEEDED = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("_codecs", "encode"),  # of bytes, where a newer Python has written the batch
}
# What pickle raises for bytes that are none of its own, and the archive for others.
UNREADABLE = (
    *(OSError, EOFError, tarfile.TarError, pickle.UnpicklingError),
    *(AttributeError, LookupError, MemoryError, TypeError, ValueError),
)


def cifar_pictures(path: Path, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield the key and the encoded picture of ``count`` test pictures, the first in a hashed order.

    ``path``: `cifar-10-python.tar.gz`, or the folder `cifar-10-batches-py`. Raises InputError where it is
    not CIFAR-10.
    """
    try:
        data = np.asarray(_Unpickler(io.BytesIO(_batch(path)), encoding="bytes").load()[b"data"])
    except UNREADABLE as error:
        raise InputError(
            f"{path}: is not CIFAR-10 ({' '.join(str(error).split())}); give cifar-10-python.tar.gz or the "
            "folder cifar-10-batches-py of its Python version"
        ) from error
    if data.dtype != np.uint8 or data.shape[1:] != (3 * SIDE * SIDE,):
        raise InputError(
            f"{path}: its test_batch has no pictures of {SIDE} × {SIDE} pixels; download it again"
        )
    order = sorted(range(len(data)), key=lambda index: seed_of(seed, "hierarchy", index))
    for index in order[:count]:
        pixels = np.ascontiguousarray(data[index].reshape(3, SIDE, SIDE).transpose(1, 2, 0))
        yield named_key("cifar-10", f"test/{index}"), encode(pixels, "ppm")


def _batch(path: Path) -> bytes:
    if path.is_dir():
        return (path / Path(BATCH).name).read_bytes()
    with tarfile.open(path) as archive:
        file = archive.extractfile(BATCH)
        data = b"" if file is None else file.read(LARGEST + 1)
    if not data or len(data) > LARGEST:
        raise ValueError(f"{BATCH} is no file of up to {LARGEST:,} bytes")
    return data


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in NEEDED:
            raise pickle.UnpicklingError(f"it needs {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)
