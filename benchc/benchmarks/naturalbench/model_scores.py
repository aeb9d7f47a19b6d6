"""The scores of one model, from the files of its predictions and answers."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.kinds import DecisionRule, Prior
from benchc.benchmarks.naturalbench.metrics.extraction import Extraction
from benchc.benchmarks.naturalbench.metrics.group_items import Cell, GroupItems
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
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.answers import ANSWERS
from benchc.schemas.parquet import REMAKE, TableError, read_footer, read_table
from benchc.schemas.predictions import KEY, PREDICTIONS
from benchc.schemas.predictions_of_model import check_answers, read_predictions

WITHOUT_PROBABILITIES = "the model gives answers without probabilities"
COLUMNS = [*KEY, "logits", "label_mass"]


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model: none of predictions and no prior where it gives answers without probabilities.

    ``prior``: its predictions without the images.
    """

    predictions: Sequence[Path]
    answers: Sequence[Path]
    prior: Path | None

    @property
    def all(self) -> list[Path]:
        """All files."""
        return [*self.predictions, *self.answers, *([] if self.prior is None else [self.prior])]

    @property
    def label(self) -> str:
        """The model whose folder all files are in. Raises InputError where they are of several, or none."""
        folders = sorted({path.parent.name for path in self.all})
        if len(folders) != 1:
            raise InputError(
                f"--predictions, --answers and --prior: the files are of {pluralize(len(folders), 'model')} "
                f"({', '.join(folders)}); give those of one"
            )
        return folders[0]


@dataclass(frozen=True)
class ModelScores:
    """The rows of SCORES of one model, and facts of their footer, as ScoresFooter describes them."""

    table: pl.DataFrame
    scoring: str | None
    extraction: Extraction | None
    unavailable: Mapping[str, str]
    taus: Sequence[Mapping[str, object]]


def score_model(
    files: ModelFiles,
    items: GroupItems,
    cells: Sequence[Cell],
    *,
    readings: Sequence[DecisionRule],
    substitute: Prior,
    extraction: Extraction,
    by_text: bool,
) -> ModelScores:
    """Return which questions, images and groups are right, by each reading that the model has.

    Args:
        files: of the model
        items: the groups
        cells: corruptions and severities under which every item is required, clean first
        readings: those of the run
        substitute: what was in place of the images in ``files.prior``
        extraction: how an answer is extracted from a reply
        by_text: whether the prompt calls the options of a multiple-choice question by their texts

    Raises InputError where rows are missing, or a file that a reading needs, and where no reading is left.
    """
    answers = None
    if "decoding" in readings:
        if not files.answers:
            raise InputError("--answers: none given, and the reading decoding needs them; give them")
        replies = _read_answers(files.answers)
        with _of_folder(files.answers[0]):
            answers = answered(replies, items, cells, extraction, by_text=by_text)
    wanted = [reading for reading in readings if reading != "decoding"]
    unavailable: dict[str, str] = {}
    given, scoring = None, None
    priors: dict[str, Floats] = {}
    if files.predictions:
        given, scoring = _of_predictions(files.predictions, items, cells)
        if "post_hoc" in wanted:
            priors, unavailable = _of_prior(files.prior, substitute, items, scoring)
    else:
        names: dict[str, Sequence[str]] = {"post_hoc": [POST_HOC[substitute]], "global": GLOBAL}
        for reading in wanted:
            unavailable |= dict.fromkeys(names.get(reading, [reading]), WITHOUT_PROBABILITIES)
    with _of_folder(files.all[0]):
        found = read_groups(items, cells, answers=answers, given=given, readings=wanted, priors=priors)
    if found.scores.is_empty():
        raise InputError(
            f"{files.label}: has none of the readings {', '.join(readings)}; add decoding to readings, or "
            "remove the model"
        )
    extracted = None if answers is None else extraction
    return ModelScores(found.scores, scoring, extracted, unavailable, found.taus)


def _of_predictions(
    paths: Sequence[Path], items: GroupItems, cells: Sequence[Cell]
) -> tuple[Probabilities, str]:
    """Return the probabilities of a model's predictions, and its scoring."""
    rows = read_predictions(track(paths, label="predictions", unit="files"), COLUMNS)
    scoring = str(read_footer(paths[0]).get("scoring"))
    with _of_folder(paths[0]):
        return probabilities(rows, items, cells, scoring), scoring


def _of_prior(
    path: Path | None, prior: Prior, items: GroupItems, scoring: str
) -> tuple[dict[str, Floats], dict[str, str]]:
    """Return the log-probabilities without image by prior, or why there are none by reading."""
    if path is None:
        raise InputError("--prior: none given, and the reading post_hoc needs it; give it")
    footer = read_footer(path)
    if (reason := footer.get("unavailable")) is not None:
        return {}, {POST_HOC[prior]: str(reason)}
    if footer.get("scoring") != scoring:
        raise TableError(f"{path}: its scoring is {footer.get('scoring')}, not {scoring}; {REMAKE}")
    with _of_folder(path):
        rows = read_table(path, PREDICTIONS).select(COLUMNS)
        return {prior: prior_differences(rows, items, prior)}, {}


def _read_answers(paths: Sequence[Path]) -> pl.DataFrame:
    """Return the generated replies of all files. Raises TableError as :func:`check_answers`."""
    check_answers(paths)
    files = track(paths, label="answers", unit="files")
    return pl.concat([read_table(path, ANSWERS, [*KEY, "reply"]) for path in files])


@contextmanager
def _of_folder(path: Path) -> Iterator[None]:
    """Name the folder of a file in an error that does not name a file. The error says how to mend it."""
    try:
        yield
    except TableError:
        raise
    except InputError as error:
        raise InputError(f"{path.parent}: {error}") from error
