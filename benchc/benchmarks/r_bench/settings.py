"""The settings of a run of R-Bench: the shared ones, and the choices that the paper leaves open."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from benchc.benchmarks.r_bench.crosscheck import id_errors, pair_errors, people_errors, task_errors
from benchc.benchmarks.r_bench.judging.options import ENCODER, REPEATS, JudgeKind, JudgeOptions, Reading
from benchc.benchmarks.r_bench.tasks import TASKS, Task, task_of
from benchc.config import settings
from benchc.config.answers_from import Imported
from benchc.config.language_model import LanguageModel
from benchc.config.settings import TemplatedAnswers
from benchc.config.strict import Id, Ids, Label, Names, Severities, Strict, UserPath
from benchc.corruptions.registry import SUITES


class Assignment(Strict):
    """Under which dimensions, at which strengths, the items of generated pairs are shown."""

    per_task: int = Field(
        default=15,
        ge=1,
        le=10**7,
        description="Items of each dimension and task, as far as the pool reaches; their strengths are "
        "equally frequent.",
    )
    per_item: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="The most dimensions that an item is shown under, each at one strength.",
    )
    cross: bool = Field(
        default=False, description="Whether every item is shown under all dimensions at all strengths."
    )


class Answers(Strict):
    """How models are asked, by task, greedily."""

    mcq: TemplatedAnswers = Field(
        default=TemplatedAnswers(
            prompt="{question}\n{options}\nAnswer with the option's letter from the given choices directly.",
            max_new_tokens=10,
        ),
        description="Items with options.",
    )
    vqa: TemplatedAnswers = Field(
        default=TemplatedAnswers(prompt="{question}. Please answer no more than 10 words", max_new_tokens=20),
        description="Open-ended questions.",
    )
    cap: TemplatedAnswers = Field(
        default=TemplatedAnswers(
            prompt="Please describe this image in general. Directly provide the description, do not include "
            "prefix like 'This image depicts'",
            max_new_tokens=80,
        ),
        description="Captions.",
    )

    @model_validator(mode="after")
    def _ask(self) -> Self:
        for task in ("mcq", "vqa"):
            if "{question}" not in getattr(self, task).prompt:
                raise ValueError(f"has a prompt of {task} without {{question}}; add it")
        return self


class Judged(Strict):
    """A model whose replies were judged by another program, in the authors' format."""

    label: Label = Field(description="Name in tables and figures.")
    dis: UserPath = Field(description="CSV file with name and result of replies to distorted images.")
    ref: UserPath = Field(description="The same of replies to reference images.")
    com: UserPath = Field(description="The same of replies to distorted images against those to reference.")
    replies_of: Id | None = Field(
        default=None,
        description="Id of a model of the run that has the same replies, to compare its judge with this one.",
    )

    @model_validator(mode="after")
    def _three_files(self) -> Self:
        if len({self.dis, self.ref, self.com}) < 3:
            raise ValueError("has one file twice; give each of dis, ref and com its own")
        return self


