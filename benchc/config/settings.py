"""The settings that all benchmarks share."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from benchc.config.evaluation import Evaluate
from benchc.config.strict import Ids, Names, RunName, Severities, Strict, UserPath
from benchc.corruptions.recipe import CLEAN, Recipe, imported_recipe
from benchc.corruptions.registry import SUITES, Engine, corruptions_of, recipe_of
from benchc.corruptions.suite import Suite
from benchc.models.question_template import PLACES

# Repeated from benchc/images.py, which imports an image library.
Alpha = Literal["drop", "white"]
# Repeated from benchc/models/label_mass.py, which imports numpy.
LOW_LABEL_MASS = 0.5

Raw = Mapping[str, Any]

DEFAULT_SUITE = "imagenet-c"
# A key of the JSON Schema that editors ignore; the reference page shows it.
DEFAULT_IN_WORDS = "x-default"


def default_types(corruptions: Raw) -> list[str]:
    """Return the corruptions of a block without types: those of its suite; none where that is unknown."""
    suite = corruptions.get("suite", DEFAULT_SUITE)
    return list(corruptions_of(suite)) if isinstance(suite, str) and suite in SUITES else []


def default_severities(corruptions: Raw) -> list[int]:
    """Return the severities of a block without severities: those of its suite; none where that is unknown."""
    suite = corruptions.get("suite", DEFAULT_SUITE)
    return list(SUITES[suite].severities) if isinstance(suite, str) and suite in SUITES else []


def in_words(default: str) -> dict[str, JsonValue]:
    """Return the default of a key that depends on other keys, for its ``json_schema_extra``."""
    return {DEFAULT_IN_WORDS: default}


class Catalogues(Strict):
    """Files that describe the sources and models by id."""

    sources: str = Field(
        default="config/sources.yaml",
        description="Catalogue of sources (see config/sources.yaml), relative to the working directory.",
    )
    models: str = Field(
        default="config/models.yaml",
        description="Catalogue of models (see config/models.yaml), relative to the working directory.",
    )


class Pool(Strict):
    """Size of the candidate pool, which is balanced by task type."""

    per_task: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=200,
        description="Maximum number of items per task type; null for no limit. Items are taken in a hashed "
        "order, so a smaller number keeps a subset of what a larger one keeps.",
    )
    total: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=4000,
        description="Maximum number of items in all: the largest limit per task type that fits is used and "
        "logged; null for no limit. If both are null, every item enters the pool.",
    )


class Corruptions(Strict):
    """How images are corrupted."""

    suite: str = Field(
        default=DEFAULT_SUITE,
        description=f"Suite that the types are from: {', '.join(SUITES)} (docs/corruptions.md).",
    )
    engine: Engine = Field(
        default="benchc",
        description="Implementation of the corruptions: benchc (all suites), or imgaug's imgcorruptlike (the "
        "19 corruptions of imagenet-c; many times slower, see docs/benchmarks.md).",
    )
    own_files: list[UserPath] = Field(
        default=[],
        description="Python files with corruptions of your own, which types may name beside those of the "
        "suite (docs/corruptions.md); relative to the working directory.",
    )
    scale_with_image: bool = Field(
        default=True,
        description="Whether sizes that docs/corruptions.md gives in px, for a short side of 384 pixels, "
        "grow with the image.",
    )
    corrupted: Literal["files", "on_the_fly"] = Field(
        default="on_the_fly",
        description="files writes all corrupted images of the pool once, losslessly. on_the_fly generates "
        "the same pixels inside the inference jobs and writes only the images of the benchmark "
        "(docs/benchmarks.md compares disk use and time).",
    )
    alpha: Alpha = Field(
        default="drop",
        description="How models and the image encoder see transparency: drop discards the alpha channel, "
        "white composites the image over white.",
    )
    types: Names = Field(
        default_factory=default_types,
        json_schema_extra=in_words("the default set of the suite"),
        description="Corruptions by name, in the order of tables and figures. Some are not in the default "
        "set of their suite (docs/corruptions.md).",
    )
    severities: Severities = Field(
        default_factory=default_severities,
        json_schema_extra=in_words("all of the suite"),
        min_length=1,
        description="Severities, ascending.",
    )

    def recipe(self, name: str, suite: Suite) -> Recipe:
        """Return the recipe of a corruption of the run; ``suite``: with those of the user's files.

        Raises as :func:`recipe_of`.
        """
        return recipe_of(name, suite, self.engine, self.scale_with_image)


MAX_WORKERS = 256


class Inference(Strict):
    """How inference is divided into jobs."""

    corruptions_per_job: Literal["all", "group", "one"] = Field(
        default="group",
        description="Corruptions evaluated by one inference job: all, one group, or one. "
        "More load the model less often; fewer use more devices in parallel.",
    )
    workers: int = Field(
        default=8,
        ge=0,
        le=MAX_WORKERS,
        description="Processes of a job on a GPU that prepare images while the model computes. The job has "
        "one core more: on one machine, `--cores` must be so many for each GPU. They change no number.",
    )


class OpenAnswers(Strict):
    """How models are asked for answers in their own words. Benchmarks that do so have these settings."""

    max_new_tokens: int = Field(ge=1, le=10**6, description="The most tokens of an answer.")
    instruction: str = Field(description="What a prompt asks for; empty for none.")
    instruction_place: Literal["before", "after"] = Field(
        default="after",
        description="Where the instruction is: before the question and a space, or the prompt's last line.",
    )

    def generation(self) -> dict[str, Any]:
        """Return the arguments of :class:`benchc.models.generation.Generation`."""
        place = {"instruction_first": True} if self.instruction_place == "before" else {}
        return {
            "max_new_tokens": self.max_new_tokens,
            "instruction": self.instruction,
            "lists_options": False,
            **place,
        }


class TemplatedAnswers(Strict):
    """How models are asked the items of a subset. Benchmarks whose subsets differ in this have these keys."""

    prompt: str = Field(
        min_length=1,
        description="The prompt, with {question} and, of items with options, {options} as `A.red; B.blue` or "
        "{option_lines} as `A. red` and `B. blue` on lines of their own.",
    )
    max_new_tokens: int = Field(
        ge=1, le=10**6, description="The most tokens of an answer; one that has them is cut."
    )

    @field_validator("prompt")
    @classmethod
    def _known_places(cls, prompt: str) -> str:
        unknown = [place for place in re.findall(r"\{(\w+)\}", prompt) if place not in PLACES]
        if unknown:
            places = ", ".join(f"{{{place}}}" for place in PLACES)
            raise ValueError(f"has {{{unknown[0]}}}, but the places of a prompt are {places}")
        return prompt

    def generation(self) -> dict[str, Any]:
        """Return the arguments of :class:`benchc.models.generation.Generation`."""
        return {"max_new_tokens": self.max_new_tokens}


class LabelPrompt(Strict):
    """How models are asked for Yes or No, or for a letter. Benchmarks that do so have these keys."""

    yes_no: str = Field(description="Last sentence of a question with the options Yes and No.")
    multiple_choice: str = Field(description="Last sentence of a question with other options.")
    separator: Literal["space", "none"] = Field(
        default="space", description="What is between question and last sentence: a space, or nothing."
    )
    labels: Literal["letters", "texts"] = Field(
        default="letters",
        description="What options other than Yes and No are called: their letters, which are listed, or "
        "their own texts, which are not.",
    )
    max_new_tokens: int = Field(ge=1, le=10**6, description="The most tokens of a generated answer.")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of :class:`benchc.models.label_prompt.LabelPrompt`."""
        separator = {"space": " ", "none": ""}[self.separator]
        given = {"yes_no": self.yes_no, "others": self.multiple_choice, "separator": separator}
        return given | ({"by_text": True} if self.labels == "texts" else {})


