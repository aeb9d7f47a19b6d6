"""MLLM-IC's part of a run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.benchmarks.mllm_ic.categories import groups_of, read_categories
from benchc.benchmarks.mllm_ic.outputs import outputs
from benchc.benchmarks.mllm_ic.results_page import results_page
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.config.load import Config
from benchc.corruptions.own_suite import suite_with
from benchc.errors import InputError
from benchc.labels import check_labels
from benchc.models.registry import ANSWERING
from benchc.pluralize import pluralize
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import ResultsPage
from benchc.workflow.encoders import TrainedEncoder, files_of
from benchc.workflow.judges import judged
from benchc.workflow.run import Benchmark, Metric, Run
from benchc.workflow.sources import local

CAPABILITIES = "<results>/pool/capabilities.parquet"
REPORT = "<results>/pool/capabilities.report.csv"
CUBE = "<results>/tables/ic_cube.parquet"
LARGEST_FILE = 4  # of the images of one corruption, in GB


class Workflow(Benchmark):
    """Models are asked the questions whose category has a capability.

    Attributes:
        labels: of all models by id, in the order of tables
        words: the ids of those that answer in words
        imported: the file of each model that another program has asked, by id
        categories: the file with the capabilities of categories
        published: how many items the sources have as published, by id
    """

    main_tables = ("table1",)
    item_columns: ClassVar = {"pool/capabilities.parquet": ("capability", "circular_group", "rotation")}
    metrics = (
        Metric("accuracy", "accuracy on clean images", "tables/chance.csv", "accuracy", False),
        Metric("drop", "accuracy lost under corruption", "tables/drops.csv", "overall", True),
    )

    def __init__(self, config: Config) -> None:
        assert isinstance(config.settings, Settings)
        self.settings = config.settings
        self.subsets = {"questions": "<results>/subsets/questions.parquet"}
        self.measured = self.settings.models
        self.labels = {id_: config.models[id_].label for id_ in self.measured}
        self.labels |= {id_: one.label for id_, one in self.settings.imported.items()}
        self.imported_labels = {id_: self.labels[id_] for id_ in self.labels if id_ not in self.measured}
        check_labels(self.labels, "answers_from, predictions_from and the model catalogue")
        self.words = [id_ for id_ in self.measured if config.models[id_].scoring in ANSWERING]
        self.imported = {id_: local(one.file) for id_, one in self.settings.imported.items()}
        self.categories = local(self.settings.capabilities.categories)
        self.groups = groups_of(
            read_categories(Path(self.categories), self.settings.sources), self.settings.mini
        )
        self.published = {
            id_: source.published.items
            for id_, source in config.sources.items()
            if source.published.items is not None
        }
        self._check_size(config)
        self._check_groups()
        demo = self.settings.demo
        if demo is not None and demo.image_encoder is not None:
            self.trained_encoder = TrainedEncoder(demo, demo.image_encoder.steps)
        self.reported = [
            CAPABILITIES,
            REPORT,
            CUBE,
            *(f"<results>/scores/{id_}.parquet" for id_ in self.labels),
        ]

    def _check_size(self, config: Config) -> None:
        """Raise InputError where files of corrupted images would be too large for jobs to read.

        The bound is low: a corrupted image, which is stored without loss, is not smaller than the published
        file, whose TSV has 4 bytes in base64 for 3.
        """
        chosen, pool = self.settings.corruptions, self.settings.pool
        if chosen.corrupted != "files" or pool.per_task is not None or pool.total is not None:
            return
        megabytes = [source.published.megabytes or 0 for source in config.sources.values()]
        gigabytes = sum(megabytes) * 3 / 4 * len(chosen.severities) / 1000
        if gigabytes > LARGEST_FILE:
            raise InputError(
                f"corruptions.corrupted: files of at least {gigabytes:.0f} GB would be written, one for each "
                f"of {pluralize(len(chosen.types), 'corruption')}, and jobs read files of up to "
                f"{LARGEST_FILE} GB; give on_the_fly, or limit pool.per_task."
            )

    def _check_groups(self) -> None:
        """Raise InputError for a group of corruptions that has the column of a capability in tables."""
        chosen = self.settings.corruptions
        groups = suite_with(chosen.suite, chosen.own_files).groups
        for name in sorted({each.mid for each in capabilities()} & groups.keys()):
            raise InputError(
                f"corruptions.own_files: the group {name} is also a mid-level capability; rename the group"
            )

    @property
    def hierarchy_inputs(self) -> list[str]:
        """Return the files of Figure 3's pictures and network that are here; none of the run's pool."""
        chosen = self.settings.hierarchy
        if chosen is None:
            return []
        if chosen.images is None:
            return self.trained_encoder.files if self.trained_encoder else []
        return files_of(local(file) for file in (chosen.images, chosen.weights) if file)

    def hierarchy(self) -> dict[str, Any]:
        """Return what the stage of Figure 3's features is given besides images of the pool."""
        chosen = self.settings.hierarchy
        assert chosen is not None
        encoder = self.trained_encoder.folder if self.trained_encoder else None
        return {
            "pictures": chosen.images and local(chosen.images),
            "weights": chosen.weights and local(chosen.weights),
            "encoder": encoder if chosen.images is None else None,
            "count": chosen.count,
            "seed": chosen.seed,
            # Their number decides the last bits, so it is not that of the cores.
            "threads": 2,
        }

    def choosing(self) -> dict[str, Any]:
        """Return what the stages that choose questions share."""
        return {"circular": self.settings.capabilities.circular, "mini": self.settings.mini}

    def asked(self, model: str, parts: Iterable[str]) -> dict[str, Any]:
        """Return the files from which the outcomes of a model are, as inputs; none of an imported one."""
        if model in self.imported:
            return {"predictions": [], "judgements": []}
        if model in self.words:
            return {"predictions": [], "judgements": judged("judge_options", "questions", [model])[0]}
        files = [f"<results>/predictions/questions/{model}/{part}.parquet" for part in parts]
        return {"predictions": files, "judgements": []}

    def warnings(self) -> list[str]:
        absent = [f"{id_} ({file})" for id_, file in self.imported.items() if not Path(file).is_file()]
        if not absent:
            return []
        return [
            f"{pluralize(len(absent), 'file')} of answers_from and predictions_from not here yet "
            f"(docs/mllm-ic.md): {', '.join(absent)}."
        ]

    def outputs(self, run: Run) -> list[Output]:
        return outputs(run, self.settings, self.labels)

    def results_page(self, run: Run) -> ResultsPage:
        return results_page(run, self.settings, self.labels, self.words)
