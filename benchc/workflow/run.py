"""A run, and what the rules need to know of it and of its benchmark. The Snakefile makes one."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchc.config.benchmarks import module_of, package_of
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.export.licences import is_closed
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import MOST_STRIPS, ResultsPage
from benchc.workflow.encoders import TrainedEncoder
from benchc.workflow.evaluation import outputs_made_of, taken_file, taken_pattern
from benchc.workflow.images import Images
from benchc.workflow.models import Models
from benchc.workflow.sources import Sources

NO_WILDCARD = "(?!)"  # matches nothing


class Metric(NamedTuple):
    """A number of each model, as it is published of a model on the Hub.

    ``table``: a csv file with a column `model`; ``column``: that of the number; ``corrupted``: whether it is
    of corrupted images, not of clean ones alone.
    """

    id: str
    description: str
    table: str
    column: str
    corrupted: bool


class Benchmark(ABC):
    """A benchmark's part of a run; ``benchc/benchmarks/<name>/workflow.py`` has a subclass called Workflow.

    Attributes:
        subsets: the subsets of items that models are asked about, each a file of ids, or None for the whole
            pool
        assignment: the table of the corruptions and severities of each item; None: all of them for each
        stored_subset: the subset whose images are written even with ``on_the_fly``; None for none
        measured: the models of tables and figures
        imported_labels: of models in tables and figures whose results are imported, by id
        fetched: records of encoders on the Hub that a rule downloads
        trained_encoder: the image encoder that the run trains; None for none
        main_tables: the tables that show the models best, one after another
        reported: files that the report requires beside tables and figures
        changed_by_people: folders of outputs that people may fill in, which no job computes with
        item_columns: what an export adds to each item: columns of tables of items, by their paths in the run
        metrics: the numbers that an export gives of each model
    """

    subsets: Mapping[str, str | None]
    assignment: str | None = None
    stored_subset: str | None = None
    measured: Sequence[str]
    imported_labels: Mapping[str, str] = {}
    fetched: Sequence[str] = ()
    trained_encoder: TrainedEncoder | None = None
    main_tables: ClassVar[Sequence[str]] = ()
    reported: Sequence[str] = ()
    changed_by_people: Collection[Path] = ()
    item_columns: ClassVar[Mapping[str, Sequence[str]]] = {}
    metrics: ClassVar[Sequence[Metric]] = ()

    @abstractmethod
    def __init__(self, config: Config) -> None: ...

    @abstractmethod
    def outputs(self, run: "Run") -> list[Output]:
        """Return the declarations of the run's tables, figures and pages."""

    def results_page(self, run: "Run") -> ResultsPage:
        """Return the declaration of the run's results page, which has all outputs in any case."""
        return ResultsPage(main_table=next(iter(self.main_tables), None))

    def warnings(self) -> list[str]:
        """Return what the user should know before the run, which starts all the same."""
        return []

    def faults_at_start(self, renewed: Collection[tuple[str, Mapping[str, str]]]) -> list[str]:
        """Return what stops the run before any output is removed, one line each.

        ``renewed``: rule and wildcards of each job that is going to run.
        """
        return []

    def lines_at_error(self) -> list[str]:
        """Return what to print at the end of a run that failed."""
        return []


class Run:
    """A run, with its sources, images and models, and its benchmark's part.

    Attributes:
        package: the benchmark's name as an identifier: that of its rule file, stages and package
        results, logs: the folders of its files
        finished: the run on whose benchmark it evaluates models; None where it makes its own
        taken: the pattern of the files that it takes from there, by their paths in the folder of results
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.settings = config.settings
        self.package = package_of(self.settings.benchmark)
        self.results, self.logs = f"results/{self.settings.name}", f"logs/{self.settings.name}"
        self.benchmark: Benchmark = module_of(self.settings.benchmark, "workflow").Workflow(config)
        missing = [name for name in ("subsets", "measured") if not hasattr(self.benchmark, name)]
        if missing:
            raise InputError(
                f"benchc/benchmarks/{self.package}/workflow.py does not define {' and '.join(missing)}; "
                "CONTRIBUTING.md describes it (A new benchmark)"
            )
        self.sources = Sources(config)
        self.images = Images(self.settings, self.benchmark.stored_subset)
        self.models = Models(config, self.images, self.benchmark.subsets, self.benchmark.assignment)
        self.outputs = self.benchmark.outputs(self)
        self.results_page = self.benchmark.results_page(self)
        self.finished = config.finished
        # Encoders are the benchmark's, which is finished.
        self.fetched = [*self.models.fetched, *([] if self.finished else self.benchmark.fetched)]
        self.taken = NO_WILDCARD
        if self.finished is not None:
            self.outputs = outputs_made_of(self.finished, self.outputs)
            self.taken = taken_pattern(self.finished, self.outputs, self.settings.MADE_FROM)

    def warnings(self) -> Iterator[str]:
        """Yield what the user should know before the run; a dry run continues."""
        models = self.models
        if models.unsupported:
            named = ", ".join(f"{id_} ({models.entries[id_].family})" for id_ in models.unsupported)
            yield (
                f"{len(models.unsupported)} models cannot be loaded, because their families are not "
                f"supported yet (docs/models.md): {named}."
            )
        if models.untrusted:
            yield (
                f"{len(models.untrusted)} models are loaded by Python code of their checkpoint, which is not "
                f"trusted yet (docs/models.md): {', '.join(models.untrusted)}."
            )
        # Those of a benchmark are about files from which a finished run is made.
        if self.finished is None:
            yield from self.benchmark.warnings()

    @property
    def withheld_from_page(self) -> list[str]:
        """The sources whose images are not in the results page.

        Those without a known licence are the user's own to judge.
        """
        shown = self.settings.results_page.images
        return sorted(
            id_
            for id_, source in self.sources.entries.items()
            if shown == "none" or (shown == "redistributable" and is_closed(source))
        )

    @property
    def page_corruptions(self) -> list[str] | None:
        """The corruptions whose images are in the results page; None for as many as there is room for."""
        given = self.settings.results_page.corruptions
        return None if given is None else [*given]

    def page_strips(self, samples: int) -> int:
        """Return the most strips of images in the results page, of so many samples or fewer."""
        chosen, samples = self.page_corruptions, min(samples, self.settings.results_page.samples)
        every = samples * (1 + len(chosen or self.settings.corruptions.types))
        return min(every, samples + MOST_STRIPS) if chosen is None else every

    def taken_file(self, file: str) -> str:
        """Return a file of the finished run, given its path in the folder of results. Raises InputError."""
        assert self.finished is not None
        return taken_file(self.finished, file)

    def faults_of_models(self) -> Iterator[str]:
        """Yield why models cannot be loaded, which stops a run. Dry runs work for such a configuration."""
        models = self.models
        if models.untrusted:
            yield (
                "Run `benchc models pin ID`, which writes the commit into the model catalogue, read the code "
                "at that commit, and set `trust_remote_code: true` there, or remove the models from "
                f"{models.keys_with(models.untrusted)}: {', '.join(models.untrusted)}."
            )
        if models.unsupported:
            yield (
                f"Remove the models that cannot be loaded from {models.keys_with(models.unsupported)}, or "
                f"correct their family: {', '.join(models.unsupported)}."
            )


def one_of(values: Iterable[object]) -> str:
    """Return the constraint of a wildcard that has one of some values."""
    return "|".join(map(str, values)) or NO_WILDCARD
