"""The settings of a run: what config/config.yaml, demo.yaml, ... may say."""

from typing import Annotated, Literal

from pydantic import Field

from benchc.config.strict import Id, RunName, Severity, Strict
from benchc.corruptions.registry import Engine

# As in benchc/images.py, which loads an image library.
Alpha = Literal["drop", "white"]


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
        description="Suite that the names of types come from: imagenet-c (the 19 corruptions of the paper), "
        "mllm-ic, r-bench or vqa-robustness (docs/corruptions.md)."
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
        "in its default set (docs/corruptions.md). Adding one changes kappa and therefore the selection.",
    )
    severities: list[Severity] = Field(
        min_length=2,
        description="Severities by number, ascending, at least two: eq. 4 of the paper counts how "
        "predictions differ between them.",
    )


class Inference(Strict):
    """How reading is cut into jobs."""

    batch: Literal["all", "family", "corruption"] = Field(
        description="Corruptions that one job of a model reads: all of them, those of a family, or one. "
        "Larger batches lose less time to loading the model, smaller ones spread over more devices."
    )


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
    """How reads become scores."""

    allow_missing: bool = Field(
        description="Whether a target that lacks reads of some items is scored on the others. The items that "
        "any target lacks then leave every table and figure that compares targets, which says how many; "
        "without it, a run whose reads are not all there stops, and names them."
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
        "in a hashed order, so that a larger number adds to what a smaller one reads. With fewer than all, "
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
    """What figure 3 shows: one read of each regime by one target."""

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
        description="Id of the item, one of the benchmark; null for the one whose reads fall into the most "
        "regimes.",
    )
    reads: Annotated[list[str], Field(min_length=1, max_length=4)] | None = Field(
        default=None,
        description="Up to four reads of the item beside the clean one, each a corruption and a severity "
        "such as snow:5; null for the most pronounced read of each regime.",
    )


class Figures(Strict):
    """Choices in the figures."""

    figure3: Figure3 = Field(description="What figure 3 shows.")
    figure4: Figure4 = Field(description="What figure 4 shows.")
    figure5: Figure5 = Field(description="What figure 5 shows.")


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
    image_encoder: TrainedEncoder = Field(description="The small image encoder that the run trains.")


class Settings(Strict):
    """One run of the pipeline, from sources to figures."""

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
    selectors: list[Id] = Field(
        min_length=1, description="Models whose wavering decides which items are selected, by id."
    )
    targets: list[Id] = Field(
        min_length=1, description="Models that the benchmark measures, by id, in the order of tables."
    )
    selection: Selection = Field(description="How the benchmark is selected from the pool.")
    scores: Scores = Field(description="How reads become scores.")
    diagnostics: Diagnostics = Field(
        description="Reads beyond the paper's, which measure the benchmark itself; benchc plan prices them."
    )
    tables: Tables = Field(description="Choices in the tables.")
    figures: Figures = Field(description="Choices in the figures.")
    demo: Demo | None = Field(
        default=None,
        description="What the run draws and trains itself; null where all sources and models are real.",
    )