class Bootstrap(Strict):
    """How a sample is resampled for intervals."""

    draws: int = Field(default=2000, ge=100, le=100_000, description="Resamples for the intervals.")
    seed: int = Field(default=0, ge=0, description="Seed of the resamples.")


class Ranking(Strict):
    """Which models are ranked. Metrics of robustness say nothing of a model that does not look at images."""

    below_chance: bool = Field(
        default=False,
        description="Whether models are ranked, in bold and part of claims though they are not above chance: "
        "the lower end of the interval of their accuracy is not above the accuracy of guessing and of the "
        "best answer that is always the same. Tables mark them in either case.",
    )


class LabelRanking(Ranking):
    """Which models are ranked, of a benchmark that scores options by their letters."""

    least_label_mass: Annotated[float, Field(ge=0, le=1)] = Field(
        default=LOW_LABEL_MASS,
        description="Models whose mean label mass is lower are treated as those that are not above chance: "
        "the letters of the options have less of the probability than other words, so they would mostly "
        "answer with these. 0 for none. Models that are scored by the options' texts have no such share.",
    )


class TrainingSet(Strict):
    """Images and questions on which the run trains models."""

    items_per_category: int = Field(
        ge=1, le=10**5, description="Minimum number of items per category. Generation time grows with it."
    )


