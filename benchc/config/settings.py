"""What the settings of any benchmark share: blocks of keys, and the keys that every run has."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from benchc.config.strict import Id, RunName, Severity, Strict
from benchc.corruptions.registry import SUITES, Engine

# As in benchc/images.py, which loads an image library.
Alpha = Literal["drop", "white"]

Raw = Mapping[str, Any]


class Catalogues(Strict):
    """The files that say what the ids in this configuration stand for."""

    sources: str = Field(
        description="Catalogue of data sources, of the form of config/sources.yaml; its path from the "
        "repository's root."
    )
    models: str = Field(
        description="Catalogue of models, of the form of config/models.yaml; its path from the "
        "repository's root."
    )


class Pool(Strict):
    """How many items of the sources enter the candidate pool, balanced by task type."""

    per_task: Annotated[int, Field(ge=1)] | None = Field(
        description="At most this many items of each task type; null for no such limit. Items are taken in a "
        "hashed order, so that a smaller number keeps a subset of what a larger one keeps."
    )
    total: Annotated[int, Field(ge=1)] | None = Field(
        description="At most this many items in all: the largest limit per task type that keeps the pool "
        "within it is taken, and shown; null for no such limit. With both null, every item enters."
    )


class Corruptions(Strict):
    """What is done to the images."""

    suite: str = Field(
        description=f"Suite that the names of types come from: {', '.join(SUITES)} (docs/corruptions.md)."
    )
    engine: Engine = Field(
        description="Implementation of the corruptions: benchc's kernels, which have all suites, or imgaug's "
        "imgcorruptlike, which has the 19 of imagenet-c and is many times slower (docs/benchmarks.md)."
    )
    corrupted: Literal["files", "on_the_fly"] = Field(
        description="Where corrupted images of the pool live. files: all of them are written once, without "
        "loss. on_the_fly: the jobs that read them make the same pixels when they need them, and only the "
        "benchmark's are written (docs/benchmarks.md compares disk and time)."
    )
    alpha: Alpha = Field(
        description="What becomes of transparency, for models and the image encoder alike: drop shows the "
        "colour stored under it, white lays the picture over white."
    )
    types: list[str] = Field(
        min_length=1,
        description="Corruptions by name, in the order of tables and figures; a suite has some that are not "
        "in its default set (docs/corruptions.md).",
    )
    severities: list[Severity] = Field(
        min_length=1,
        description="Severities by number, ascending.",
    )


class Inference(Strict):
    """How reading is cut into jobs."""

    batch: Literal["all", "family", "corruption"] = Field(
        description="Corruptions that one job of a model reads: all of them, those of a family, or one. "
        "Larger batches lose less time to loading the model, smaller ones spread over more devices."
    )


class TrainingSet(Strict):
    """The pictures and questions that the run's own models are trained on."""

    items_per_category: int = Field(
        ge=1, description="At least so many items of each category. More takes longer to draw."
    )


class TrainedEncoder(Strict):
    """The small image encoder that the run trains."""

    steps: int = Field(ge=3, description="Training steps. More takes longer.")


class Demo(Strict):
    """What a run draws and trains itself; needed where a source is drawn or a model or encoder is trained."""

    world_seed: int = Field(description="Seed of the drawn world and of all training on it.")
    training_set: TrainingSet = Field(
        description="The pictures and questions that the run's own models are trained on."
    )


class RunSettings(Strict):
    """What every run says, whatever its benchmark; the settings of a benchmark add what it needs."""

    # Keys that list models by id, in the order in which a run's models are given.
    MODEL_KEYS: ClassVar[tuple[str, ...]] = ()

    benchmark: str = Field(
        description="Benchmark that the run builds. It decides which other keys there are."
    )
    name: RunName = Field(
        description="Name of the run. Everything that it makes goes to results/<name>.",
    )
    seed: int = Field(
        ge=0,
        description="Seed of every random draw of the corruptions. Another seed makes other noise, fog, ...",
    )
    catalogues: Catalogues = Field(description="Files that the ids below are looked up in.")
    sources: list[Id] = Field(
        min_length=1, description="Data sets that the pool is drawn from, by id, in the order of figures."
    )
    pool: Pool = Field(description="Size of the candidate pool.")
    corruptions: Corruptions = Field(description="What is done to the images.")
    inference: Inference = Field(description="How reading is cut into jobs.")
    demo: Demo | None = Field(
        default=None,
        description="What the run draws and trains itself; null where all sources and models are real.",
    )

    @classmethod
    def own_faults(cls, raw: Raw, file: str) -> Iterator[str]:
        """Yield a sentence for each value of ``raw`` that does not go with another, in keys of the benchmark.

        ``file`` is the name that sentences give to ``raw``. Values of a wrong type are passed over.
        """
        yield from ()

    @classmethod
    def own_training(cls, raw: Raw) -> list[str]:
        """Return in words what ``raw`` asks the run to train beside the models of the catalogue."""
        return []
