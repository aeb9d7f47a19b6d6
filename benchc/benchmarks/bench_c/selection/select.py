"""Select the items of the benchmark: greedy order, final scores, and those above their mean."""

import math
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.greedy import Floats, greedy, scores_against_all
from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize

FinalScore = Literal["at_pick", "final_centroid"]
FINAL_SCORES: tuple[FinalScore, ...] = get_args(FinalScore)
NAMED = 5  # how many ids a message lists


def select(
    kappa: pl.DataFrame,
    embeddings: pl.DataFrame,
    alpha: tuple[float, float] = (1.0, 1.0),
    score: FinalScore = "at_pick",
) -> pl.DataFrame:
    """Return a SELECTED table with the rows of ``kappa`` (Bench-C, section 4.4).

    ``kappa``: id and kappa; ``embeddings``: an EMBEDDINGS table of the same items in any order. Items with
    kappa 0 are removed first: their rank and score are null. Greedy selection runs over the others, and keeps
    those whose final score is strictly above the mean of the final scores. The final score is the bracket of
    eq. 3 when the item was picked (``at_pick``), or against the centroid of all these items
    (``final_centroid``). Raises InputError where the two tables differ in items, where no item has kappa > 0,
    and where no score is above the mean.
    """
    if score not in FINAL_SCORES:
        raise InputError(f"score must be one of {', '.join(FINAL_SCORES)}, not {score!r}")
    _check_same_items(kappa, embeddings)
    remaining = kappa.select("id", "kappa").filter(pl.col("kappa") > 0)
    if remaining.is_empty():
        raise InputError(
            f"all {kappa.height:,} items have kappa 0: no selector changes its answer on any of them under "
            "any corruption, so there is nothing to select; use other selectors, stronger corruptions or a "
            "larger pool"
        )
    vectors = remaining.join(embeddings, on="id", how="left", maintain_order="left")
    modalities = [_matrix(vectors["image"]), _matrix(vectors["text"])]
    kappas = remaining["kappa"].to_numpy()
    picked = greedy(kappas, modalities, alpha)
    final = picked.score if score == "at_pick" else scores_against_all(kappas, modalities, alpha)
    rank = np.empty(len(final), dtype=np.int64)
    rank[picked.order] = np.arange(len(final))
    mean = mean_score(final)
    kept = final > mean
    if not kept.any():
        raise InputError(
            f"no item scores above the mean: all items with kappa > 0 ({len(final):,}) have the final score "
            f"{mean}; use a larger pool"
        )
    columns = remaining.select("id").with_columns(
        pl.Series("rank", rank), pl.Series("score", final), pl.Series("selected", kept)
    )
    return (
        kappa.select("id", "kappa")
        .join(columns, on="id", how="left", maintain_order="left")
        .with_columns(pl.col("selected").fill_null(False))
        .select(*SELECTED.columns)
    )


def mean_score(scores: Floats) -> float:
    """Return the mean of ``scores``, exactly their value where all are equal."""
    # The mean of equal scores may round to either side of them, which would keep all or none by chance.
    low = float(scores.min())
    return low + math.fsum(scores - low) / len(scores)


def _matrix(vectors: pl.Series) -> npt.NDArray[np.float32]:
    """Return a list column as float32[N, d]; InputError where a vector is missing or of another length."""
    lengths = vectors.list.len().unique()
    if vectors.null_count() or len(lengths) != 1:
        raise InputError(
            f"the {vectors.name} embeddings are incomplete or of different lengths ({lengths.to_list()}); "
            f"{recreate('selection')}"
        )
    return vectors.explode().cast(pl.Float32).to_numpy().reshape(len(vectors), -1)


def _check_same_items(kappa: pl.DataFrame, embeddings: pl.DataFrame) -> None:
    for name, frame in (("kappa", kappa), ("embeddings", embeddings)):
        if frame["id"].n_unique() != frame.height:
            repeated = frame.filter(pl.col("id").is_duplicated())["id"].unique().sort().to_list()
            raise InputError(f"{name}: items occur twice: {', '.join(repeated[:NAMED])}")
    for name, table, other in (("embeddings", embeddings, kappa), ("kappa", kappa, embeddings)):
        missing = other.join(table, on="id", how="anti")["id"].to_list()
        if missing:
            raise InputError(
                f"{name} lacks {pluralize(len(missing), 'item')} that the other table has: "
                f"{', '.join(missing[:NAMED])}"
                f"{', …' if len(missing) > NAMED else ''}; make both for the same pool"
            )
