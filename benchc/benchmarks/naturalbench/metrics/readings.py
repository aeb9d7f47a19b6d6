"""What a model predicts for each group, by each reading of its answers and probabilities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.benchmarks.naturalbench.metrics.debias import (
    Integers,
    best_tau,
    bounds,
    halves,
    letter_difference,
    post_hoc,
    predicted,
    sample_outcomes,
    text_difference,
)
from benchc.benchmarks.naturalbench.metrics.extraction import Extraction, answer_of
from benchc.benchmarks.naturalbench.metrics.group_items import Cell, GroupItems, arranged
from benchc.benchmarks.naturalbench.metrics.groups import OUTCOMES, Bools, Floats, outcomes
from benchc.benchmarks.naturalbench.schemas.scores import PLACES, SCORES
from benchc.errors import InputError
from benchc.schemas.logits import logit_blocks, name_of
from benchc.schemas.parquet import REMAKE
from benchc.schemas.predictions import CLEAN

# The reading by a pass with a grey image has its own name.
POST_HOC = {"no_image": "post_hoc", "grey_image": "post_hoc_grey_image"}
# Readings by thresholds that are chosen from all groups: one tau, one for each type, and one for each half
# of the groups, chosen from the other half.
GLOBAL = ("global", "global_by_type", "cross_fitted")
NO_OPTION = -1  # in place of a predicted option


class Probabilities(NamedTuple):
    """Of a model: d and log P(0 | q, i) - log P(1 | q, i), float64[cells, groups, 2, 2]; see `debias`."""

    differences: Floats
    log_differences: Floats


@dataclass(frozen=True)
class Readings:
    """The rows of SCORES, and the thresholds that were chosen.

    Each threshold has the keys reading, type (None for both), half (None for all groups; else the half that
    it is applied to), tau, low, high, groups (from which it was chosen) and right (of these).
    """

    scores: pl.DataFrame
    taus: list[dict[str, object]] = field(default_factory=list)


def probabilities(
    predictions: pl.DataFrame, items: GroupItems, cells: Sequence[Cell], scoring: str
) -> Probabilities:
    """Return how much more probable option 0 is than option 1, of each item in each cell.

    ``predictions``: KEY, logits and label_mass (as PREDICTIONS); ``scoring``: letter, whose probabilities are
    the label mass times the softmax over the labels; or text, whose logits are log-likelihoods of whole
    texts; of text_mean and text_vqascore they are means over tokens, and so are the probabilities. Raises
    InputError as `arranged` and `logit_blocks`, and for a number of options other than two.
    """
    order = arranged(predictions, items.ids, cells, "prediction")
    logits = _logits(predictions)[order]
    logits = np.where(items.reversed[..., None], logits[..., ::-1], logits)
    if scoring == "letter":
        mass = predictions["label_mass"].to_numpy().astype(np.float64)[order]
        differences = letter_difference(logits, mass)
    else:
        differences = text_difference(logits)
    return Probabilities(differences, logits[..., 0] - logits[..., 1])


def prior_differences(predictions: pl.DataFrame, items: GroupItems, prior: str) -> Floats:
    """Return log P(0 | q) - log P(1 | q) of each question, float64[groups, 2].

    ``predictions`` have one row for each question, with the id of its item about image 0, the corruption
    ``prior`` and severity 0. Raises InputError as `probabilities`, and where a difference is not finite.
    """
    order = arranged(predictions, items.ids[:, :, 0], [(prior, 0)], "prediction")[0]
    logits = _logits(predictions)[order]
    logits = np.where(items.reversed[:, :, :1], logits[..., ::-1], logits)
    differences: Floats = logits[..., 0] - logits[..., 1]
    _require_finite(differences, items.ids[:, :, 0], prior)
    return differences


def answered(
    answers: pl.DataFrame,
    items: GroupItems,
    cells: Sequence[Cell],
    extraction: Extraction,
    *,
    by_text: bool = False,
) -> Integers:
    """Return the option of each reply, int64[cells, groups, 2, 2]; ``NO_OPTION`` where it has no answer.

    ``answers``: KEY and reply (as ANSWERS); ``by_text``: whether the prompt calls the options of a
    multiple-choice question by their texts rather than A and B. Raises InputError as `arranged`.
    """
    order = arranged(answers, items.ids, cells, "answer")
    replies = answers["reply"].to_list()
    found = np.empty(order.shape, dtype=np.int64)
    # Most replies are equal.
    known: dict[tuple[str, str, tuple[str, ...] | None], int] = {}
    for place, row in np.ndenumerate(order):
        key = (replies[row], items.types[place[1]], tuple(items.texts[place[1:]]) if by_text else None)
        if key not in known:
            option = answer_of(key[0], key[1], extraction, key[2])
            known[key] = NO_OPTION if option is None else option
        found[place] = known[key]
    return found


def read_groups(
    items: GroupItems,
    cells: Sequence[Cell],
    *,
    answers: Integers | None = None,
    given: Probabilities | None = None,
    readings: Sequence[str] = (),
    priors: Mapping[str, Floats] | None = None,
) -> Readings:
    """Return whether each question, image and group is right, by each reading.

    Args:
        items: the groups.
        cells: corruptions and severities, clean first.
        answers: as from `answered`, for the reading ``decoding``.
        given: as from `probabilities`, for all others.
        readings: those of settings that take probabilities: deterministic, global and sample.
        priors: as from `prior_differences` by prior, for post-hoc debiasing.

    Raises InputError where post-hoc debiasing would compare infinite log-probabilities.
    """
    blocks: list[pl.DataFrame] = []
    taus: list[dict[str, object]] = []
    for number, cell in enumerate(cells):
        if answers is not None:
            blocks.append(_block(items, cell, "decoding", answers[number]))
        if given is None:
            continue
        differences = given.differences[number]
        if "deterministic" in readings:
            blocks.append(_block(items, cell, "deterministic", predicted(differences)))
        if cell[0] == CLEAN:
            for prior, of_questions in (priors or {}).items():
                _require_finite(given.log_differences[number], items.ids, CLEAN)
                debiased = post_hoc(given.log_differences[number], of_questions)
                blocks.append(_block(items, cell, POST_HOC[prior], debiased))
            if "global" in readings:
                for reading in GLOBAL:
                    thresholds, chosen = _thresholds(reading, items, differences)
                    taus += chosen
                    options = predicted(differences, thresholds[:, None, None])
                    blocks.append(_block(items, cell, reading, options))
        if "sample" in readings:
            right = sample_outcomes(differences, items.truth)
            blocks.append(_frame(items, cell, "sample", right))
    return Readings(pl.concat(blocks) if blocks else pl.DataFrame(schema=pl.Schema(SCORES.columns)), taus)


def _thresholds(
    reading: str, items: GroupItems, differences: Floats
) -> tuple[Floats, list[dict[str, object]]]:
    """Return the tau of each group, float64[groups], and how each was chosen: from groups of mined pairs."""
    low, high = bounds(differences, items.truth)
    types, every = np.array(items.types), np.ones(len(items.groups), dtype=np.bool_)
    if reading == "global":
        parts: list[tuple[str | None, int | None, Bools, Bools]] = [(None, None, every, every)]
    elif reading == "global_by_type":
        parts = [
            (type_, None, types == type_, types == type_)
            for type_ in get_args(QuestionType)
            if type_ in items.types
        ]
    else:
        half = halves(items.groups)
        parts = [(None, number, half != number, half == number) for number in (0, 1)]
    thresholds, chosen = np.zeros(len(items.groups)), []
    for type_, number, possible, applied_to in parts:
        chosen_from = possible & items.mined if (possible & items.mined).any() else possible
        best = best_tau(low[chosen_from], high[chosen_from])
        thresholds[applied_to] = best.tau
        where = {"reading": reading, "type": type_, "half": number}
        chosen.append({**where, **best._asdict(), "groups": int(chosen_from.sum())})
    return thresholds, chosen


def _block(items: GroupItems, cell: Cell, reading: str, options: Integers) -> pl.DataFrame:
    return _frame(items, cell, reading, outcomes(options == items.truth), options)


def _frame(
    items: GroupItems, cell: Cell, reading: str, found: Bools, options: Integers | None = None
) -> pl.DataFrame:
    none = [None] * len(items.groups)
    shown: dict[str, object] = {f"{kind}{place}": none for kind in "pc" for place in PLACES}
    if options is not None:
        for place in PLACES:
            question, image = map(int, place)
            given = options[:, question, image]
            shown[f"p{place}"] = pl.Series(given, dtype=pl.Int8).replace(NO_OPTION, None)
            shown[f"c{place}"] = given == items.truth[:, question, image]
    columns = {
        "group": list(items.groups),
        "corruption": [cell[0]] * len(none),
        "severity": [cell[1]] * len(none),
        "reading": [reading] * len(none),
        **shown,
        **{name: found[:, number] for number, name in enumerate(OUTCOMES)},
    }
    return pl.DataFrame(columns, schema=pl.Schema(SCORES.columns))


def _logits(predictions: pl.DataFrame) -> Floats:
    """Return float64[rows, 2]; raises InputError where a row has other than two logits."""
    found = np.empty((predictions.height, 2))
    for rows, logits in logit_blocks(predictions):
        if logits.shape[1] != found.shape[1]:
            raise InputError(
                f"{name_of(predictions, int(rows[0]))} has {logits.shape[1]} logits, but groups have two "
                f"options; {REMAKE}"
            )
        found[rows] = logits
    return found


def _require_finite(differences: Floats, ids: npt.NDArray[np.object_], corruption: str) -> None:
    infinite = ~np.isfinite(differences)
    if infinite.any():
        raise InputError(
            f"item {ids[infinite][0]} under {corruption} has an option of probability 0, for which post-hoc "
            "debiasing is undefined; remove post_hoc from readings, or use another dtype for the model"
        )
