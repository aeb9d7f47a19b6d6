"""R-Bench's part of a run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from benchc.benchmarks.r_bench.outputs import outputs
from benchc.benchmarks.r_bench.results_page import results_page
from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.tasks import KINDS, TASKS
from benchc.config.load import Config
from benchc.labels import check_labels
from benchc.pluralize import pluralize
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import ResultsPage
from benchc.workflow.code import contents_of
from benchc.workflow.encoders import files_of
from benchc.workflow.run import Benchmark, Metric, Run
from benchc.workflow.sources import local
from benchc.workflow.stage import unrecorded

# Outside the run's folder, whose files Snakemake lists at each start; requests tell runs apart.
RECORDINGS = "results/.replies"


class Workflow(Benchmark):
    """Models are asked about the items of three tasks, each under its assigned dimensions.

    Attributes:
        labels: of all models by id, in the order of figures
        imported: the file with the answers of each model that another program has asked, by id
        released: the files with the judgements of each model by another program, by id and kind
        people: the files with the answers of people
        human_scores: the file with the scores of the judge human; none for another judge
    """

    assignment = "<results>/pool/assignment.parquet"
    main_tables = ("rank",)
    item_columns: ClassVar = {"pool/references.parquet": ("truth", "answers")}
    metrics = (
        Metric("absolute", "absolute robustness", "tables/rank.csv", "absolute", True),
        Metric("relative", "relative robustness", "tables/rank.csv", "relative", True),
    )

    def __init__(self, config: Config) -> None:
        assert isinstance(config.settings, Settings)
        self.settings = config.settings
        self.subsets = {task: f"<results>/subsets/{task}.parquet" for task in TASKS}
        self.measured = self.settings.models
        self.labels = {id_: config.models[id_].label for id_ in self.measured}
        self.labels |= {id_: one.label for id_, one in self.settings.answers_from.items()}
        self.labels |= {id_: one.label for id_, one in self.settings.judgements_from.items()}
        self.imported_labels = {id_: self.labels[id_] for id_ in self.labels if id_ not in self.measured}
        check_labels(self.labels, "answers_from, judgements_from and the model catalogue")
        self.imported = {id_: local(one.file) for id_, one in self.settings.answers_from.items()}
        self.released = {
            id_: {kind: local(getattr(one, kind)) for kind in KINDS}
            for id_, one in self.settings.judgements_from.items()
        }
        self.people = [local(file) for file in self.settings.people]
        self.human_scores = [local(file) for file in filter(None, [self.settings.judge.scores])]

    def judging(self) -> dict[str, Any]:
        """Return what the stages that judge share."""
        judge, corruptions = self.settings.judge, self.settings.corruptions
        return {
            "judge": judge.options,
            "service": unrecorded(judge.service(judge.recordings or RECORDINGS)),
            "scores": self.human_scores[0] if self.human_scores else None,
            "corruptions": corruptions.types,
            "severities": corruptions.severities,
            "threads": unrecorded(lambda threads: threads),
        }

    def contents(self, files: Iterable[str]) -> list[str]:
        """Return the contents of a job's files of the user, and of those that the judge needs."""
        encoder = [self.settings.judge.encoder] if self.settings.judge.kind == "rule" else []
        return contents_of([*files, *self.human_scores, *files_of(encoder)])

    def warnings(self) -> list[str]:
        given = [*self.imported.values(), *self.human_scores, *self.people]
        given += [file for files in self.released.values() for file in files.values()]
        absent = [file for file in given if not Path(file).is_file()]
        found = []
        if absent:
            named = ", ".join(absent)
            found = [
                f"{pluralize(len(absent), 'file')} of answers, judgements or people not here yet: {named}."
            ]
        images = self.settings.imported_images
        if images is not None and not Path(images).is_file():
            found.append(
                f"{images} is not here yet: write it and the TSV of its source by `benchc r-bench-pairs` "
                "(docs/r-bench.md)."
            )
        return found

    def outputs(self, run: Run) -> list[Output]:
        return outputs(run, self.settings, self.labels)

    def results_page(self, run: Run) -> ResultsPage:
        return results_page(run, self.settings, self.labels)
