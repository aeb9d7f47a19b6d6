"""Predictions with their probabilities, for tests of figures of single predictions."""

import polars as pl

from tests.benchmarks.bench_c.figures.figure_tables import score, scores


def cases(*rows: dict[str, object], options: int = 3, answer: int = 1) -> pl.DataFrame:
    """Rows of ``score`` with probabilities that differ by option, prediction and condition."""
    clean = [2.0**-option for option in range(options)]
    clean = [value / sum(clean) for value in clean]
    spread = [[value + 0.01 * number for value in reversed(clean)] for number in range(len(rows))]
    return scores(rows).with_columns(
        pl.Series("probabilities", spread, dtype=pl.List(pl.Float64)),
        pl.Series("probabilities_clean", [clean] * len(rows), dtype=pl.List(pl.Float64)),
        answer=pl.lit(answer, dtype=pl.Int64),
        options=pl.lit([f"option {option}" for option in range(options)]),
    )


FOUR = (
    score("s/0", 0.2, 0.3, -0.3, "RW", corruption="zoom_blur", severity=2),
    score("s/1", -0.25, 0.4, -0.5, "RW", corruption="fog"),
    score("s/2", 0.125, -0.5, 0.4375, "WR", corruption="frost"),
    score("s/3", -0.1, -0.2, 0.2, "RR"),
)


def heights(axes: object) -> dict[str, list[float]]:
    """Heights of the bars by the name of their series, "clean" and "corrupted"."""
    return {bars.get_label(): [bar.get_height() for bar in bars] for bars in axes.containers}
