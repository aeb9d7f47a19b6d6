"""Corrupt many images into one table, in chunks from which a killed job resumes."""

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import polars as pl
from PIL import features

from benchc.closure import closure_digest, module_file
from benchc.corruptions.recipe import Recipe, own_file
from benchc.corruptions.user_file_digest import first_party_files, user_file_digest
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.images import DEFAULT_CODEC, Codec, encode
from benchc.progress import track
from benchc.schemas.corrupted import CORRUPTED, CorruptedFooter
from benchc.schemas.parquet import TableFile
from benchc.schemas.pool_images import EncodedImage
from benchc.schemas.row_groups import table_writer
from benchc.transparency import Alpha
from benchc.worker_processes import map_in_processes

ROOT = Path(__file__).resolve().parents[2]

# So few that a killed worker loses only a few seconds of work.
IMAGES_PER_CHUNK = 16

# Key and encoded bytes of an image, and its severities.
ImageAtLevels = tuple[str, bytes | None, Sequence[int]]

IMAGE_BYTES = pl.col("image").struct.field("bytes").bin.size()


@dataclass(frozen=True)
class CorruptionSpec:
    """How every image is corrupted: the recipe at all its severities, with the run's seed."""

    recipe: Recipe
    seed: int
    alpha: Alpha = "drop"
    codec: Codec = DEFAULT_CODEC


