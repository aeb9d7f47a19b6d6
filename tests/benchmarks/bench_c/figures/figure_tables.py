"""Small tables for the tests of figures: written by hand, or drawn with a seed."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED


def selection(
    kappas: Sequence[float], kept: Sequence[bool], ids: Sequence[str] | None = None
) -> pl.DataFrame:
    ids = [f"s/{index}" for index in range(len(kappas))] if ids is None else list(ids)
    ranks = [index if kappa > 0 else None for index, kappa in enumerate(kappas)]
    return pl.DataFrame(
        {
            "id": ids,
            "kappa": list(kappas),
            "rank": ranks,
            "score": [None if rank is None else 1.0 for rank in ranks],
            "selected": list(kept),
        },
        schema=dict(SELECTED.columns),
    )


def score(
    name: str,
    delta_entropy: float,
    delta_calibration: float,
    ras: float,
    transition: str,
    *,
    corruption: str = "snow",
    severity: int = 5,
    shifted: bool | None = None,
) -> dict[str, object]:
    """One row of SCORES; the predicted option shifts where correctness does, unless ``shifted`` is given."""
    regime = {
        (True, True): "degraded",
        (False, True): "overconfident",
        (True, False): "hesitant",
        (False, False): "stable",
    }[delta_entropy > 0, delta_calibration > 0]
    shifted = transition in ("RW", "WR") if shifted is None else shifted
    return {
        "id": name,
        "corruption": corruption,
        "severity": severity,
        "prediction": int(shifted),
        "prediction_clean": 0,
        "correct": transition[1] == "R",
        "correct_clean": transition[0] == "R",
        "max_prob": 0.5,
        "entropy": 0.5,
        "calibration": 0.5,
        "delta_entropy": delta_entropy,
        "delta_calibration": delta_calibration,
        "ras": ras,
        "transition": transition,
        "regime": regime,
    }


def scores(rows: Sequence[dict[str, object]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=dict(SCORES.columns))


def drawn_scores(items: int, corruptions: Sequence[str], seed: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    right = generator.random(items) < 0.5
    return scores(
        [
            score(
                f"s/{item}",
                *(float(shift) for shift in generator.normal(0, 0.3, 2).clip(-1, 1)),
                float(generator.uniform(-1, 1)),
                f"{'R' if right[item] else 'W'}{generator.choice(['R', 'W'])}",
                corruption=corruption,
                severity=severity,
            )
            for item in range(items)
            for corruption in corruptions
            for severity in (1, 5)
        ]
    )
