"""How often each outcome occurs, by scenario and capability."""

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.benchmarks.mllm_ic.schemas.outcomes import REFUSED, RIGHT, TIED_RIGHT, TIED_WRONG, UNPARSED
from benchc.benchmarks.mllm_ic.schemas.scores import SCORES

OUTCOMES_OF = {
    "correct": (RIGHT, TIED_RIGHT),
    "refused": (REFUSED,),
    "unparsed": (UNPARSED,),
    "ties": (TIED_RIGHT, TIED_WRONG),
}


def counts(run: RunOutcomes, model: str) -> pl.DataFrame:
    """Return the rows of SCORES of a model: by scenario, first clean, then by capability."""
    codes = run.codes[model]
    many, (_, width) = 1 + max(max(own) for own in OUTCOMES_OF.values()), codes.shape
    places = (run.capability[:, None] * width + np.arange(width)) * many + codes
    found = np.bincount(places.ravel(), minlength=len(run.capabilities) * width * many)
    by_code = found.reshape(len(run.capabilities), width, many).swapaxes(0, 1)
    scenarios = pl.DataFrame(run.scenarios, schema=["corruption", "severity"], orient="row")
    names = pl.DataFrame({"capability": [each.name for each in run.capabilities], "n": run.questions})
    rows = scenarios.join(names, how="cross", maintain_order="left_right")
    return rows.with_columns(
        pl.Series(name, by_code[:, :, own].sum(axis=2).ravel()) for name, own in OUTCOMES_OF.items()
    ).select(pl.col(name).cast(kind) for name, kind in SCORES.columns.items())
