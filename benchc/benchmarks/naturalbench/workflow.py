"""What the rules ask about a run of NaturalBench: its groups, models, curation, retrieval and outputs."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import ClassVar, cast

from benchc.benchmarks.naturalbench import outputs
from benchc.benchmarks.naturalbench.blind_workflow import BlindSources
from benchc.benchmarks.naturalbench.curation_workflow import CAPTIONS, GROUPS, KEPT_PAIRS, PAIRS, Curation
from benchc.benchmarks.naturalbench.encoder_workflow import Encoders
from benchc.benchmarks.naturalbench.fine_tuning_outputs import fine_tuning_outputs
from benchc.benchmarks.naturalbench.fine_tuning_workflow import FineTunedModels
from benchc.benchmarks.naturalbench.results_page import results_page
from benchc.benchmarks.naturalbench.settings import Settings
from benchc.benchmarks.naturalbench.translation_workflow import Translation
from benchc.config.load import Config
from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.models.registry import ANSWERING
from benchc.rendering.declaration import Output
from benchc.rendering.results_page.declaration import ResultsPage
from benchc.workflow.run import Benchmark, Metric, Run
from benchc.workflow.sources import local


class Workflow(Benchmark):
    """A run of NaturalBench.

    Attributes:
        labels: of the sources by id, sorted: the subset of groups that have no other
        tag_file: the file of tags, if there is one
        encoders: those of curation and retrieval
        curation: the part that makes a set of groups; None for none
        released: the sources that are the set that the run makes
        blind: the part in which models answer other benchmarks; None for none
        translation: the part that translates questions; None for none
        retrieval: inputs of the pairs for retrieval by name
        have_probabilities: the models that have them; answers are read of the others alone
        fine_tuned: the models that the run tunes; None for none
    """

    main_tables = ("table1",)
    item_columns: ClassVar = {"pool/groups.parquet": ("group", "q_idx", "i_idx")}
    metrics = (
        Metric("accuracy", "questions answered rightly, in per cent", "tables/table1.csv", "acc", False),
        Metric("g_acc", "groups answered rightly, in per cent", "tables/table1.csv", "g_acc", False),
    )

    def __init__(self, config: Config) -> None:
        self.settings = cast(Settings, config.settings)
        folder = f"results/{self.settings.name}/subsets"
        self.subsets = {
            # The items of whole groups.
            "groups": f"{folder}/groups.parquet",
            # One item of each question, which is asked without its image.
            "questions": f"{folder}/questions.parquet",
        }
        self.measured = self.settings.models
        self.labels = {id_: config.sources[id_].label for id_ in sorted(config.sources)}
        if with_open_questions := [id_ for id_ in self.labels if config.sources[id_].convert is not None]:
            raise InputError(
                f"Remove {with_open_questions[0]} from sources: it has open questions, not groups."
            )
        tags = self.settings.groups.tags
        self.tag_file = [] if tags is None else [local(tags)]
        if self.tag_file and not Path(self.tag_file[0]).is_file():
            raise InputError(
                f"groups.tags: there is no file {self.tag_file[0]}; correct the path, or give null."
            )
        self.encoders = Encoders(self.settings.encoders, self.settings.demo)
        self.trained_encoder = self.encoders.trained
        self.fetched = self.encoders.fetched
        self.curation = None
        if self.settings.curate is not None:
            self.curation = Curation(self.settings, self.settings.curate, self.encoders)
            self.reported = self.curation.reported
            self.changed_by_people = [Path(self.curation.forms)]
        release = GROUPS.replace("<results>", f"results/{self.settings.name}")
        self.released = [
            id_ for id_, source in config.sources.items() if source.path and local(source.path) == release
        ]
        blind = BlindSources(self.settings, config)
        self.blind = blind if blind.labels and blind.models else None
        self.translation = None
        if self.settings.translate is not None:
            simulated = self.curation is not None and self.curation.simulated
            self.translation = Translation(self.settings, self.settings.translate, simulated=simulated)
        retrieval, curate = self.settings.retrieval, self.settings.curate
        self.retrieval_file = local(retrieval.pairs) if retrieval and retrieval.pairs else None
        self.retrieval_images = local(retrieval.images) if retrieval and retrieval.images else None
        # Those that people kept, if they review them.
        self.curated_pairs = KEPT_PAIRS if curate and curate.review.pairs else PAIRS
        self.have_probabilities = [
            id_ for id_ in self.measured if config.models[id_].scoring not in ANSWERING
        ]

        fine_tuning = self.settings.fine_tuning
        self.fine_tuned = None if fine_tuning is None else FineTunedModels(config, fine_tuning)

    def outputs(self, run: Run) -> list[Output]:
        clean = [part for part, names in run.images.batches.items() if CLEAN in names]
        predictions = [file for id_ in self.measured for file in self.predictions(id_, clean)]
        found = outputs.outputs(
            self.settings,
            self.have_probabilities,
            self.curation,
            predictions,
            released=self.released,
            blind=self.blind,
        )
        return [*found, *fine_tuning_outputs(self.settings, self.fine_tuned, clean)]

    def results_page(self, run: Run) -> ResultsPage:
        parts = [*run.images.batches]
        predictions = {id_: self.predictions(id_, parts) for id_ in self.measured}
        answers = {id_: self.answers(id_, parts) for id_ in self.measured}
        return results_page(run, self.settings, predictions, answers)

    def faults_at_start(self, renewed: Collection[tuple[str, Mapping[str, str]]]) -> list[str]:
        return [] if self.curation is None else self.curation.faults_of_reviews(renewed)

    def lines_at_error(self) -> list[str]:
        return [] if self.curation is None else self.curation.stopped_by_reviews()

    def retrieval_inputs(self) -> dict[str, str]:
        """Return the inputs of the pairs for retrieval: the user's file, or those of curation."""
        if self.retrieval_file is not None:
            return {"file": self.retrieval_file}
        return {"curated_captions": CAPTIONS, "curated_pairs": self.curated_pairs}

    def predictions(self, model: str, parts: Iterable[str]) -> list[str]:
        """Return a model's predictions that its scores are read from; none of a model that only answers."""
        if model not in self.have_probabilities or {*self.settings.readings} == {"decoding"}:
            return []
        return [f"<results>/predictions/groups/{model}/{part}.parquet" for part in parts]

    def answers(self, model: str, parts: Iterable[str]) -> list[str]:
        """Return a model's answers that its scores are read from."""
        if "decoding" not in self.settings.readings:
            return []
        return [f"<results>/answers/groups/{model}/{part}.parquet" for part in parts]

    def prior(self, model: str) -> str | list[str]:
        """Return a model's predictions without the images; none where no reading needs them."""
        if model not in self.have_probabilities or "post_hoc" not in self.settings.readings:
            return []
        return f"<results>/predictions/questions/{model}/{self.settings.prior}.parquet"
