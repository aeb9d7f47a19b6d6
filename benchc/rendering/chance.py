"""Models that are not above chance, in tables: the rows of chance, marks, and the note that explains them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from benchc.errors import InputError
from benchc.rendering.numbers import number_text
from benchc.rendering.output import File, Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import REMAKE
from benchc.schemas.printed import read_table_csv
from benchc.statistics.chance import STANDINGS

TEXT_COLUMNS = [name for name, dtype in STANDINGS.items() if dtype == pl.String]
# Of a table whose rows are in this order.
ORDER = " Models are in the order of the configuration."
BELOW, LOW_MASS = "†", "‡"
GUESSING = "Guessing"

CAPTION = (
    "Which models are above chance on clean images, by {measure}; in brackets, 95 % percentile intervals "
    "from {resamples}, the same for all models. Chance: {guessing}the best answer that is always the same. A "
    "model is above chance if its interval lies above {both}.{mass}{ranked}" + ORDER
)
RANDOM = "the expected value of random answers, and "
MASS = (
    " Label mass: the mean probability of the options' letters, of models that are scored by these; below "
    "{least:g}, a model would mostly answer with other words."
)
RANKED = " Other models are marked in tables, and have no rank."
RANKED_ALL = " Other models are marked in tables, and ranked (tables.ranking.below_chance)."


@dataclass(frozen=True)
class Standings:
    """Which models are above chance: rows with the columns ``STANDINGS``."""

    frame: pl.DataFrame

    def of(self, reading: str) -> "Standings":
        """Return the rows of one reading of the answers, of a frame with such a column."""
        return Standings(self.frame.filter(reading=reading))

    def called(self, measure: str) -> "Standings":
        """Return the same standings with another name of the measure, for a note."""
        return Standings(self.frame.with_columns(measure=pl.lit(measure)))

    @property
    def ranked(self) -> list[str]:
        """Return the labels of the models that are ranked."""
        return self.frame.filter("ranked")["model"].to_list()

    @property
    def not_ranked(self) -> list[str]:
        """Return the labels of the other models."""
        return self.frame.filter(~pl.col("ranked"))["model"].to_list()

    def marked(self, labels: pl.Series) -> pl.Series:
        """Return texts, of which labels of models have their marks."""
        below, low = (set(part["model"]) for part in self._parts)
        marks = {label: f"{BELOW * (label in below)}{LOW_MASS * (label in low)}" for label in below | low}
        return labels.replace({label: f"{label} {mark}" for label, mark in marks.items()})

    @property
    def note(self) -> str:
        """Return sentences, after a space, on the marks that models have; empty without."""
        below, low = self._parts
        text = ""
        if below.height:
            text += f" {BELOW}: {below['measure'][0]} is not above chance."
        if low.height:
            text += f" {LOW_MASS}: low label mass, so the model would mostly answer with other words."
        unranked = len({*below["model"], *low["model"]} - {*self.ranked})
        return text + (" Models with a mark have no rank." if unranked else "")

    @property
    def rows_note(self) -> str:
        """Return a sentence, after a space, on the rows of :meth:`references`."""
        guessing = "the expected value of random answers, and of " if self._has_guessing else ""
        rows = "rows are" if guessing else "row is"
        return f" The first {rows} chance: {guessing}the best answer that is always the same."

    @property
    def left_out(self) -> str:
        """Return a sentence, after a space, on the models that are not ranked; empty if all are."""
        names = self.not_ranked
        words = ("not above chance", "of low label mass", "without an accuracy")
        parts = (*self._parts, self.frame.filter(pl.col("above_chance").is_null()))
        reasons = [word for word, part in zip(words, parts, strict=True) if {*part["model"]} & {*names}]
        return f" Without {', '.join(names)}: {', or '.join(reasons)} (table chance)." if names else ""

    def references(self, key: str, measure: str, **constant: float) -> pl.DataFrame:
        """Return the row of guessing, if there is such, and that of the best constant answer.

        ``key``: the column of labels; ``measure``: that of the measure; ``constant``: other values of an
        answer that is always the same.
        """
        if self.frame.is_empty():
            raise InputError(f"the table chance has no models; {REMAKE}")
        row = self.frame.row(0, named=True)
        rows: list[dict[str, Any]] = [
            {key: f"Always {row['constant_answer']}", measure: row["constant"], **constant}
        ]
        if self._has_guessing:
            rows.insert(0, {key: GUESSING, measure: row["guessing"]})
        return pl.DataFrame(rows)

    @property
    def _has_guessing(self) -> bool:
        return self.frame["guessing"].count() > 0

    @property
    def _parts(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        return self.frame.filter(above_chance=False), self.frame.filter("low_label_mass")


def read_standings(path: Path) -> Standings:
    """Return the table chance of a run. Raises InputError where it has not the columns ``STANDINGS``."""
    frame = read_table_csv(path, *TEXT_COLUMNS)
    if absent := [name for name in STANDINGS if name not in frame.columns]:
        raise InputError(f"{path}: has no column {absent[0]}; {REMAKE}")
    return Standings(frame.cast({name: STANDINGS[name] for name in STANDINGS}))


ChanceTable = Annotated[Standings, File(read_standings)]


def printed_standings(
    frame: pl.DataFrame,
    resamples: str,
    *,
    rank_below_chance: bool,
    least_label_mass: float | None = None,
    header: str | None = None,
    digits: int = 3,
    further: tuple[Column, ...] = (),
    shown: pl.DataFrame | None = None,
    unranked: str = RANKED,
    note: str = "",
) -> Table:
    """Return a table of ``statistics.chance`` as printed; ``resamples``: of what, in words.

    ``least_label_mass``: None for a benchmark that scores no letters; ``header``: the name of the measure,
    where models have several; ``further``: columns after the model; ``shown``: the frame to
    print, where it is not ``frame``; ``unranked``: a sentence, after a space, on models that have no rank;
    ``note``: further sentences of the caption, after a space.
    """
    shown = frame if shown is None else shown
    measure, guessed = header or str(frame["measure"][0]), frame["guessing"].count() > 0
    columns = [
        Column("model", "Model"),
        *further,
        Column("accuracy", measure[0].upper() + measure[1:], interval=True, digits=digits),
        *([Column("guessing", GUESSING, digits=digits)] if guessed else []),
        Column("always", "Best constant answer"),
        *([] if least_label_mass is None else [Column("label_mass", "Label mass")]),
        Column("above", "Above chance"),
        Column("is_ranked", "Ranked"),
    ]
    answers = {True: "yes", False: "no", None: "–"}
    texts = {
        "always": [
            f"{answer}: {number_text(value, signed=False, digits=digits)}"
            for answer, value in shown["constant_answer", "constant"].iter_rows()
        ],
        "above": [answers[value] for value in frame["above_chance"]],
        "is_ranked": [answers[value] for value in frame["ranked"]],
    }
    mass = "" if least_label_mass is None else MASS.format(least=least_label_mass)
    caption = CAPTION.format(
        measure=measure,
        resamples=resamples,
        guessing=RANDOM if guessed else "",
        both="both" if guessed else "it",
        mass=mass,
        ranked=RANKED_ALL if rank_below_chance else unranked,
    )
    models = frame["model"].n_unique()
    below = models - frame.filter("ranked")["model"].n_unique()
    return printed(
        frame,
        columns,
        caption=caption + note,
        label="chance",
        shown=shown.with_columns(pl.Series(name, values) for name, values in texts.items()),
        text_columns=1 + len(further),
        summary=f"{below} of {models} models are not ranked",
    )
