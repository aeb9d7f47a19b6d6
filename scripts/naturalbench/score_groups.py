"""Score one model: which questions, images and groups are right, by each reading of its predictions."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import polars as pl

from benchc.benchmarks.naturalbench.kinds import READINGS
from benchc.benchmarks.naturalbench.metrics.extraction import Extraction
from benchc.benchmarks.naturalbench.metrics.group_items import Cell, GroupItems, group_items
from benchc.benchmarks.naturalbench.metrics.groups import Floats
from benchc.benchmarks.naturalbench.metrics.readings import (
    GLOBAL,
    POST_HOC,
    Probabilities,
    answered,
    prior_differences,
    probabilities,
    read_groups,
)
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import SCORES
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.answers import ANSWERS
from benchc.schemas.parquet import AGAIN, TableError, read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import CLEAN, KEY, PREDICTIONS, check_predictions
from benchc.schemas.predictions_of_model import read_predictions
from scripts.command import Parser, run

WITHOUT_PROBABILITIES = "the model gives answers without probabilities"
COLUMNS = [*KEY, "logits", "label_mass"]


def main() -> None:
    arguments = parse_arguments()
    files = [*arguments.predictions, *arguments.answers, *arguments.prior]
    label = label_of(files)
    facts = check_predictions(files, arguments.items)
    pool = read_table(arguments.items, POOL, ["id", "options", "answer"])
    items = group_items(read_table(arguments.groups, GROUPS), pool)
    corrupted = [(name, level) for name in arguments.corruptions for level in arguments.severities]
    cells: list[Cell] = [(CLEAN, 0), *corrupted]
    answers = None
    if "decoding" in arguments.readings:
        if not arguments.answers:
            raise InputError("--answers: none given, and the reading decoding needs them; give them")
        replies = read_answers(arguments.answers)
        with of_folder(arguments.answers):
            by_text = arguments.labels == "texts"
            answers = answered(replies, items, cells, arguments.extraction, by_text=by_text)
    wanted = [reading for reading in arguments.readings if reading != "decoding"]
    unavailable: dict[str, object] = {}
    given, scoring = None, None
    priors: dict[str, Floats] = {}
    if arguments.predictions:
        given, scoring = of_predictions(arguments.predictions, items, cells)
        if "post_hoc" in wanted:
            priors, unavailable = of_prior(arguments.prior, arguments.prior_kind, items, scoring)
    else:
        names = {"post_hoc": [POST_HOC[arguments.prior_kind]], "global": GLOBAL}
        for reading in wanted:
            unavailable |= dict.fromkeys(names.get(reading, [reading]), WITHOUT_PROBABILITIES)
    with of_folder(arguments.predictions):
        found = read_groups(items, cells, answers=answers, given=given, readings=wanted, priors=priors)
    if found.scores.is_empty():
        raise InputError(
            f"{label}: has none of the readings {', '.join(arguments.readings)}; add decoding to "
            "readings, or remove the model"
        )
    footer = {
        "label": label,
        **facts,
        "scoring": scoring,
        "extraction": arguments.extraction if answers is not None else None,
        "unavailable": unavailable,
        "taus": found.taus,
    }
    write_table(found.scores, arguments.output, SCORES, footer)
    readings = ", ".join(found.scores["reading"].unique(maintain_order=True))
    print(f"{label}: {pluralize(len(items.groups), 'group')} read by {readings}", file=sys.stderr)


def label_of(files: Sequence[Path]) -> str:
    """Return the model whose folder all files are in."""
    folders = sorted({path.parent.name for path in files})
    if len(folders) != 1:
        raise InputError(
            f"--predictions, --answers and --prior: the files are of {len(folders)} models "
            f"({', '.join(folders)}); give those of one"
        )
    return folders[0]


def of_predictions(
    paths: Sequence[Path], items: GroupItems, cells: Sequence[Cell]
) -> tuple[Probabilities, str]:
    """Return the probabilities of a model's predictions, and its scoring."""
    rows = read_predictions(track(paths, label="predictions", unit="files"), COLUMNS)
    scoring = str(read_footer(paths[0]).get("scoring"))
    with of_folder(paths):
        return probabilities(rows, items, cells, scoring), scoring


def of_prior(
    paths: Sequence[Path], prior: str, items: GroupItems, scoring: str
) -> tuple[dict[str, Floats], dict[str, object]]:
    """Return the log-probabilities without image by prior, or why there are none by reading."""
    if len(paths) != 1:
        raise InputError(
            f"--prior: {pluralize(len(paths), 'file')} given, and the reading post_hoc needs one; give it"
        )
    path = paths[0]
    footer = read_footer(path)
    if (reason := footer.get("unavailable")) is not None:
        return {}, {POST_HOC[prior]: reason}
    if footer.get("scoring") != scoring:
        raise TableError(f"{path}: its scoring is {footer.get('scoring')}, not {scoring}; {AGAIN}")
    with of_folder(paths):
        rows = read_table(path, PREDICTIONS).select(COLUMNS)
        return {prior: prior_differences(rows, items, prior)}, {}


def read_answers(paths: Sequence[Path]) -> pl.DataFrame:
    """Return the generated replies of all files."""
    files = track(paths, label="answers", unit="files")
    return pl.concat([read_table(path, ANSWERS, [*KEY, "reply"]) for path in files])


@contextmanager
def of_folder(paths: Sequence[Path]) -> Iterator[None]:
    """Name the folder of the files in an error that does not name a file. The error says how to mend it."""
    try:
        yield
    except TableError:
        raise
    except InputError as error:
        raise InputError(f"{paths[0].parent}: {error}") from error


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--items", type=Path, required=True, help="pool/items.parquet")
    add("--groups", type=Path, required=True, help="pool/groups.parquet")
    add(
        "--predictions",
        type=Path,
        nargs="*",
        default=[],
        help="predictions/{subset}/{model}/{part}.parquet: all files of the model; none for one that has no "
        "probabilities",
    )
    add(
        "--answers",
        type=Path,
        nargs="*",
        default=[],
        help="answers/{subset}/{model}/{part}.parquet: all files of the model, for the reading decoding",
    )
    add(
        "--prior",
        type=Path,
        nargs="*",
        default=[],
        help="its predictions without the image, for the reading post_hoc",
    )
    add("--prior-kind", choices=POST_HOC, default="no_image", help="what was in place of the image")
    add("--readings", nargs="+", choices=READINGS, required=True, help="readings of the run")
    add(
        "--extraction",
        choices=get_args(Extraction),
        default="strict",
        help="how an answer is extracted from a reply",
    )
    add(
        "--labels",
        choices=("letters", "texts"),
        default="letters",
        help="what the prompt calls the options of a multiple-choice question",
    )
    add("--corruptions", nargs="*", default=[], help="corruptions under which every item is required")
    add("--severities", type=int, nargs="*", default=[], help="severities of each corruption")
    add("--output", type=Path, required=True, help="table of scores to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