class TrainedEncoder(Strict):
    """The small image encoder that the run trains."""

    steps: int = Field(ge=3, le=10**6, description="Training steps.")


EncoderGpus = Annotated[
    int, Field(ge=0, le=1, description="GPUs of a job that embeds; 0 is the CPU, which has other last bits.")
]
EncoderBatch = Annotated[
    int,
    Field(
        ge=1,
        le=10**6,
        description="Images or texts that pass through the encoder at once, which decides last bits of their "
        "vectors. A larger batch fills a GPU; one that does not fit is an error.",
    ),
]


class Demo(Strict):
    """Data and models that the run generates and trains."""

    seed: int = Field(description="Seed of the generated data and of all training on it.")
    training_set: TrainingSet = Field(description="Images and questions on which the run trains models.")


class ResultsPageSettings(Strict):
    """What the samples of the results page show (docs/results-page.md)."""

    samples: int = Field(
        default=1000,
        ge=1,
        le=10**5,
        description="Most samples, the first in the order of a hash. Tables and figures are of all items.",
    )
    images: Literal["redistributable", "all", "none"] = Field(
        default="redistributable",
        description="Whose images are shown: redistributable leaves out sources whose licence is known and "
        "does not let them be passed on; of all sources, for you alone; or none.",
    )
    corruptions: Names | None = Field(
        default=None,
        description="Corruptions whose images are shown; null for all, or, of many samples, for so many that "
        "there are at most 5,000 image files. Answers are shown under all corruptions.",
    )
    longest_side: int = Field(
        default=480,
        ge=32,
        le=2000,
        description="Longest side of an image, in pixels; larger ones are scaled.",
    )


