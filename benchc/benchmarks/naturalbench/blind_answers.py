"""Which questions of other benchmarks models answer rightly, with their images and without."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.rendering.output import Files
from benchc.schemas.logits import logit_blocks, prediction
from benchc.schemas.models import read_models
from benchc.schemas.parquet import REMAKE, TableError, read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS, check_predictions
from benchc.statistics.chance import Chance, option_chance

Bools = npt.NDArray[np.bool_]

UNAVAILABLE = "unavailable"  # in the footer: why a model reads no question without an image


@dataclass(frozen=True)
class BlindAnswers:
    """The answers of models to the items of other benchmarks.

    Attributes:
        items: id, source, options and answer, sorted by source
        labels: of the models by id
        seen: whether each item is answered rightly with its images, bool[items] by model
        unseen: the same without its images; why there is no answer, for a model that reads no such question
    """

    items: pl.DataFrame
    labels: Mapping[str, str]
    seen: Mapping[str, Bools]
    unseen: Mapping[str, Bools | str]

    @property
    def blind(self) -> dict[str, Bools]:
        """Return what the models that read questions without images answer rightly, by id."""
        return {id_: right for id_, right in self.unseen.items() if not isinstance(right, str)}

    @property
    def sighted(self) -> list[str]:
        """Return the labels of the other models."""
        return [self.labels[id_] for id_, right in self.unseen.items() if isinstance(right, str)]

    def rows(self, source: str) -> Bools:
        """Return which items are of a source, bool[items]."""
        return self.items["source"].eq(source).to_numpy()


def read_blind_answers(pool: Path, models: Path, seen: list[Path], unseen: list[Path]) -> BlindAnswers:
    """Read the predictions {model}/clean.parquet and {model}/no_image.parquet on ``pool``.

    Raises InputError where a file is of another pool or model, or lacks a prediction of an item.
    """
    items = read_table(pool, POOL, ["id", "source", "options", "answer"])
    known = read_models(models).models
    check_predictions(seen, pool)
    check_predictions(unseen, pool)
    return BlindAnswers(
        items,
        {path.parent.name: known[path.parent.name].label for path in seen},
        {path.parent.name: _right(path, items) for path in seen},
        {path.parent.name: unavailable(path) or _right(path, items) for path in unseen},
    )


def unavailable(path: Path) -> str | None:
    """Return why a file {model}/no_image.parquet has no predictions; None for one that has."""
    reason = read_footer(path).get(UNAVAILABLE)
    return None if reason is None else str(reason)


def chosen_options(path: Path) -> dict[str, int]:
    """Return the option with the largest logit by item, of PREDICTIONS with one row an item."""
    predictions = read_table(path, PREDICTIONS)
    chosen: dict[str, int] = {}
    for rows, logits in logit_blocks(predictions):
        chosen |= dict(zip(predictions["id"].gather(rows), prediction(logits).tolist(), strict=True))
    return chosen


def _right(path: Path, items: pl.DataFrame) -> Bools:
    chosen = chosen_options(path)
    if absent := [id_ for id_ in items["id"] if id_ not in chosen]:
        raise TableError(f"{path}: has no prediction of {absent[0]}; {REMAKE}")
    return np.array([chosen[id_] == answer for id_, answer in items.select("id", "answer").iter_rows()])


def chance_of(items: pl.DataFrame) -> Chance:
    """Return the chance of an accuracy: guessing, the mean of 1/K, and the best answer that is always one.

    That is a text, as of Yes and No, where this is right as often as the best letter; an item that does not
    have the text among its options is answered wrongly. ``items``: options and answer of at least one item.
    """
    by_letter = option_chance(items["answer"].to_numpy(), items["options"].list.len().to_numpy())
    texts = Counter(
        options[answer].strip().casefold() for options, answer in items["options", "answer"].iter_rows()
    )
    # Of texts that are right equally often, the first in the alphabet.
    text, count = min(texts.items(), key=lambda entry: (-entry[1], entry[0]))
    share = count / items.height
    if share < by_letter.constant or text.upper() == by_letter.answer:
        return Chance(by_letter.guessing, by_letter.constant, f"letter {by_letter.answer}")
    return Chance(by_letter.guessing, share, text.capitalize())


Answers = Annotated[BlindAnswers, Files(read_blind_answers)]
