"""The tables of a run of R-Bench."""

from collections.abc import Mapping

from benchc.benchmarks.r_bench.settings import Settings
from benchc.rendering.declaration import Output
from benchc.workflow.run import Run


def table_outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of figures."""
    return []