class Judge(LanguageModel):
    """Who judges replies, and how; the connection is that of the judge llm."""

    kind: JudgeKind = Field(
        default="llm",
        description="llm is a language model; rule compares texts, and its scores compare with those of no "
        "other judge; human takes the scores of people from a file. A letter decides a reply to options "
        "without them.",
    )
    model: str = Field(
        default="gpt-3.5-turbo", min_length=1, description="Name of the model at the endpoint."
    )
    repeats: int = Field(
        default=REPEATS,
        ge=1,
        le=1000,
        description="Judgements of a reply by the language model, each with its number as seed; a caption "
        "has one against each reference.",
    )
    always: bool = Field(
        default=False,
        description="Whether the language model also judges replies that are a letter, as in the authors' "
        "code.",
    )
    reading: Reading = Field(
        default="last_line",
        description="Which number of the language model's reply is the score: the first one of its last "
        "line, or, as in the authors' code, its last character. Other replies are unreadable, and score 0.",
    )
    encoder: UserPath = Field(
        default=ENCODER,
        description="Text encoder by which the judge rule compares captions: all-MiniLM-L6-v2, which is "
        "installed with the project, or the folder of another sentence-transformers model.",
    )
    scores: UserPath | None = Field(
        default=None,
        description="CSV file with the scores of the judge human: model, id, corruption (`clean` at severity "
        "0), severity, kind, reference and score; several rows of a reply are several people's. Relative to "
        "the working directory.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.kind == "human") != (self.scores is not None):
            raise ValueError("has one of kind: human and scores; give both, or neither")
        if self.always and self.kind != "llm":
            raise ValueError("has always, which is of kind: llm alone; remove it")
        return self

    @property
    def options(self) -> JudgeOptions:
        """What decides the judgements; settings that others judges have do not."""
        match self.kind:
            case "llm":
                return JudgeOptions(
                    model=self.model,
                    temperature=self.temperature,
                    repeats=self.repeats,
                    always=self.always,
                    reading=self.reading,
                )
            case "rule":
                return JudgeOptions(kind="rule", encoder=self.encoder)
        return JudgeOptions(kind="human")


class Tables(Strict):
    """Settings of the tables, figures and pages."""

    bootstrap: settings.Bootstrap = Field(
        default_factory=settings.Bootstrap, description="How the items are resampled for intervals."
    )
    pairs: int = Field(
        default=99,
        ge=1,
        le=10**5,
        description="The most pairs that figures choose examples from, spread over dimensions and tasks.",
    )
    ranking: settings.Ranking = Field(
        default_factory=settings.Ranking, description="Which models are ranked."
    )


class Corruptions(settings.Corruptions):
    """How images are corrupted."""

    suite: Literal["r-bench"] = Field(description="Suite that the types are from.")
    types: Names = Field(
        default_factory=settings.default_types,
        json_schema_extra=settings.in_words("the default set of the suite"),
        description="Dimensions by name, in the order of tables and figures. Stand-ins for the five that the "
        "authors photographed are shown only if they are named, and are no part of means of steps and "
        "groups.",
    )
    severities: Severities = Field(
        default=list(SUITES["r-bench"].severities), description="Strengths: 1, 2, 3 are low, mid, high."
    )


class Settings(settings.RunSettings):
    """A run of R-Bench: `config/r-bench.yaml`, `config/demo-r-bench.yaml`."""

    MODEL_KEYS = ("models",)

    benchmark: Literal["r-bench"] = Field(description="Benchmark that the run builds.")
    corruptions: Corruptions = Field(description="How images are corrupted.")
    pairs: Literal["released", "generated"] = Field(
        description="Whether the pairs of reference and distorted image are the authors', or generated from "
        "the images of the pool."
    )
    released: UserPath | None = Field(
        default=None,
        description="Distorted images of released pairs, as `benchc r-bench-pairs` writes them; relative to "
        "the working directory.",
    )
    tasks: dict[Id, Task] = Field(
        default_factory=dict,
        description="Tasks of the sources by id; of others, items with options are mcq, and the rest vqa. "
        "Released pairs have theirs as category.",
    )
    assignment: Assignment = Field(
        default_factory=Assignment, description="Which items are shown under which dimensions."
    )
    models: Ids = Field(
        description="Ids of the models that are measured, in the order of tables and figures."
    )
    answers: Answers = Field(default_factory=Answers, description="How models are asked.")
    answers_from: dict[Id, Imported] = Field(
        default_factory=dict,
        description="Answers of models that benchc does not run, by an id of your own, judged as the others.",
    )
    judge: Judge = Field(default_factory=lambda: Judge(), description="Who judges replies, and how.")
    judgements_from: dict[Id, Judged] = Field(
        default_factory=dict, description="Judgements of models by another program, by an id of your own."
    )
    people: Annotated[list[UserPath], Field()] = Field(
        default=[],
        description="Answers of people, a CSV file each with id and answer, for the human row of Table 4: "
        "at least three, of whom the best and the worst are left out.",
    )
    tables: Tables = Field(default_factory=Tables, description="Settings of the tables, figures and pages.")

    @property
    def imported_images(self) -> str | None:
        return self.released if self.pairs == "released" else None

    @classmethod
    def imports_images(cls, raw: settings.Raw) -> bool:
        return raw.get("pairs") == "released"

    @property
    def subset_answers(self) -> Mapping[str, TemplatedAnswers]:
        return {task: getattr(self.answers, task) for task in TASKS}

    def subset_of(self, item: Mapping[str, Any]) -> Task:
        return task_of(item, self.tasks, released=self.pairs == "released")

    @classmethod
    def benchmark_errors(cls, raw: settings.Raw, file: str) -> Iterator[str]:
        yield from pair_errors(raw, file)
        yield from task_errors(raw, file)
        yield from id_errors(raw, file)
        yield from people_errors(raw, file)
