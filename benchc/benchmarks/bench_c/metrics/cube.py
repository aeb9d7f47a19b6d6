"""The scores of several models as dense arrays, for resampling."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.errors import InputError, recreate
from benchc.schemas.grid import grid_rows
from benchc.schemas.predictions import KEY

Floats = npt.NDArray[np.float64]

Axes = tuple[tuple[str, ...], tuple[str, ...], tuple[int, ...]]  # as of a Cube

CLEAN_METRICS = ("acc_clean", "entropy_clean", "calibration_clean")
SHIFT_METRICS = ("delta_acc", "ras", "delta_entropy", "delta_calibration")


@dataclass(frozen=True)
class Cube:
    """Scores as arrays. Items, corruptions and severities are sorted; models are in the order given."""

    models: tuple[str, ...]
    items: tuple[str, ...]
    corruptions: tuple[str, ...]
    severities: tuple[int, ...]
    clean: Mapping[str, Floats]  # CLEAN_METRICS: float64[models, items], each in [0, 1]
    shifts: Mapping[str, Floats]  # SHIFT_METRICS: float64[models, items, corruptions, severities]

    def kappa(self, weights: pl.DataFrame) -> Floats:
        """Return the kappa of every item in ``weights`` (id, kappa), float64[items].

        Raises InputError where an item's kappa is missing, repeated, or not a finite number >= 0.
        """
        joined = pl.DataFrame({"id": self.items}).join(
            weights.select("id", "kappa"), on="id", how="left", maintain_order="left"
        )
        bad = joined.filter(~(pl.col("kappa").is_finite() & (pl.col("kappa") >= 0)).fill_null(False))
        if bad.height or joined.height != len(self.items):
            odd = bad["id"][0] if bad.height else joined.filter(pl.col("id").is_duplicated())["id"][0]
            raise InputError(
                f"item {odd} needs one kappa, a finite number >= 0: scores and selection are from different "
                f"runs; {recreate('scores')}"
            )
        return joined["kappa"].to_numpy()


def cube_of(scores: Mapping[str, pl.DataFrame], axes: Axes | None = None) -> Cube:
    """Return the models' SCORES tables, by name, as a :class:`Cube`; rows may come in any order.

    ``axes``: None takes the items, corruptions and severities of the first model. Raises InputError where
    there is no model, and, naming the model and a prediction, where a table is not their full grid, each
    once, without missing values.
    """
    if not scores:
        raise InputError("there are no tables of scores; give one per model")
    models = tuple(scores)
    first = scores[models[0]]
    if first.is_empty():
        raise InputError(f"{models[0]} has no scores; {recreate('predictions', 'scores')}")
    items, corruptions, severities = axes or [tuple(first[name].unique().sort()) for name in KEY]
    cells = [*product(corruptions, severities)]
    shape = len(items), len(corruptions), len(severities)
    mend = f"every model needs the predictions of {models[0]}, each once: {recreate('scores')}"
    clean = {name: np.empty((len(models), shape[0])) for name in CLEAN_METRICS}
    shifts = {name: np.empty((len(models), *shape)) for name in SHIFT_METRICS}
    for number, (model, frame) in enumerate(scores.items()):
        rows = grid_rows(frame, items, cells, f"{model}: score", mend=mend)
        for name, values in _metrics(frame).items():
            column = values.to_numpy()
            if np.isnan(column).any():
                raise InputError(f"{model}: {name} is missing or NaN in some scores; {recreate('scores')}")
            if name in clean:
                # An item's rows repeat its clean values, up to the last bit: the first cell's are taken.
                clean[name][number] = column[rows[:, 0]]
            else:
                shifts[name][number] = column[rows].reshape(shape)
    return Cube(models, items, corruptions, severities, clean, shifts)


def _metrics(frame: pl.DataFrame) -> dict[str, pl.Series]:
    number = pl.Float64
    values = frame.select(
        acc_clean=pl.col("correct_clean").cast(number),
        entropy_clean=(pl.col("entropy") - pl.col("delta_entropy")).clip(0, 1),
        calibration_clean=(pl.col("calibration") - pl.col("delta_calibration")).clip(0, 1),
        delta_acc=pl.col("correct").cast(number) - pl.col("correct_clean").cast(number),
        ras="ras",
        delta_entropy="delta_entropy",
        delta_calibration="delta_calibration",
    )
    return {column.name: column.fill_null(np.nan) for column in values}
