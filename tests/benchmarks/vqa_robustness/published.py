"""What the paper of VQA-robustness published: errors, accuracies and the numbers computed from them."""

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, Vre, vre, weights_of
from tests.shared_data import ROOT, SHARED

EQUAL = weights_of((1, 1, 1, 1, 1))

PACKAGE = ROOT / "benchc/benchmarks/vqa_robustness/published"
TABLE_A1 = PACKAGE / "table_a1.csv"
NOTEBOOK = SHARED / "reference/published/vqa_robustness_notebook_accuracy.csv"

MODELS = ("ViLT", "BLIP", "VLE", "PNP", "LLaVA-7B", "LLaVA-13B")
# In the order of Table A.1; the notebook has splatter last.
CORRUPTIONS = (
    *("shot", "gaussian", "impulse", "speckle", "defocus", "zoom", "snow", "brightness", "contrast"),
    *("saturation", "elastic", "splatter", "pixelate", "jpeg"),
)


@cache
def errors_of_table_a1() -> np.ndarray:
    """Return errors [6 models, 14 corruptions, 6 levels] with three digits."""
    return _cube(TABLE_A1, "error", MODELS)


@cache
def accuracies_of_notebook() -> np.ndarray:
    """Return accuracies in per cent [4 models, 14 corruptions, 6 levels]."""
    return _cube(NOTEBOOK, "accuracy_percent", MODELS[:4])


def _cube(path: Path, column: str, models: tuple[str, ...]) -> np.ndarray:
    keys = ("model", "corruption", "level")
    values = {row[:3]: row[3] for row in pl.read_csv(path).select(*keys, column).iter_rows()}
    assert len(values) == len(models) * 14 * 6
    return np.array([[[values[m, c, level] for level in range(6)] for c in CORRUPTIONS] for m in models])


def vre_of(errors: np.ndarray, weights: np.ndarray = EQUAL, scale: Scale | None = None) -> Vre:
    """Return VRE of errors [models, corruptions, levels], scaled by themselves unless a scale is given."""
    metrics = severity_metrics(errors)
    return vre((scale or Scale.of(metrics)).scaled(metrics), weights)
