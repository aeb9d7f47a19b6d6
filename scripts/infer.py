"""Ask one model about the items of the pool or of the benchmark, clean and corrupted.

Every read is one logit per option. Reads that the store holds are looked up, the others are computed and
kept, so that a killed job resumes where it was and a changed one computes only what is new.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import torch
import yaml

from benchc.closure import closure_digest, module_file
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import variants_of_item
from benchc.errors import InputError
from benchc.images import ALPHAS, Alpha, ImageError, Pixels, decode
from benchc.models.protocol import ModelSource
from benchc.models.question import Question
from benchc.models.read_store import ReadStore
from benchc.models.reading import Reader
from benchc.models.registry import SCORINGS, load_scorer, scorer_modules
from benchc.prefetch import prefetch
from benchc.progress import track
from benchc.tables.corrupted import CORRUPTED
from benchc.tables.parquet import iterate_groups, read_table, write_table
from benchc.tables.pool import POOL
from benchc.tables.predictions import PREDICTIONS
from benchc.tables.selected import SELECTED
from benchc.tables.unselected import UNSELECTED
from scripts.command import run
from scripts.corruption_arguments import recipe_argument, seed_argument

ROOT = Path(__file__).resolve().parent.parent


# Enough to hide the slowest image of a batch, few enough to hold.
UNITS_AHEAD = 4


@dataclass(frozen=True)
class Unit:
    """One item under all severities of one corruption, whose reads share their prompt."""

    item: str
    corruption: str
    severities: list[int]
    variants: list[list[Pixels]]  # the item's images, by severity


def main() -> None:
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if arguments.gpus and not torch.cuda.is_available():
        raise InputError(
            f"{arguments.location}: this job was to have {arguments.gpus} GPU, but torch finds none; ask for "
            "a node that has one, or set `gpus: 0` in the model catalogue to read on the processor"
        )
    items = wanted_items(arguments.items, arguments.selected, arguments.unselected)
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
    with ReadStore(arguments.store, identity, arguments.writer) as store:
        reader = Reader(scorer, store)
        rows: list[dict[str, Any]] = []
        label = Path(arguments.location).name
        for corruption, units in corruptions_to_read(arguments, items):
            if arguments.gpus:
                # Pixels are decoded or made on the processor while the device reads.
                units = prefetch(units, UNITS_AHEAD)
            units = track(units, label=f"{label} {corruption}", unit="items", total=len(items))
            rows += [row for unit in units for row in read_unit(reader, items[unit.item], unit)]
    print(
        f"{arguments.location}: {len(rows):,} reads, {reader.stored:,} from the store, {reader.new:,} new",
        file=sys.stderr,
    )
    order = {id_: row for row, id_ in enumerate(items)}
    # Stable: an item's corruptions stay in the order of the batch.
    rows.sort(key=lambda row: order[row["id"]])
    footer = {**identity, "reads": len(rows), "halved_units": reader.halved}
    frame = pl.DataFrame(rows, schema=pl.Schema(PREDICTIONS.columns))
    write_table(frame, arguments.output, PREDICTIONS, footer)


def wanted_items(items: Path, selected: Path | None, unselected: Path | None) -> dict[str, Question]:
    """Return the questions to ask by item id, in pool order."""
    pool = read_table(items, POOL, ["id", "question", "hint", "options"])
    if selected is not None:
        kept = read_table(selected, SELECTED).filter("kept")["id"]
        pool = pool.filter(pl.col("id").is_in(kept.implode()))
    if unselected is not None:
        pool = pool.filter(pl.col("id").is_in(read_table(unselected, UNSELECTED)["id"].implode()))
    return {
        row["id"]: Question(row["question"], tuple(row["options"]), row["hint"])
        for row in pool.iter_rows(named=True)
    }


def corruptions_to_read(
    arguments: argparse.Namespace, items: Mapping[str, Question]
) -> Iterator[tuple[str, Iterator[Unit]]]:
    """Yield each corruption of the batch with its units: read from files, or made here."""
    for path in arguments.corrupted:
        yield path.stem, written_units(path, items)
    for recipe in arguments.recipe:
        yield recipe.name, made_units(arguments.items, items, recipe, arguments.seed, arguments.alpha)


def written_units(path: Path, items: Mapping[str, Question]) -> Iterator[Unit]:
    """Yield the units of a file of corrupted images. Raises InputError where it lacks some."""
    missing = dict.fromkeys(items)
    for group in iterate_groups(path, CORRUPTED, "id", items):
        id_ = group["id"][0]
        try:
            variants = [[decode(image["bytes"]) for image in images] for images in group["images"]]
        except ImageError as error:
            raise InputError(f"{path}: item {id_}: {error}") from error
        missing.pop(id_)
        yield Unit(id_, path.stem, group["severity"].to_list(), variants)
    if missing:
        raise InputError(
            f"{path}: has no images of {len(missing)} items, the first is {min(missing)}; "
            "delete the file and run snakemake again"
        )


def made_units(
    pool: Path, items: Mapping[str, Question], recipe: Recipe, seed: int, alpha: Alpha
) -> Iterator[Unit]:
    """Yield the units of a corruption that is applied here, with the pixels that a file would hold."""
    for row in iterate_groups(pool, POOL, "id", items):
        id_ = row["id"][0]
        encoded = [image["bytes"] for image in row["images"][0]]
        made = variants_of_item(id_, encoded, recipe, recipe.severities, seed, alpha)
        yield Unit(id_, recipe.name, [severity for severity, _ in made], [images for _, images in made])


def read_unit(reader: Reader, question: Question, unit: Unit) -> Iterator[dict[str, Any]]:
    """Yield the rows of one item's severities."""
    scores, prompt_hash, image_hashes = reader.read(question, unit.variants)
    for row, severity in enumerate(unit.severities):
        yield {
            "id": unit.item,
            "corruption": unit.corruption,
            "severity": severity,
            "logits": scores.logits[row].tolist(),
            "label_mass": float(scores.label_mass[row]),
            "prompt_hash": prompt_hash,
            "image_hash": image_hashes[row],
        }


def setting(text: str) -> tuple[str, str | int | float | bool]:
    """Parse NAME=VALUE; the value is a YAML scalar."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, yaml.safe_load(value)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.infer",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
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
    subset = parser.add_mutually_exclusive_group()
    subset.add_argument(
        "--selected", type=Path, help="selection/selected.parquet: ask only about the items it keeps"
    )
    subset.add_argument(
        "--unselected", type=Path, help="selection/unselected.parquet: ask only about the items in it"
    )
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
    add("--store", type=Path, required=True, help="folder of the read store")
    add("--writer", required=True, help="name of this job's file in the store, unique among running jobs")
    add("--output", type=Path, required=True, help="predictions to write")
    arguments = parser.parse_args()
    if bool(arguments.corrupted) == bool(arguments.recipe):
        parser.error("give either files (--corrupted) or recipes (--recipe)")
    if arguments.recipe and arguments.seed is None:
        parser.error("--recipe needs the run's --seed")
    return arguments


if __name__ == "__main__":
    run(main)
