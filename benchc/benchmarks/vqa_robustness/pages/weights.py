"""The page on which weights of VRE are chosen, with the share of weights with which each model wins."""

from pathlib import Path

import numpy as np

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.regions import SAMPLES, winning_shares
from benchc.benchmarks.vqa_robustness.metrics.severity import Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL, Scale, studied_weights, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.tables.frames import (
    HEADERS,
    constant,
    frozen_scale,
    incomplete,
    marked_errors,
)
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.rendering.chance import ChanceTable, Standings
from benchc.rendering.data_page import data_page
from benchc.statistics.rounding import DIGITS

LARGEST = 10.0  # of a slider


def weights(
    errors: ErrorTable,
    chance: ChanceTable,
    scale_of: list[Path],
    weights: tuple[float, ...] = EQUAL,
    levels: Levels = "0..5",
) -> str:
    """Return the page; ``scale_of``: a table of errors whose scale is frozen, or no file."""
    scale = frozen_scale(scale_of, levels)
    return weights_page(errors, weights, levels, scale, chance)


def weights_page(
    errors: Errors,
    weights: tuple[float, ...],
    levels: Levels,
    scale: Scale | None,
    chance: Standings | None = None,
) -> str:
    """Return the page, one HTML file that needs no network; ``scale``: None for that of the errors.

    ``chance``: which models are ranked; None for all.
    """
    is_ranked = np.full(len(errors.models), True) if chance is None else np.isin(errors.models, chance.ranked)
    notes = [] if chance is None else [chance.note.strip().removesuffix(".")] if chance.note else []
    metrics = severity_metrics(errors.values, levels)
    own = Scale.of(metrics) if scale is None else scale
    scaled = own.scaled(metrics)
    parts = vre(scaled, weights_of(EQUAL)).model_parts
    shares = weights_of(weights)
    # Only their proportions matter; the largest is not beyond the end of its slider.
    unit = min(sum(weights), LARGEST / shares.max())
    data = {
        "models": (errors if chance is None else marked_errors(errors, chance)).models,
        "ranked": is_ranked.tolist(),
        "corruptions": [words(name) for name in errors.corruptions],
        "metrics": HEADERS,
        "scaled": _numbers(scaled),
        "weights": (unit * shares).tolist(),
        "largest": LARGEST,
        "presets": [
            {"name": "equal" if name == "equal" else f"0.6 {header}", "weights": (10 * values).tolist()}
            for (name, values), header in zip(studied_weights().items(), ("", *HEADERS), strict=True)
        ],
        "wins": _numbers(winning_shares(np.where(is_ranked, parts, np.nan))),
        "samples": SAMPLES,
        "digits": DIGITS,
        "notes": [*incomplete(errors, metrics), *constant(own), *notes],
        "frozen": scale is not None,
    }
    return "".join(data_page("benchc.benchmarks.vqa_robustness.pages", "weights.html", lambda: data))


def _numbers(values: Floats) -> object:
    """Return nested lists of the values, None for NaN."""
    return np.where(np.isnan(values), np.array(None), values).tolist()
