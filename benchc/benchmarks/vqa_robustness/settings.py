"""The settings of a run of VQA-robustness: the shared ones, and the choices that the paper leaves open."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from benchc.benchmarks.vqa_robustness.crosscheck import measured_errors
from benchc.config import settings
from benchc.config.answers_from import Imported, own_model_errors
from benchc.config.settings import OpenAnswers
from benchc.config.strict import Id, Ids, Names, Severities, Strict, UserPath
from benchc.corruptions.registry import SUITES, all_corruptions_of, corruptions_of

LEVELS = [1, 2, 3, 4, 5]
GREYSCALE = ("grayscale", "grayscale_luma")
Weight = Annotated[float, Field(ge=0)]


class Answers(OpenAnswers):
    """How the models are asked."""

    max_new_tokens: int = Field(
        default=10,
        ge=1,
        le=10**6,
        description="The most tokens of an answer; an answer that has them is cut off.",
    )
    instruction: str = Field(
        default="Answer the question using a single word or phrase.",
        description="What a prompt asks for; empty for none. VQA heads get the question alone.",
    )


class Vre(Strict):
    """How the visual robustness error is computed."""

    corruptions: Names | None = Field(
        default=None,
        description="Corruptions that VRE is computed over, some of corruptions.types; null for all but "
        "those outside the default set of their suite, whose errors are in the table `other_errors`.",
    )
    levels: Literal["0..5", "1..5"] = Field(
        default="0..5",
        description="Levels of Range, Error Rate and Average Error: 0..5 as in the paper's code, or 1..5 as "
        "in its nomenclature.",
    )
    weights: Annotated[list[Weight], Field(min_length=5, max_length=5)] = Field(
        default=[1.0] * 5,
        description="Weights of First-Drop, Range, Error Rate, Average Error and Average Difference, in any "
        "unit; their sum must be above 0.",
    )
    scale_of: UserPath | None = Field(
        default=None,
        description="Table of errors (CSV) whose minima and maxima scale the metrics, so that adding a model "
        "changes no other; null for this run's own. Relative to the working directory.",
    )

    @model_validator(mode="after")
    def _positive(self) -> Self:
        if not sum(self.weights):
            raise ValueError("has weights with the sum 0; raise one of them")
        return self


class Tables(Strict):
    """Settings of the tables."""

    bootstrap: settings.Bootstrap = Field(
        default_factory=settings.Bootstrap, description="How the images are resampled for intervals."
    )
    ranking: settings.Ranking = Field(
        default_factory=settings.Ranking, description="Which models are ranked."
    )


class Corruptions(settings.Corruptions):
    """How images are corrupted."""

    suite: str = Field(
        description=f"Suite that the types are from: {', '.join(SUITES)} (docs/corruptions.md).",
    )
    types: Names = Field(
        default_factory=settings.default_types,
        json_schema_extra=settings.in_words("the default set of the suite"),
        description="Corruptions by name, in the order of tables and figures. Those that are not in the "
        "default set of their suite (docs/corruptions.md) enter VRE only if vre.corruptions names them.",
    )
    severities: Severities = Field(
        default=LEVELS,
        description="Severities: 1 to 5, the levels of VRE.",
    )

    @model_validator(mode="after")
    def _five_levels(self) -> Self:
        if self.severities != LEVELS:
            raise ValueError(f"has the severities {self.severities}, but VRE needs {LEVELS}")
        return self


class Settings(settings.RunSettings):
    """A run of VQA-robustness: `config/vqa-robustness.yaml`, `config/demo-vqa-robustness.yaml`."""

    MODEL_KEYS = ("models",)

    benchmark: Literal["vqa-robustness"] = Field(description="Benchmark that the run builds.")
    corruptions: Corruptions = Field(description="How images are corrupted.")
    models: Ids = Field(
        description="Ids of the models that are measured, in the order of tables and figures."
    )
    answers: Answers = Field(default_factory=Answers, description="How the models are asked.")
    answers_from: dict[Id, Imported] = Field(
        default_factory=dict,
        description="Answers of models that benchc does not run, by an id of your own. They are graded as "
        "those of the others, and follow them in figures.",
    )
    grade: Literal["exact", "normalised", "soft"] = Field(
        default="normalised",
        description="When an answer is right: if it equals the reference answer letter by letter, as in the "
        "paper's code; if it does so by the rules of the VQA evaluator (lower case, punctuation, articles, "
        "number words, contractions); or by VQA accuracy, the share of agreement with ten annotators. Grades "
        "hold all three.",
    )
    vre: Vre = Field(default_factory=Vre, description="How the visual robustness error is computed.")
    tables: Tables = Field(default_factory=Tables, description="Settings of the tables.")

    @property
    def open_answers(self) -> OpenAnswers:
        return self.answers

    @property
    def measured(self) -> list[str]:
        """Return the corruptions that VRE is computed over, in the order of ``corruptions.types``."""
        chosen = self.vre.corruptions
        if chosen is None:
            suite = SUITES[self.corruptions.suite]
            further = set(all_corruptions_of(suite)) - set(corruptions_of(suite.name))
            return [name for name in self.corruptions.types if name not in further]
        return [name for name in self.corruptions.types if name in chosen]

    @property
    def greyscale(self) -> str | None:
        """Return the first corruption of ``corruptions.types`` by which images lose their colours, if any."""
        return next((name for name in self.corruptions.types if name in GREYSCALE), None)

    @classmethod
    def benchmark_errors(cls, raw: settings.Raw, file: str) -> Iterator[str]:
        yield from measured_errors(raw, file)
        yield from own_model_errors(raw, file)
