"""The settings of a run of Bench-C: what the paper leaves to choose, on top of what all runs share."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from benchc.benchmarks.bench_c.crosscheck import encoder_faults, figure_faults
from benchc.config import settings
from benchc.config.raw import block
from benchc.config.settings import TrainedEncoder
from benchc.config.strict import Id, Severity, Strict


class ImageEncoder(Strict):
    """The model that embeds images for the diversity term of the selection."""

    name: str = Field(
        description="Name of an open_clip architecture, or `trained` for the small one that the run trains "
        "itself (see demo.image_encoder)."
    )
    pretrained: str | None = Field(
        default=None,
        description="open_clip's tag of the weights, such as openai; null where name is `trained`.",
    )


class Selection(Strict):
    """How the benchmark is selected from the pool (eq. 3 of the paper)."""

    alpha_kappa: float = Field(ge=0, description="Weight of kappa in eq. 3, the paper's alpha 1.")
    alpha_diversity: float = Field(ge=0, description="Weight of diversity in eq. 3, the paper's alpha 2.")
    image_encoder: ImageEncoder = Field(description="Model that embeds the images.")
    text_encoder: str = Field(
        description="Model that embeds question and options: all-MiniLM-L6-v2 (installed with the project), "
        "or the Hub id or folder of another sentence-transformers model."
    )
    score: Literal["at_pick", "final_centroid"] = Field(
        description="Final score of an item: the bracket of eq. 3 when it was picked, or measured against "
        "the centroid of all that were picked."
    )


class Scores(Strict):
    """How predictions become scores."""

    allow_missing: bool = Field(
        description="Whether a target that lacks predictions of some items is scored on the others. The items that "
        "any target lacks then leave every table and figure that compares targets, which says how many; "
        "without it, a run whose predictions are not all there stops, and names them."
    )


class Table2(Strict):
    """How table 2 standardises a metric's change from one severity to the next."""

    centring: Literal["none", "items"] = Field(
        description="Whether an item's change is measured from zero (none) or from the mean change over "
        "items (items) before it is divided by the standard deviation over items. The paper does not say."
    )


class Bootstrap(Strict):
    """How intervals and tests resample the benchmark's items."""

    draws: int = Field(ge=100, description="Draws of the intervals.")
    rank_draws: int = Field(
        ge=100,
        description="Draws of the test of rank swaps. After Holm's correction over 78 pairs of models, fewer "
        "than about 3,200 can make no pair significant at 0.05.",
    )
    seed: int = Field(ge=0, description="Seed of the draws.")


class Tables(Strict):
    """Choices in the tables."""

    bootstrap: Bootstrap = Field(description="How intervals and tests resample the items.")
    table2: Table2 = Field(description="How table 2 is computed.")


class Diagnostics(Strict):
    """Reads beyond the paper's, which measure the benchmark itself."""

    random_subset: Annotated[int, Field(ge=1)] | Literal["all"] | None = Field(
        description="How many items that were not selected targets read as well, so that the selected set "
        "can be compared with random subsets of the pool: a number, all, or null for none. Items are taken "
        "in a hashed order, so that a larger number adds to what a smaller one predictions. With fewer than "
        "all, "
        "the sets that are compared are smaller than the benchmark: of as many items as half the harmonic "
        "mean of the benchmark's and the number, so half the benchmark's where both are equal. With "
        "corruptions.corrupted: on_the_fly, every job that reads these items makes their images."
    )
    option_order: Annotated[int, Field(ge=1)] | None = Field(
        description="On how many selected items targets are asked again with the options in every other "
        "circular order, clean and under each corruption at its highest severity; null for none. Items are "
        "taken in a hashed order."
    )


class Figure3(Strict):
    """What figure 3 shows: one prediction of each regime by one target."""

    target: str = Field(description="Id of the model: one of targets.")


class Figure4(Strict):
    """What figure 4 shows: one target under one corruption."""

    target: str = Field(description="Id of the model: one of targets.")
    corruption: str = Field(description="Name of the corruption: one of corruptions.types.")
    severity: Severity = Field(description="Its severity: one of corruptions.severities.")


class Figure5(Strict):
    """What figure 5 shows: one item under several corruptions, as one target reads it."""

    target: str = Field(description="Id of the model: one of targets.")
    item: str | None = Field(
        default=None,
        description="Id of the item, one of the benchmark; null for the one whose predictions fall into the most "
        "regimes.",
    )
    corruptions: Annotated[list[str], Field(min_length=1, max_length=4)] | None = Field(
        default=None,
        description="Up to four predictions of the item beside the clean one, each a corruption and a severity "
        "such as snow:5; null for the most pronounced prediction of each regime.",
    )


class Figures(Strict):
    """Choices in the figures."""

    figure3: Figure3 = Field(description="What figure 3 shows.")
    figure4: Figure4 = Field(description="What figure 4 shows.")
    figure5: Figure5 = Field(description="What figure 5 shows.")


class Corruptions(settings.Corruptions):
    """What is done to the images."""

    types: list[str] = Field(
        min_length=1,
        description="Corruptions by name, in the order of tables and figures; a suite has some that are not "
        "in its default set (docs/corruptions.md). Adding one changes kappa and therefore the selection.",
    )
    severities: list[Severity] = Field(
        min_length=2,
        description="Severities by number, ascending, at least two: eq. 4 of the paper counts how "
        "predictions differ between them.",
    )


class Demo(settings.Demo):
    """What a run draws and trains itself; needed where a source is drawn or a model or encoder is trained."""

    image_encoder: TrainedEncoder = Field(description="The small image encoder that the run trains.")


class Settings(settings.RunSettings):
    """A run of Bench-C, from sources to figures: `config/config.yaml`, `demo.yaml`, `real-items.yaml`."""

    MODEL_KEYS = ("selectors", "targets")

    benchmark: Literal["bench-c"] = Field(description="Benchmark that the run builds.")
    corruptions: Corruptions = Field(description="What is done to the images.")
    selectors: list[Id] = Field(
        min_length=1, description="Models whose inconsistency decides which items are selected, by id."
    )
    targets: list[Id] = Field(
        min_length=1, description="Models that the benchmark measures, by id, in the order of tables."
    )
    selection: Selection = Field(description="How the benchmark is selected from the pool.")
    scores: Scores = Field(description="How predictions become scores.")
    diagnostics: Diagnostics = Field(
        description="Reads beyond the paper's, which measure the benchmark itself; benchc plan prices them."
    )
    tables: Tables = Field(description="Choices in the tables.")
    figures: Figures = Field(description="Choices in the figures.")
    demo: Demo | None = Field(
        default=None,
        description="What the run draws and trains itself; null where all sources and models are real.",
    )

    @classmethod
    def own_faults(cls, raw: settings.Raw, file: str) -> Iterator[str]:
        yield from figure_faults(raw, file)
        yield from encoder_faults(raw, file)

    @classmethod
    def own_training(cls, raw: settings.Raw) -> list[str]:
        encoder = block(block(raw, "selection"), "image_encoder")
        return ["the image encoder"] if encoder.get("name") == "trained" else []
