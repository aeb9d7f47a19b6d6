"""Which models are above chance, for tests of what is made of it."""

from collections.abc import Collection, Sequence

import polars as pl

from benchc.rendering.chance import Standings
from benchc.statistics.chance import STANDINGS


def standings_of(
    labels: Sequence[str],
    below: Collection[str] = (),
    low_mass: Collection[str] = (),
    *,
    guessing: float | None = 0.25,
    constant: float = 0.3,
    answer: str = "B",
    ranked: Collection[str] | None = None,
) -> Standings:
    """Return models of which those ``below`` are not above chance, and others have a low label mass.

    ``ranked``: None for those that are neither.
    """
    return Standings(
        pl.DataFrame(
            {
                "model": labels,
                "measure": "Acc(o)",
                "accuracy": 0.5,
                "accuracy_low": 0.2,
                "accuracy_high": 0.8,
                "guessing": guessing,
                "constant": constant,
                "constant_answer": answer,
                "above_chance": [label not in below for label in labels],
                "label_mass": None,
                "low_label_mass": [label in low_mass for label in labels],
                "ranked": [
                    label not in below and label not in low_mass if ranked is None else label in ranked
                    for label in labels
                ],
            },
            schema_overrides=STANDINGS,
        )
    )
