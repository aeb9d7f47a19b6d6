"""The tables, figures and pages of a run of R-Bench."""

from collections.abc import Mapping

from benchc.benchmarks.r_bench.figure_outputs import figure_outputs
from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.table_outputs import table_outputs
from benchc.rendering.declaration import Output
from benchc.workflow.run import Run


def outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of figures."""
    return [*table_outputs(run, settings, labels), *figure_outputs(run, settings, labels)]
