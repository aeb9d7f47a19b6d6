"""The settings of a run of MLLM-IC: the shared ones, and the choices that the paper leaves open."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from benchc.benchmarks.mllm_ic.crosscheck import circular_errors, figure_errors, id_errors
from benchc.config import settings
from benchc.config.answers_from import Imported
from benchc.config.strict import AnyIds, Id, Ids, Label, Names, Severities, Strict, UserPath
from benchc.corruptions.registry import SUITES

SUITE = SUITES["mllm-ic"]
SEVERITIES = list(SUITE.severities)


class Capabilities(Strict):
    """Which capability each question is of."""

    categories: UserPath = Field(
        default="benchc/benchmarks/mllm_ic/categories.csv",
        description="CSV file with the columns source, category, capability and reason: the capability of a "
        "source's category, or none with a reason to leave its questions out. Relative to the working "
        "directory. Case, spaces, hyphens and underscores of a category do not matter.",
    )
    unmapped: Literal["stop", "keep"] = Field(
        default="stop",
        description="Whether a category that the file does not have stops the run, or its questions are "
        "asked, outside the means of capabilities.",
    )
    circular: AnyIds = Field(
        default=[],
        description="Ids of the sources whose indices from 1,000,000 on are circular copies of the question "
        "at the index modulo 1,000,000: the same question with rotated options.",
    )


class ImportedPredictions(Strict):
    """A model whose options another program scored."""

    label: Label = Field(description="Name in tables and figures.")
    file: UserPath = Field(
        description="Parquet file with the columns id, corruption (`clean` at severity 0), severity and "
        "logits, a list with one number for each option; one row for each item, corruption and severity. "
        "Relative to the working directory."
    )


class Hierarchy(Strict):
    """The pictures and the network of Figure 3."""

    images: UserPath | None = Field(
        default=None,
        description="Folder or archive of CIFAR-10, Python version; null for pictures of the pool.",
    )
    weights: UserPath | None = Field(
        default=None,
        description="Weights of a WideResNet (WRN-40-2) trained on CIFAR-10; null for the image encoder that "
        "the run trains (demo.image_encoder).",
    )
    count: int = Field(default=1000, ge=2, le=10**5, description="Pictures, the first in a hashed order.")
    perplexity: float = Field(default=30, gt=0, description="Perplexity of the t-SNE.")
    seed: int = Field(default=0, ge=0, description="Seed of the t-SNE.")

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.images is None) != (self.weights is None):
            raise ValueError("has one of images and weights; give both, or neither")
        return self


class Tables(Strict):
    """Settings of the tables."""

    bootstrap: settings.Bootstrap = Field(
        default_factory=settings.Bootstrap, description="How the pictures are resampled for intervals."
    )
    ranking: settings.Ranking = Field(
        default_factory=settings.Ranking, description="Which models are ranked."
    )


class Figure5(Strict):
    """Figure 5: an image under some types of corruption at each severity."""

    types: Names | None = Field(
        default=None,
        description="Types of the run; null for motion_blur, snow and gaussian_noise, as in the paper, or, "
        "where the run has none of them, for its first.",
    )


class Figure10(Strict):
    """Figure 10: the accuracy of one model by severity, capability and corruption."""

    model: Id | None = Field(
        default=None,
        description="Id of the model; null for deepseek-vl-7b-chat, as in the paper, or the first.",
    )


class Figures(Strict):
    """Settings of the figures."""

    left_out: AnyIds = Field(
        default=[],
        description="Ids of models that Figures 6 to 9 leave out, as the paper does with MiniGPT-4 and "
        "Otter: models near chance compress the scale.",
    )
    figure5: Figure5 = Field(default_factory=Figure5, description="What Figure 5 shows.")
    figure10: Figure10 = Field(default_factory=Figure10, description="What Figure 10 shows.")


class Corruptions(settings.Corruptions):
    """How images are corrupted."""

    suite: Literal["mllm-ic"] = Field(description="Suite that the types are from.")
    types: Names = Field(
        default_factory=settings.default_types,
        json_schema_extra=settings.in_words("the default set of the suite"),
        description="Corruptions by name, in the order of tables and figures, at least one of each of the "
        "nine categories.",
    )
    severities: Severities = Field(default=SEVERITIES, description="Severities: 1 to 5.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.severities != SEVERITIES:
            raise ValueError(
                f"has the severities {self.severities}, but averages need {SEVERITIES}; leave the key out"
            )
        for category, types in SUITE.groups.items():
            names = [each.name for each in types]
            if not {*names} & {*self.types}:
                raise ValueError(
                    f"has no type of the category {category}, of which averages need one; add "
                    f"{' or '.join(names)} to types"
                )
        return self


class Pool(settings.Pool):
    """All items, as the paper asks all questions."""

    per_task: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=None, description="Maximum number of items per task type; null for no limit."
    )
    total: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=None, description="Maximum number of items in all; null for no limit."
    )


class Demo(settings.Demo):
    """Data and models that the run generates and trains."""

    image_encoder: settings.TrainedEncoder | None = Field(
        default=None, description="The small image encoder of Figure 3; null for none."
    )


class Settings(settings.RunSettings):
    """A run of MLLM-IC: `config/mllm-ic.yaml`, `mllm-ic-mini.yaml`, `demo-mllm-ic.yaml`."""

    MODEL_KEYS = ("models",)

    benchmark: Literal["mllm-ic"] = Field(description="Benchmark that the run builds.")
    pool: Pool = Field(default_factory=Pool, description="Which items are questions: all, without limits.")
    corruptions: Corruptions = Field(description="How images are corrupted.")
    capabilities: Capabilities = Field(
        default_factory=Capabilities, description="Which capability each question is of."
    )
    mini: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=None,
        description="The most questions of a capability, in a hashed order, with their circular copies; null "
        "for all.",
    )
    models: Ids = Field(
        description="Ids of the models that are measured, in the order of tables and figures. Those whose "
        "scoring is generate or classify answer in words, of which the option is extracted."
    )
    answers_from: dict[Id, Imported] = Field(
        default_factory=dict,
        description="Answers in words of models that benchc does not run, by an id of your own.",
    )
    predictions_from: dict[Id, ImportedPredictions] = Field(
        default_factory=dict,
        description="Option logits of models that benchc does not run, by an id of your own.",
    )
    hierarchy: Hierarchy | None = Field(
        default=None,
        description="The pictures and the network of Figure 3; null to leave it out.",
    )
    tables: Tables = Field(default_factory=Tables, description="Settings of the tables.")
    figures: Figures = Field(default_factory=Figures, description="Settings of the figures.")
    demo: Demo | None = Field(
        default=None,
        description="Data and models that the run generates and trains; null if all are real.",
    )

    @property
    def imported(self) -> dict[str, Imported | ImportedPredictions]:
        """Return the models that other programs have asked, by id."""
        return {**self.answers_from, **self.predictions_from}

    @classmethod
    def benchmark_errors(cls, raw: settings.Raw, file: str) -> Iterator[str]:
        yield from circular_errors(raw, file)
        yield from id_errors(raw, file)
        yield from figure_errors(raw, file)

    @classmethod
    def trained_encoders(cls, raw: settings.Raw) -> list[str]:
        hierarchy = raw.get("hierarchy")
        trained = isinstance(hierarchy, dict) and hierarchy.get("images") is None
        return ["the image encoder of Figure 3"] if trained else []
