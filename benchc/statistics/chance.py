"""Is a model better than guessing, and than the best answer that is always the same?

Only differences between models that look at the images mean something. An answer that never changes has no
drop of accuracy under any corruption, and would be the most robust of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.letters import LETTERS
from benchc.statistics.resampling import TAILS, Floats, percentile_interval
from benchc.statistics.rounding import rounded

STANDINGS = {
    "model": pl.String,  # label
    "measure": pl.String,  # that is compared with chance, as printed
    "accuracy": pl.Float64,  # null where the model has none
    "accuracy_low": pl.Float64,  # 95 % percentile interval
    "accuracy_high": pl.Float64,
    "guessing": pl.Float64,  # as in Chance
    "constant": pl.Float64,
    "constant_answer": pl.String,
    "above_chance": pl.Boolean,  # null where the accuracy is
    "label_mass": pl.Float64,  # mean over clean predictions, in [0, 1]; null where no letters are scored
    "low_label_mass": pl.Boolean,
    "ranked": pl.Boolean,  # whether it has a rank, may be in bold, and is in claims
}


@dataclass(frozen=True)
class Chance:
    """What a measure is without looking at an image.

    Attributes:
        guessing: the expected value of a random answer; None for open questions, which list no answers
        constant: the value of the best answer that is always the same
        answer: that answer
    """

    guessing: float | None
    constant: float
    answer: str

    @property
    def level(self) -> float:
        """The larger of both, which a model has to exceed."""
        return self.constant if self.guessing is None else max(self.guessing, self.constant)


def option_chance(answers: npt.ArrayLike, options: npt.ArrayLike) -> Chance:
    """Return the chance of an accuracy over multiple-choice questions: the mean of 1/K, and the best letter.

    ``answers``: int[items], the right option, 0-based; ``options``: int[items], how many each item has. Of
    letters that are right equally often, the first is taken.
    """
    counts = np.bincount(np.asarray(answers))
    best, items = int(counts.argmax()), int(counts.sum())
    return Chance(float(np.mean(1 / np.asarray(options))), float(counts[best] / items), LETTERS[best])


def lower_bounds(draws: Floats, units: int) -> Floats:
    """Return the lower ends of the 95 % intervals of accuracies in [0, 1], float64[models].

    ``draws``: float64[draws, models], in resamples of ``units`` items, images or groups. Resamples of a
    sample without a mistake have none either, so that no end is above Clopper and Pearson's (1934) for
    ``units`` of ``units``.
    """
    low, _ = percentile_interval(draws)
    bound: Floats = np.minimum(low, TAILS[0] ** (1 / units))
    return bound


def standings(
    labels: Sequence[str],
    measure: str,
    drawn: Floats,
    units: int,
    chances: Sequence[Chance],
    masses: Sequence[float | None],
    *,
    least_label_mass: float,
    rank_below_chance: bool,
    unit: float = 1.0,
) -> pl.DataFrame:
    """Return which models are above chance and which are ranked, the columns ``STANDINGS``.

    Args:
        labels: of the models.
        measure: the printed name of the measure.
        drawn: float64[1 + draws, models] in [0, 1], the sample first; a column of NaN without the measure.
        units: how many items, images or groups are resampled.
        chances: of each model.
        masses: the mean label mass of each model; None where no letters are scored.
        least_label_mass: below it, a model is not ranked.
        rank_below_chance: whether all models are ranked.
        unit: of the printed values: 100 for per cent.
    """
    level = np.array([chance.level for chance in chances])
    low = lower_bounds(drawn[1:], units)
    known = ~np.isnan(drawn[0])
    above = known & (low > level)
    low_mass = [mass is not None and mass < least_label_mass for mass in masses]
    ends = percentile_interval(drawn[1:])
    frame = pl.DataFrame(
        {
            "model": labels,
            "measure": [measure] * len(labels),
            "accuracy": rounded(unit * drawn[0]),
            "accuracy_low": rounded(unit * ends[0]),
            "accuracy_high": rounded(unit * ends[1]),
            "guessing": [None if chance.guessing is None else unit * chance.guessing for chance in chances],
            "constant": [unit * chance.constant for chance in chances],
            "constant_answer": [chance.answer for chance in chances],
            "above_chance": [bool(a) if k else None for a, k in zip(above, known, strict=True)],
            "label_mass": masses,
            "low_label_mass": low_mass,
        },
        schema_overrides=STANDINGS,
    )
    ranked = pl.col("above_chance").fill_null(value=False) & ~pl.col("low_label_mass")
    return frame.with_columns(
        pl.when(rank_below_chance).then(pl.col("accuracy").is_not_null()).otherwise(ranked).alias("ranked")
    ).select(*STANDINGS)
