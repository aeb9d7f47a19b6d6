"""R-Bench's part of a run."""

from benchc.benchmarks.r_bench.dimensions import TASKS
from benchc.benchmarks.r_bench.outputs import outputs
from benchc.benchmarks.r_bench.settings import Settings
from benchc.config.load import Config
from benchc.labels import check_labels
from benchc.rendering.declaration import Output
from benchc.workflow.run import Benchmark, Run


class Workflow(Benchmark):
    """Models are asked about the items of three tasks, each under its assigned dimensions.

    Attributes:
        labels: of all models by id, in the order of figures
    """

    assignment = "<results>/pool/assignment.parquet"

    def __init__(self, config: Config) -> None:
        assert isinstance(config.settings, Settings)
        self.settings = config.settings
        self.subsets = {task: f"<results>/subsets/{task}.parquet" for task in TASKS}
        self.measured = self.settings.models
        self.labels = {id_: config.models[id_].label for id_ in self.measured}
        self.labels |= {id_: one.label for id_, one in self.settings.answers_from.items()}
        self.labels |= {id_: one.label for id_, one in self.settings.judgements_from.items()}
        check_labels(self.labels, "answers_from, judgements_from and the model catalogue")

    def outputs(self, run: Run) -> list[Output]:
        return outputs(run, self.settings, self.labels)
