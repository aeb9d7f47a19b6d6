"""VQA-robustness's part of a run."""

from pathlib import Path
from typing import ClassVar

from benchc.benchmarks.vqa_robustness.outputs import outputs
from benchc.benchmarks.vqa_robustness.results_page import results_page
from benchc.benchmarks.vqa_robustness.settings import Settings
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.labels import check_labels
from benchc.pluralize import pluralize
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import ResultsPage
from benchc.workflow.run import Benchmark, Metric, Run
from benchc.workflow.sources import local


class Workflow(Benchmark):
    """Models are asked about all items of the pool.

    Attributes:
        imported: the file with the answers of each model that another program has asked, by id
        labels: of all models by id, in the order of figures
        scale: the file with the errors by which the metrics are scaled; none: those of the run itself
    """

    main_tables = ("vre_model",)
    item_columns: ClassVar = {"pool/references.parquet": ("truth", "answers")}
    metrics = (
        Metric("accuracy", "accuracy on clean images", "tables/vre_model.csv", "accuracy", False),
        Metric("vre", "visual robustness error, lower is better", "tables/vre_model.csv", "vre", True),
    )

    def __init__(self, config: Config) -> None:
        assert isinstance(config.settings, Settings)
        self.settings = config.settings
        self.subsets = {"pool": None}
        self.measured = self.settings.models
        imported = self.settings.answers_from
        self.imported = {id_: local(model.file) for id_, model in imported.items()}
        self.labels = {id_: config.models[id_].label for id_ in self.measured}
        self.labels |= {id_: model.label for id_, model in imported.items()}
        self.imported_labels = {id_: self.labels[id_] for id_ in self.labels if id_ not in self.measured}
        check_labels(self.labels, "answers_from and the model catalogue")
        self.scale = [local(self.settings.vre.scale_of)] if self.settings.vre.scale_of else []
        # Snakemake would call finished outputs up to date.
        if self.scale and not Path(self.scale[0]).is_file():
            raise InputError(
                f"vre.scale_of: there is no file {self.scale[0]}; correct the path, or give null."
            )

    def outputs(self, run: Run) -> list[Output]:
        return outputs(run, self.settings, self.labels, self.scale)

    def results_page(self, run: Run) -> ResultsPage:
        return results_page(run, self.settings, self.labels)

    def warnings(self) -> list[str]:
        absent = [f"{id_} ({file})" for id_, file in self.imported.items() if not Path(file).is_file()]
        if not absent:
            return []
        return [
            f"{pluralize(len(absent), 'file')} of answers_from not here yet (docs/vqa-robustness.md): "
            f"{', '.join(absent)}."
        ]
