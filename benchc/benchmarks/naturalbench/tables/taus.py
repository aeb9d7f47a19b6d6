"""The thresholds of the global readings."""

import polars as pl

from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.frames import READINGS, TYPES, labels_of, marked_by_reading
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.numbers import significant_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Thresholds τ of the readings that choose them from groups, in [-1, 1], to three significant digits: a "
    "model answers Yes, or A, where P(Yes) - P(No), or P(A) - P(B), is above τ. Differences between "
    "probabilities of whole texts are small, and so are their thresholds. All τ in [low, high) make as many "
    "of the groups right; of several such intervals it is the one nearest 0, and τ is 0 if that contains it, "
    "else its midpoint. Half: the one that τ is applied to, chosen from the other." + ORDER
)
TAUS = {
    "model": pl.String,
    "reading": pl.String,
    "type": pl.String,  # null for both
    "half": pl.Int64,  # 0 or 1; null for all groups
    "tau": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "groups": pl.Int64,  # from which it was chosen
    "right": pl.Int64,  # of these
}


def taus(scored: CleanScores, chance: ChanceTable) -> Table:
    """Return each threshold, the interval of those that are as good, and how many groups are right."""
    labels = labels_of(scored)
    rows = [
        {"model": labels[id_], **tau}
        for id_, scores in scored.scores.items()
        for tau in scores.footer.get("taus", [])
    ]
    frame = pl.DataFrame(rows, schema=pl.Schema(TAUS))
    marked, note = marked_by_reading(frame, chance)
    shown = frame.with_columns(
        pl.col("reading").replace(READINGS), pl.col("type").replace(TYPES).fill_null("all"), marked
    )
    columns = [
        Column("model", "Model"),
        Column("reading", "Reading"),
        Column("type", "Type"),
        Column("half", "Half"),
        Column("tau", "τ", form=significant_text),
        Column("low", "Low", form=significant_text),
        Column("high", "High", form=significant_text),
        Column("right", "Right"),
        Column("groups", "Groups"),
    ]
    summary = pluralize(frame.height, "threshold")
    return printed(
        frame, columns, caption=CAPTION + note, label="naturalbench-taus", shown=shown, summary=summary
    )
