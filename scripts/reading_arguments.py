"""What the scripts that ask a model share: their arguments, the model, and the images in order."""

import argparse
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

import torch
import yaml

from benchc.closure import closure_digest, module_file
from benchc.errors import InputError
from benchc.images import ALPHAS
from benchc.models.protocol import ModelSource, Scorer
from benchc.models.question import Question
from benchc.models.reading import Reader
from benchc.models.registry import SCORINGS, load_scorer, scorer_modules
from benchc.models.units import Unit, made_units, written_units
from benchc.prefetch import prefetch
from benchc.progress import track
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from scripts.corruption_arguments import recipe_argument, seed_argument

ROOT = Path(__file__).resolve().parent.parent

# Enough to hide the slowest image of a batch, few enough to hold.
UNITS_AHEAD = 4


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the model: where it is, how it is held and scored, and on what it runs."""
    add = parser.add_argument
    add("--location", required=True, help="the model: a Hub id, or a folder in the Hub's form")
    add("--revision", help="commit of the Hub id; none takes the newest")
    add("--family", required=True, help="name of a module in benchc/models/families/")
    add("--scoring", required=True, choices=sorted(SCORINGS), help="how options are scored")
    add("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    add("--gpus", type=int, default=0, help="GPUs that the job was given: with one, the model runs on it")
    add(
        "--processor",
        action="append",
        default=[],
        type=setting,
        metavar="NAME=VALUE",
        help="a setting of the image processor to override, such as max_patches=6; may be repeated",
    )
    add("--threads", type=int, default=1, help="threads of one forward pass; part of a read's identity")
    add("--items", type=Path, required=True, help="pool/items.parquet")


def add_images(parser: argparse.ArgumentParser) -> None:
    """Add the images: files of them, or recipes that are applied here."""
    add = parser.add_argument
    add("--corrupted", type=Path, nargs="+", default=[], help="{corruption}.parquet of the images, in order")
    add(
        "--recipe",
        action="append",
        default=[],
        type=recipe_argument,
        metavar="JSON",
        help="instead of a file: a corruption that is applied here to the images of --items; may be repeated",
    )
    add("--seed", type=seed_argument, help="the run's seed, for --recipe")
    add("--alpha", choices=ALPHAS, default="drop", help="what becomes of transparency, for --recipe")


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add the read store and the job's file in it."""
    add = parser.add_argument
    add("--store", type=Path, required=True, help="folder of the read store")
    add("--writer", required=True, help="name of this job's file in the store, unique among running jobs")


def check_images(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End with a usage message unless images come from files or from recipes with a seed."""
    if bool(arguments.corrupted) == bool(arguments.recipe):
        parser.error("give either files (--corrupted) or recipes (--recipe)")
    if arguments.recipe and arguments.seed is None:
        parser.error("--recipe needs the run's --seed")


def load_model(arguments: argparse.Namespace) -> tuple[Scorer, dict[str, str]]:
    """Return the scorer, and whatever decides its reads besides prompt and pixels.

    Raises InputError where the model is to run on a GPU that torch does not find, or cannot be loaded.
    """
    torch.set_num_threads(arguments.threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if arguments.gpus and not torch.cuda.is_available():
        raise InputError(
            f"{arguments.location}: this job was to have {arguments.gpus} GPU, but torch finds none; ask for "
            "a node that has one, or set `gpus: 0` in the model catalogue to read on the processor"
        )
    source = ModelSource(
        arguments.location,
        arguments.revision,
        arguments.dtype,
        "cuda" if arguments.gpus else "cpu",
        dict(arguments.processor),
    )
    modules = scorer_modules(arguments.family, arguments.scoring)
    scorer = load_scorer(arguments.family, arguments.scoring, source)
    identity = {
        **scorer.identity(),
        "threads": str(arguments.threads),
        "scorer": closure_digest([module_file(module) for module in modules], ROOT),
    }
    return scorer, identity


def questions(items: Path) -> dict[str, Question]:
    """Return the questions of the pool by item id, in its order."""
    pool = read_table(items, POOL, ["id", "question", "hint", "options"])
    return {
        row["id"]: Question(row["question"], tuple(row["options"]), row["hint"])
        for row in pool.iter_rows(named=True)
    }


def units_to_read(
    arguments: argparse.Namespace, items: Mapping[str, Question], severities: Container[int] | None = None
) -> Iterator[Unit]:
    """Yield the units of every corruption in turn, read from files or made here, with a line of progress.

    ``severities``: which to read; None takes all.
    """
    label = Path(arguments.location).name
    for corruption, units in _corruptions(arguments, items, severities):
        if arguments.gpus:
            # Pixels are decoded or made on the processor while the device reads.
            units = prefetch(units, UNITS_AHEAD)
        yield from track(units, label=f"{label} {corruption}", unit="items", total=len(items))


def summary(arguments: argparse.Namespace, reads: int, reader: Reader) -> str:
    """Return the line that says how many reads there are and where they come from."""
    return f"{arguments.location}: {reads:,} reads, {reader.stored:,} from the store, {reader.new:,} new"


def setting(text: str) -> tuple[str, str | int | float | bool]:
    """Parse NAME=VALUE; the value is a YAML scalar."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, yaml.safe_load(value)


def _corruptions(
    arguments: argparse.Namespace, items: Mapping[str, Question], severities: Container[int] | None
) -> Iterator[tuple[str, Iterator[Unit]]]:
    for path in arguments.corrupted:
        yield path.stem, written_units(path, items, severities)
    for recipe in arguments.recipe:
        made = made_units(arguments.items, items, recipe, arguments.seed, arguments.alpha, severities)
        yield recipe.name, made
