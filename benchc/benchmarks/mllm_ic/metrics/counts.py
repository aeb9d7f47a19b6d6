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
    found = {}
    for name, own in OUTCOMES_OF.items():
        sums = np.zeros((len(run.capabilities), codes.shape[1]), np.int64)
        np.add.at(sums, run.capability, np.isin(codes, own))
        found[name] = sums.T.ravel()
    scenarios = pl.DataFrame(run.scenarios, schema=["corruption", "severity"], orient="row")
    names = pl.DataFrame({"capability": [each.name for each in run.capabilities], "n": run.questions})
    rows = scenarios.join(names, how="cross", maintain_order="left_right")
    return rows.with_columns(pl.Series(name, values) for name, values in found.items()).select(
        pl.col(name).cast(kind) for name, kind in SCORES.columns.items()
    )
