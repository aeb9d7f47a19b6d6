"""Arguments of the scripts that ask a model."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import yaml

from benchc.images import ALPHAS
from benchc.models.protocol import ModelSource
from benchc.models.registry import SCORINGS
from benchc.models.units import Recipes
from scripts.argument_types import recipe_argument, seed_argument


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
    add("--threads", type=int, default=1, help="threads of one forward pass; part of a prediction's identity")


def add_items(parser: argparse.ArgumentParser) -> None:
    """Add the items that the model is asked about: the pool, and the subset of it."""
    parser.add_argument("--items", type=Path, required=True, help="pool/items.parquet")
    parser.add_argument(
        "--subset",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="subsets/{subset}.parquet: only the items in it; without it, or with no FILE, the whole pool",
    )


def add_images(parser: argparse.ArgumentParser) -> None:
    """Add the images: files of them, or recipes that are applied here."""
    add = parser.add_argument
    add("--corrupted", type=Path, nargs="*", default=[], help="{corruption}.parquet of the images, in order")
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


def add_cache(parser: argparse.ArgumentParser) -> None:
    """Add the prediction cache and the job's shard in it."""
    add = parser.add_argument
    add("--cache", type=Path, required=True, help="folder of the prediction cache")
    add("--shard", required=True, help="name of this job's file in the cache, unique among running jobs")


def check_images(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End with a usage message unless images come from files or from recipes with a seed."""
    if bool(arguments.corrupted) == bool(arguments.recipe):
        parser.error("give either files (--corrupted) or recipes (--recipe)")
    if arguments.recipe and arguments.seed is None:
        parser.error("--recipe needs the run's --seed")


def source_of(arguments: argparse.Namespace) -> ModelSource:
    """Return where the model is and how it is held."""
    return ModelSource(
        arguments.location,
        arguments.revision,
        arguments.dtype,
        "cuda" if arguments.gpus else "cpu",
        dict(arguments.processor),
    )


def images_of(arguments: argparse.Namespace) -> Sequence[Path] | Recipes:
    """Return where the images come from."""
    if arguments.recipe:
        return Recipes(arguments.recipe, arguments.seed, arguments.alpha)
    files: list[Path] = arguments.corrupted
    return files


def setting(text: str) -> tuple[str, str | int | float | bool]:
    """Parse NAME=VALUE; the value is a YAML scalar."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, yaml.safe_load(value)
