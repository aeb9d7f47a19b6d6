"""Count the outcomes of one model by scenario and capability."""

from pathlib import Path
from typing import Any

from benchc.benchmarks.mllm_ic.metrics.counts import counts
from benchc.benchmarks.mllm_ic.run_outcomes import read_run
from benchc.benchmarks.mllm_ic.schemas.outcomes import OutcomesFooter
from benchc.benchmarks.mllm_ic.schemas.scores import SCORES
from benchc.schemas.parquet import read_footer, write_table


def score_capabilities(*, outcomes: Path, capabilities: Path, output: Path) -> None:
    """Count the outcomes of one model by scenario and capability.

    Args:
        outcomes: outcomes/{model}.parquet
        capabilities: pool/capabilities.parquet
        output: scores.parquet to write
    """
    run = read_run([outcomes], capabilities)
    (label,) = run.codes
    facts: Any = read_footer(outcomes)
    write_table(counts(run, label), output, SCORES, OutcomesFooter(**facts))
