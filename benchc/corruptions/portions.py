"""Make the corrupted images of many items, in portions that a killed job finds again."""

import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import cv2
import polars as pl
import pyarrow as pa

from benchc.atomic import whole_file
from benchc.closure import closure_digest, module_file
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_item
from benchc.corruptions.workers import ordered_map
from benchc.errors import InputError
from benchc.images import DEFAULT_CODEC, Alpha, Codec, encode
from benchc.progress import track
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.row_groups import arrow_table, table_writer

ROOT = Path(__file__).resolve().parents[2]

# What a worker loses when it is killed: a few seconds.
ITEMS_OF_A_PORTION = 16

IMAGE_BYTES = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()

Item = tuple[str, list[bytes | None]]  # id and encoded images


@dataclass(frozen=True)
class Job:
    """What is done to every item: a corruption at the severities of its recipe, under the run's seed."""

    recipe: Recipe
    seed: int
    alpha: Alpha = "drop"
    codec: Codec = DEFAULT_CODEC


def write_corrupted(
    items: Iterable[Item], job: Job, output: str | Path, workers: int = 1, total: int | None = None
) -> None:
    """Write ``output``, a CORRUPTED table: a row for every item and severity, in the order of ``items``.

    Finished portions wait in the folder ``{output}.parts`` until the table is whole, and a job that was
    killed takes up those that have the same items, recipe, seed and code. Neither that nor ``workers``
    changes a byte. Memory: the images of one item at all severities in every worker, one row group here.
    Disk: twice the table until it is whole. Raises what ``variants_of_item`` does, and InputError where
    ``output`` cannot be written; and leaves ``output`` as it was.
    """
    output = Path(output)
    if output.is_dir():
        raise InputError(f"{output}: is a folder, and the table is to be a file; give another --output")
    folder = output.with_name(f"{output.name}.parts")
    with write_to(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for unfinished in folder.glob(".*"):
            unfinished.unlink()
    whole = folder / "whole.parquet"
    rows = track(
        corrupted_items(items, job, folder, workers),
        label=f"corrupt {job.recipe.name}",
        unit="items",
        total=total,
    )
    footer = {**asdict(job), "libraries": library_versions()}
    with table_writer(whole, CORRUPTED, IMAGE_BYTES, footer) as writer:
        for frame in rows:
            writer.append(frame)
    whole.replace(output)
    shutil.rmtree(folder)


def corrupted_items(items: Iterable[Item], job: Job, folder: Path, workers: int) -> Iterator[pl.DataFrame]:
    """Yield the rows of one item after the other, and keep them by portions in ``folder``."""
    job_key = _job_key(job)
    iterator = iter(items)
    portions = iter(lambda: list(itertools.islice(iterator, ITEMS_OF_A_PORTION)), [])
    calls = ((folder / f"{_key(job_key, portion)}.arrow", portion, job) for portion in portions)
    for path in ordered_map(_make_portion, calls, workers):
        batches = pa.ipc.open_file(pa.memory_map(str(path)))
        for number in range(batches.num_record_batches):
            yield pl.DataFrame(batches.get_batch(number))


def library_versions() -> dict[str, str]:
    """Return the versions on which corrupted pixels and their encoded form depend besides this package."""
    names = ("imagecorruptions-imaug", "imaug", "numba", "numpy", "pillow", "scikit-image", "scipy")
    return {name: importlib.metadata.version(name) for name in names} | {"opencv": cv2.__version__}


def code_digest(recipe: Recipe) -> str:
    """Return a hash of the code that makes the images of a recipe.

    Of a kernel outside this repository, its own file counts, and not what that imports. Raises InputError
    where there is none.
    """
    here = module_file(__name__)
    if recipe.kernel is None:
        return closure_digest([here], ROOT)
    module = recipe.kernel.rpartition(".")[0]
    if (ROOT / module_file(module)).is_file():
        return closure_digest([here, module_file(module)], ROOT)
    code = closure_digest([here], ROOT).encode() + _outside_file(module).read_bytes()
    return hashlib.blake2b(code, digest_size=16).hexdigest()


def _outside_file(module: str) -> Path:
    """Return the file that an import of ``module`` would run."""
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    path = Path(spec.origin) if spec is not None and spec.origin is not None else None
    if path is None or not path.is_file():
        raise InputError(
            f"there is no file of the module {module!r}, which a recipe names; install it, or put its folder "
            "on PYTHONPATH"
        )
    return path


@contextmanager
def write_to(path: Path) -> Iterator[None]:
    """Turn the errors of the file system while something is written to ``path`` into InputErrors."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path}: cannot be written ({error.strerror or error}); mend that, or give another --output"
        ) from error


def _make_portion(call: tuple[Path, Sequence[Item], Job]) -> Path:
    """Write the rows of a few items as an Arrow file, one batch an item, unless it is there."""
    path, items, job = call
    if path.exists():
        return path
    schema = pl.Schema(CORRUPTED.columns)
    with (
        whole_file(path) as file,
        pa.ipc.new_file(file, arrow_table(pl.DataFrame(schema=schema)).schema) as sink,
    ):
        for id_, images in items:
            made = variants_of_item(id_, images, job.recipe, job.recipe.severities, job.seed, job.alpha)
            rows = [
                (id_, severity, [{"bytes": encode(image, job.codec), "path": None} for image in variant])
                for severity, variant in made
            ]
            sink.write(arrow_table(pl.DataFrame(rows, schema=schema, orient="row")).combine_chunks())
    return path


def _job_key(job: Job) -> str:
    return json.dumps([asdict(job), library_versions(), code_digest(job.recipe)], sort_keys=True)


def _key(job_key: str, items: Sequence[Item]) -> str:
    digest = hashlib.blake2b(job_key.encode(), digest_size=16)
    for id_, images in items:
        sizes = [None if image is None else len(image) for image in images]
        digest.update(json.dumps([id_, sizes]).encode())
        for image in images:
            digest.update(image or b"")
    return digest.hexdigest()
