"""The settings of a Bench-C run: those that all runs share, and the choices that the paper leaves open."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from benchc.benchmarks.bench_c.crosscheck import encoder_errors, figure_errors
from benchc.config import settings
from benchc.config.raw import block
from benchc.config.settings import EncoderBatch, EncoderGpus, TrainedEncoder
from benchc.config.strict import AnyIds, Ids, Names, Severities, Severity, Strict
from benchc.models.encoders.names import BATCH


class ImageEncoder(Strict):
    """Model that embeds the images."""

    name: str = Field(
        description="An open_clip architecture, or `trained` for the small encoder that the run trains "
        "(demo.image_encoder)."
    )
    pretrained: str | None = Field(
        default=None,
        description="open_clip's tag of the weights, such as openai; null if name is `trained`.",
    )
    gpus: EncoderGpus = 0
    batch: EncoderBatch = BATCH


class TextEncoder(Strict):
    """Model that embeds question and options."""

    name: str = Field(
        description="all-MiniLM-L6-v2 (installed with the project), or the Hub id or folder of another "
        "sentence-transformers model."
    )
    gpus: EncoderGpus = 0
    batch: EncoderBatch = BATCH


def _named(encoder: object) -> object:
    return {"name": encoder} if isinstance(encoder, str) else encoder


class Selection(Strict):
    """How the benchmark is selected from the pool (eq. 3 of the paper)."""

    alpha_kappa: float = Field(
        default=1.0, ge=0, description="Weight of kappa in eq. 3 (alpha 1 in the paper)."
    )
    alpha_diversity: float = Field(
        default=1.0, ge=0, description="Weight of diversity in eq. 3 (alpha 2 in the paper)."
    )
    image_encoder: ImageEncoder = Field(
        default=ImageEncoder(name="ViT-B-32-quickgelu", pretrained="openai"),
        description="Model that embeds the images.",
    )
    text_encoder: Annotated[
        TextEncoder, BeforeValidator(_named, json_schema_input_type=str | TextEncoder)
    ] = Field(
        default=TextEncoder(name="all-MiniLM-L6-v2"),
        description="Model that embeds question and options; a text is its name.",
    )
    score: Literal["at_pick", "final_centroid"] = Field(
        default="at_pick",
        description="Final score of an item: the bracket of eq. 3 when the item was picked (greedy selection "
        "picks every item with kappa > 0, in turn), or computed with the centroid of all these items. Items "
        "that score above the mean are selected.",
    )


class Scores(Strict):
    """How predictions are scored."""

    allow_missing: bool = Field(
        default=False,
        description="Whether a target with missing predictions is scored on the items that have them. Items "
        "that any target lacks are then excluded from all comparisons of targets, and their number is "
        "reported. If false, missing predictions are an error. Predictions are missing where a file of "
        "another program, or an edited one, lacks rows; infer itself never skips a prediction.",
    )


class Table2(Strict):
    """How Table 2 standardises the change of a metric from one severity to the next."""

    centring: Literal["none", "items"] = Field(
        default="none",
        description="Whether the mean change over items is subtracted (items) or not (none) before dividing "
        "by the standard deviation over items. The paper does not specify this.",
    )


class Bootstrap(settings.Bootstrap):
    """How the items are resampled for intervals and tests."""

    rank_draws: int = Field(
        default=20000,
        ge=100,
        le=10**6,
        description="Resamples for the test of rank swaps. After Holm's correction over 78 pairs of models, "
        "fewer than 3,119 cannot make any pair significant at 0.05.",
    )


class Tables(Strict):
    """Settings of the tables."""

    bootstrap: Bootstrap = Field(
        default_factory=Bootstrap, description="How the items are resampled for intervals and tests."
    )
    table2: Table2 = Field(default_factory=Table2, description="How Table 2 is computed.")
    ranking: settings.LabelRanking = Field(
        default_factory=settings.LabelRanking, description="Which models are ranked."
    )


class Diagnostics(Strict):
    """Predictions beyond the paper's that measure the benchmark itself."""

    random_subset: Annotated[int, Field(ge=1, le=10**7)] | Literal["all"] | None = Field(
        default=None,
        description="Number of unselected control items that targets are also evaluated on, to compare the "
        "selected set with random subsets of the pool; null for none. Items are taken in a hashed order, so "
        "a larger number only adds items. Unless it is `all`, the compared sets are smaller than the "
        "benchmark: half the harmonic mean of its size and this number. With `corruptions.corrupted: "
        "on_the_fly`, each job generates the images of these items.",
    )
    option_order: Annotated[int, Field(ge=1, le=10**7)] | None = Field(
        default=None,
        description="Number of selected items on which targets are also evaluated with the options in every "
        "other circular order, clean and under each corruption at its highest severity; null for none. Items "
        "are taken in a hashed order.",
    )
    generated_answers: AnyIds = Field(
        default=[],
        description="Ids of models that also answer the selected items in their own words, clean and "
        "corrupted. Table `generated_answers` has the accuracy of the options that are extracted from their "
        "answers and, for targets, how often these are the predictions from logits. A model that only "
        "generates (`scoring: generate`) can be listed here alone.",
    )