class RunSettings(Strict):
    """The settings of every run; each benchmark adds its own."""

    # Keys that list sources by id, those of the pool first; a dot precedes the key of a block.
    SOURCE_KEYS: ClassVar[tuple[str, ...]] = ("sources",)
    # Keys that list models by id, in the order of a run's models; a dot precedes the key of a block.
    MODEL_KEYS: ClassVar[tuple[str, ...]] = ()
    # That of them with the models of tables and figures.
    MEASURED_KEY: ClassVar[str] = "models"
    # Folders of results with predictions from which the benchmark itself is made.
    MADE_FROM: ClassVar[tuple[str, ...]] = ()
    # Those of them whose models score options.
    SCORING_KEYS: ClassVar[tuple[str, ...]] = ()

    benchmark: str = Field(description="Benchmark that the run builds. It determines the other keys.")
    name: RunName = Field(description="Name of the run. Its outputs are written to results/<name>.")
    seed: int = Field(
        default=20251119,
        ge=0,
        description="Seed of the corruptions' random numbers; another seed gives another benchmark.",
    )
    catalogues: Catalogues = Field(
        default_factory=Catalogues, description="Files that describe the sources and models by id."
    )
    sources: Ids = Field(description="Ids of the data sets in the pool, in the order of figures.")
    pool: Pool = Field(default_factory=Pool, description="Size of the candidate pool.")
    corruptions: Corruptions = Field(default_factory=Corruptions, description="How images are corrupted.")
    inference: Inference = Field(default_factory=Inference, description="How inference is divided into jobs.")
    results_page: ResultsPageSettings = Field(
        default_factory=ResultsPageSettings, description="What the samples of the results page show."
    )
    evaluate: Evaluate | None = Field(
        default=None,
        description="Models that are evaluated on the benchmark of a finished run, which decides all other "
        "keys but name, catalogues.models and inference.workers (docs/evaluate.md); null for a run that "
        "makes its own benchmark.",
    )
    demo: Demo | None = Field(
        default=None,
        description="Data and models that the run generates and trains; null if all are real.",
    )

    @model_validator(mode="after")
    def _shows_its_own_corruptions(self) -> Self:
        types = self.corruptions.types
        for position, name in enumerate(self.results_page.corruptions or []):
            if name not in types:
                known = ", ".join(types) or "no corruptions"
                raise ValueError(
                    f'results_page.corruptions[{position}] is "{name}", but corruptions.types has {known}'
                )
        return self

    @property
    def imported_images(self) -> str | None:
        """Return the file of the images that another program corrupted; None where the run corrupts them."""
        return None

    @classmethod
    def imports_images(cls, raw: Raw) -> bool:
        """Return whether a run of these values, which may be wrong, has ``imported_images``."""
        return False

    @property
    def corrupted(self) -> Literal["files", "on_the_fly"]:
        """Return whether all corrupted images are in files, as imported ones are, or made by the jobs."""
        return self.corruptions.corrupted if self.imported_images is None else "files"

    def recipe(self, name: str, suite: Suite) -> Recipe:
        """Return the recipe of a corruption of the run, as ``corruptions`` does unless it is imported."""
        if self.imported_images is None or name == CLEAN:
            return self.corruptions.recipe(name, suite)
        return imported_recipe(name, self.corruptions.severities)

    @property
    def open_answers(self) -> OpenAnswers | None:
        """Return how models are asked all questions openly, also those with options; None if they are not."""
        return None

    @property
    def subset_answers(self) -> Mapping[str, TemplatedAnswers]:
        """Return how models are asked the items of each subset, where that differs; empty where it is one.

        A benchmark that has them says by ``subset_of`` which item is of which subset.
        """
        return {}

    def subset_of(self, item: Mapping[str, Any]) -> str:
        """Return the subset of an item, a key of ``subset_answers``.

        ``item``: at least its source, options and category, as in the pool.
        """
        raise NotImplementedError

    @property
    def label_prompt(self) -> LabelPrompt | None:
        """Return the prompt that asks for Yes or No, or for a letter; None for the usual prompts."""
        return None

    @property
    def asking_rule(self) -> Literal["infer", "answer"]:
        """Return the rule whose jobs take most of the time: that in which models are asked."""
        return "answer" if self.open_answers or self.subset_answers else "infer"

    @classmethod
    def benchmark_errors(cls, raw: Raw, file: str) -> Iterator[str]:
        """Yield a line for each value of ``raw`` that does not fit another one, in the benchmark's own keys.

        ``file`` is the name of ``raw`` in these lines. Values of a wrong type are ignored.
        """
        yield from ()

    @classmethod
    def model_errors(cls, raw: Raw, models: Raw, file: str, catalogue: str) -> Iterator[str]:
        """Yield the same for values of ``raw`` that do not fit the entries of the models that they name.

        ``models``: the content of the model catalogue, whose name is ``catalogue``.
        """
        yield from ()

    @property
    def made_sources(self) -> tuple[str, ...]:
        """Return the files that the run makes itself and that its sources may name as their path."""
        return ()

    @property
    def encoder_gpus(self) -> int:
        """Return the most GPUs of a job that embeds images or texts."""
        return 0

    @classmethod
    def trained_encoders(cls, raw: Raw) -> list[str]:
        """Return what the run trains in addition to the models of the catalogue, in words."""
        return []
