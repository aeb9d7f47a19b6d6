"""What a benchmark declares about its results page: plain data, fast to import."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchc.rendering.declaration import Output

MOST_STRIPS = 5000  # images as files; each sample has another one
LEVEL = "level"  # the larger one of guessing and of the best answer that is always the same


@dataclass(frozen=True, kw_only=True)
class Bars:
    """A number of each model, shown as a bar with its interval on the first screen.

    Attributes:
        label: what it is, with its unit
        table: csv file of the run that has it, such as ``tables/intervals.csv``
        value, low, high: columns of the number and of the ends of its interval, if it has one
        model: column of the model, an id or a label
        where: values of other columns that a row must have; None is null
        better: which end is better
        digits: the number of decimals
        chance: the value without looking at an image: a number, or LEVEL, that of the table ``chance``
    """

    label: str
    table: str
    value: str
    low: str | None = None
    high: str | None = None
    model: str = "model"
    where: Mapping[str, str | int | None] = field(default_factory=dict)
    better: Literal["higher", "lower"] = "higher"
    digits: int = 3
    chance: float | str | None = None


@dataclass(frozen=True, kw_only=True)
class ResultsPage:
    """The results page of a benchmark, ``results/<name>/index.html``.

    Attributes:
        purpose: what the benchmark measures, in one or two sentences
        main_table, main_figure: names of outputs that the first screen shows
        bars: numbers that it shows as bars; the first orders the models
        chance_of: values of columns of the table ``chance`` of the rows that decide which models are ranked
        claims: the name of the table of claims, if there is one
        samples: the declaration of the samples and answers, of kind ``samples``
        subset: the subset of items whose images are shown
        ids: files with the ids of the items; none for the whole pool
        sample_of: a table of the run with the columns ``id`` and ``group``, where several items are one
            sample
    """

    purpose: str = ""
    main_table: str | None = None
    main_figure: str | None = None
    bars: Sequence[Bars] = ()
    chance_of: Mapping[str, str] = field(default_factory=dict)
    claims: str | None = None
    samples: Output | None = None
    subset: str = "pool"
    ids: Sequence[str] = ()
    sample_of: str | None = None


def samples(inputs: Mapping[str, str | Sequence[str]], **settings: object) -> Output:
    """Return the declaration of the samples: the function ``page_samples`` of the benchmark."""
    return Output(
        kind="samples",
        name="page_samples",
        title="the samples",
        inputs={"chosen": CHOSEN, "pool": POOL, "models": MODELS, **inputs},
        settings=settings,
        caption="",
        formats=["js", "folder"],
    )


POOL = "<results>/pool/items.parquet"
MODELS = "<results>/models.json"
CHOSEN = "<results>/page/chosen.parquet"