class Figure3(Strict):
    """Figure 3: one prediction of each regime by one target."""

    target: str | None = Field(
        default=None, description="Id of the model: one of targets; null for the first one."
    )


class Figure4(Strict):
    """Figure 4: one target under one corruption."""

    target: str | None = Field(
        default=None, description="Id of the model: one of targets; null for the first one."
    )
    corruption: str | None = Field(
        default=None,
        description="Name of the corruption: one of corruptions.types; null for snow, as in the paper, or "
        "the first one where the run has no snow.",
    )
    severity: Severity | None = Field(
        default=None, description="Severity: one of corruptions.severities; null for the highest one."
    )


class Figure5(Strict):
    """Figure 5: one target's predictions on one item under several corruptions."""

    target: str | None = Field(
        default=None, description="Id of the model: one of targets; null for the first one."
    )
    item: str | None = Field(
        default=None,
        description="Id of an item of the benchmark; null for the one whose predictions fall into the most "
        "regimes.",
    )
    corruptions: Annotated[list[str], Field(min_length=1, max_length=4)] | None = Field(
        default=None,
        description="Up to four corruptions with their severities, such as snow:5, shown with the clean "
        "image; null for the most pronounced prediction of each regime, under different corruptions if "
        "possible.",
    )


class Figures(Strict):
    """Settings of the figures."""

    figure3: Figure3 = Field(default_factory=Figure3, description="What Figure 3 shows.")
    figure4: Figure4 = Field(default_factory=Figure4, description="What Figure 4 shows.")
    figure5: Figure5 = Field(default_factory=Figure5, description="What Figure 5 shows.")


class Corruptions(settings.Corruptions):
    """How images are corrupted."""

    types: Names = Field(
        default_factory=settings.default_types,
        json_schema_extra=settings.in_words("the default set of the suite"),
        description="Corruptions by name, in the order of tables and figures. Some are not in the default "
        "set of their suite (docs/corruptions.md). Adding one changes kappa and therefore the selection.",
    )
    severities: Severities = Field(
        default_factory=settings.default_severities,
        json_schema_extra=settings.in_words("all of the suite"),
        min_length=2,
        description="Severities, ascending, at least two: eq. 4 of the paper counts how predictions differ "
        "between them.",
    )


class Demo(settings.Demo):
    """Data and models that the run generates and trains."""

    image_encoder: TrainedEncoder = Field(description="The small image encoder that the run trains.")


class Settings(settings.RunSettings):
    """A run of Bench-C, from sources to figures: `config/config.yaml`, `demo.yaml`, `real-items.yaml`."""

    MODEL_KEYS = ("selectors", "targets", "diagnostics.generated_answers")
    MEASURED_KEY = "targets"
    MADE_FROM = ("predictions/pool/",)
    SCORING_KEYS = ("selectors", "targets")

    benchmark: Literal["bench-c"] = Field(description="Benchmark that the run builds.")
    corruptions: Corruptions = Field(default_factory=Corruptions, description="How images are corrupted.")
    selectors: Ids = Field(
        description="Ids of the models whose inconsistency decides which items are selected."
    )
    targets: Ids = Field(
        description="Ids of the models that the benchmark evaluates, in the order of tables and figures."
    )
    selection: Selection = Field(
        default_factory=Selection, description="How the benchmark is selected from the pool."
    )
    scores: Scores = Field(default_factory=Scores, description="How predictions are scored.")
    diagnostics: Diagnostics = Field(
        default_factory=Diagnostics,
        description="Predictions beyond the paper's that measure the benchmark itself; `benchc plan` "
        "estimates their cost.",
    )
    tables: Tables = Field(default_factory=Tables, description="Settings of the tables.")
    figures: Figures = Field(default_factory=Figures, description="Settings of the figures.")
    demo: Demo | None = Field(
        default=None,
        description="Data and models that the run generates and trains; null if all are real.",
    )

    @model_validator(mode="after")
    def _with_figures_of_this_run(self) -> Self:
        first, types = self.targets[0], self.corruptions.types
        figure4 = {
            "target": first,
            "corruption": "snow" if "snow" in types else next(iter(types), None),
            "severity": max(self.corruptions.severities, default=None),
        }
        figures = {
            "figure3": _filled(self.figures.figure3, {"target": first}),
            "figure4": _filled(self.figures.figure4, figure4),
            "figure5": _filled(self.figures.figure5, {"target": first}),
        }
        return self.model_copy(update={"figures": self.figures.model_copy(update=figures)})

    @classmethod
    def benchmark_errors(cls, raw: settings.Raw, file: str) -> Iterator[str]:
        yield from figure_errors(raw, file)
        yield from encoder_errors(raw, file)

    @property
    def encoder_gpus(self) -> int:
        return max(self.selection.image_encoder.gpus, self.selection.text_encoder.gpus)

    @classmethod
    def trained_encoders(cls, raw: settings.Raw) -> list[str]:
        encoder = block(block(raw, "selection"), "image_encoder")
        return ["the image encoder"] if encoder.get("name") == "trained" else []


def _filled(figure: Strict, values: Mapping[str, object]) -> Strict:
    """Return ``figure`` with ``values`` of the keys that are null."""
    return figure.model_copy(
        update={key: value for key, value in values.items() if getattr(figure, key) is None}
    )
