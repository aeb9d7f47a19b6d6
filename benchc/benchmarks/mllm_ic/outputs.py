"""The tables, figures and pages of a run of MLLM-IC."""

from collections.abc import Mapping

from benchc.benchmarks.mllm_ic.figure_outputs import figure_outputs
from benchc.benchmarks.mllm_ic.hierarchy_outputs import hierarchy_outputs
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.benchmarks.mllm_ic.table_outputs import table_outputs
from benchc.rendering.declaration import Output
from benchc.workflow.run import Run


def outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of tables."""
    parts = (table_outputs, figure_outputs, hierarchy_outputs)
    return [declared for part in parts for declared in part(run, settings, labels)]