def write_corrupted(
    images: Iterable[EncodedImage],
    spec: CorruptionSpec,
    output: str | Path,
    workers: int = 1,
    total: int | None = None,
    pool: str | None = None,
    assigned: Mapping[str, Sequence[int]] | None = None,
) -> None:
    """Write ``output``, a CORRUPTED table: a row for every image and severity, in the order of ``images``.

    ``images``: distinct keys and encoded bytes; ``total``: their number; ``pool``: the digest of
    the pool's images; ``assigned``: the severities of each image by its key, None for those of the recipe.
    Finished chunks are kept in the folder ``{output}.parts`` until the table is complete; a restarted job
    reuses those of the same images, recipe, seed, code and libraries. The table has the same bytes for any
    ``workers`` and after a restart. Memory: one image at all severities and that of ``table_writer``, once
    and per worker. Disk: twice the table. Raises the errors of ``variants_of_image``, TableError where a
    finished chunk is damaged, and InputError where ``output`` cannot be written or another process writes it;
    ``output`` then stays unchanged.
    """
    output = Path(output)
    if output.is_dir():
        raise InputError(f"{output}: is a folder, but the table is a file; give another --output")
    folder = output.with_name(f"{output.name}.parts")
    with input_error_on_write(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        for unfinished in folder.glob(".*"):
            unfinished.unlink()
        whole = folder / "whole.parquet"
        rows = track(
            corrupted_images(images, spec, folder, workers, assigned),
            label=f"corrupt {spec.recipe.name}",
            unit="images",
            total=total,
        )
        footer = CorruptedFooter(
            recipe=spec.recipe.content(),
            seed=spec.seed,
            alpha=spec.alpha,
            codec=spec.codec,
            libraries=library_versions(),
            pool=pool,
        )
        with table_writer(whole, CORRUPTED, IMAGE_BYTES, footer) as writer:
            for frame in rows:
                writer.append(frame)
        whole.replace(output)
        shutil.rmtree(folder)


def corrupted_images(
    images: Iterable[EncodedImage],
    spec: CorruptionSpec,
    folder: Path,
    workers: int,
    assigned: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield the rows of each image, and keep them in ``folder`` by chunks."""
    spec_key = _spec_key(spec)
    levels = spec.recipe.severities
    every = ((key, data, levels if assigned is None else assigned[key]) for key, data in images)
    chunks = iter(lambda: list(itertools.islice(every, IMAGES_PER_CHUNK)), [])
    calls = ((folder / f"{_key(spec_key, chunk)}.chunk", chunk, spec) for chunk in chunks)
    for path, counts in map_in_processes(_make_chunk, calls, workers if workers > 1 else 0):
        # A chunk may be days old, so what is read is verified.
        with TableFile(path, CORRUPTED) as file:
            for first, count in zip(itertools.accumulate(counts, initial=0), counts, strict=False):
                yield file.rows(range(first, first + count))


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries on which the corrupted pixels and their encoding depend."""
    augmenters = ("imagecorruptions-imaug", "imaug")
    numeric = ("llvmlite", "numba", "numpy", "pillow", "scikit-image", "scipy")
    versions = {name: importlib.metadata.version(name) for name in (*augmenters, *numeric)}
    # Builds of one version of Pillow have different decoders.
    codecs = {name: str(features.version(name)) for name in ("jpg", "libjpeg_turbo", "jpg_2000", "webp")}
    return versions | codecs | {"opencv": cv2.__version__}


def code_digest(recipe: Recipe) -> str:
    """Return a hash of the code that applies a recipe.

    Of a kernel in a user's file, what that imports from its folder is hashed too; of the module of another
    package, only its own file. Raises InputError where that file is missing.
    """
    here = module_file(__name__)
    if recipe.kernel is None:
        return closure_digest([here], ROOT)
    module = recipe.kernel.rpartition(".")[0]
    if (file := own_file(recipe.kernel)) is not None:
        files, code = [here, *first_party_files(file, ROOT)], user_file_digest(file).encode()
    elif (ROOT / module_file(module)).is_file():
        return closure_digest([here, module_file(module)], ROOT)
    else:
        files, code = [here], _outside_file(module).read_bytes()
    return hashlib.blake2b(closure_digest(files, ROOT).encode() + code, digest_size=16).hexdigest()


def _outside_file(module: str) -> Path:
    """Return the file that an import of ``module`` would run."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    path = Path(spec.origin) if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        raise InputError(
            f"the module {module!r}, which a recipe names, is missing; install it, or add its folder to "
            "PYTHONPATH"
        )
    return path


@contextmanager
def input_error_on_write(path: Path) -> Iterator[None]:
    """Turn file system errors while writing to ``path`` into InputErrors."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); fix that, or give another --output"
        ) from error


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock ``folder`` as long as this process lives. Raises InputError where another one has locked it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InputError(
                f"{folder}: another process is writing there; wait until it has ended, then run this again"
            ) from error
        except OSError:
            pass  # Some network file systems have no locks.
        yield
    finally:
        os.close(descriptor)


def _make_chunk(call: tuple[Path, Sequence[ImageAtLevels], CorruptionSpec]) -> tuple[Path, list[int]]:
    """Write the rows of a few images as a CORRUPTED table, unless it exists; return its rows by image."""
    path, images, spec = call
    counts = [len(levels) for _, _, levels in images]
    if path.exists():
        return path, counts
    with table_writer(path, CORRUPTED, IMAGE_BYTES) as writer:
        for key, data, levels in images:
            variants = variants_of_image(key, data, spec.recipe, levels, spec.seed, spec.alpha)
            rows = [
                (key, severity, {"bytes": encode(pixels, spec.codec), "path": None})
                for severity, pixels in variants.items()
            ]
            writer.append(pl.DataFrame(rows, schema=pl.Schema(CORRUPTED.columns), orient="row"))
    return path, counts


def _spec_key(spec: CorruptionSpec) -> str:
    return json.dumps([asdict(spec), library_versions(), code_digest(spec.recipe)])


def _key(spec_key: str, images: Sequence[ImageAtLevels]) -> str:
    digest = hashlib.blake2b(spec_key.encode(), digest_size=16)
    for key, data, levels in images:
        of_image = hashlib.blake2b(data or b"").hexdigest()
        digest.update(json.dumps([key, of_image, *levels]).encode())
    return digest.hexdigest()
