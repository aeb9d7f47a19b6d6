"""How much the selected set depends on single choices, and kappa before and after selection."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy import stats

from benchc.benchmarks.bench_c.selection.kappa import kappa
from benchc.benchmarks.bench_c.selection.select import FINAL_SCORES, FinalScore, select
from benchc.errors import InputError

# (weight of kappa, weight of diversity): either alone, and either halved.
ALPHAS = ((1.0, 0.0), (0.0, 1.0), (1.0, 0.5), (0.5, 1.0))
SUMMARY = ("mean", "zero", "q25", "median", "q75")

COLUMNS = {
    "choice": pl.String,  # selectors, severities, alpha, final_score; "as configured" in the first row
    "setting": pl.String,
    "items": pl.Int64,  # of the pool
    "selectable": pl.Int64,  # with kappa > 0
    "selected": pl.Int64,
    "selected_by_both": pl.Int64,  # here and as configured
    "jaccard": pl.Float64,  # of the two selected sets, in [0, 1]
    "jaccard_by_chance": pl.Float64,  # with the expected intersection of random sets of these sizes
    "compared": pl.Int64,  # items with a final score in both, over which correlations are computed
    "spearman": pl.Float64,  # of the final scores, in [-1, 1]; null where either is constant
    "kendall": pl.Float64,  # tau-b, likewise
    "note": pl.String,  # why this setting selects nothing, if so; the numbers are then null
    # Of kappa under this setting: mean, share of zeros, quartiles.
    **{f"kappa_{items}_{part}": pl.Float64 for items in ("pool", "selected") for part in SUMMARY},
}


@dataclass(frozen=True)
class Setting:
    """The choices that determine the selected set."""

    selectors: tuple[str, ...]
    severities: tuple[int, ...]
    alpha: tuple[float, float]
    score: FinalScore


def alternative_settings(
    configured: Setting, alphas: Sequence[tuple[float, float]] = ALPHAS
) -> Iterator[tuple[str, str, Setting]]:
    """Yield (choice, its name, setting) for each setting that differs from ``configured`` in one choice.

    Without each selector; without the first, the last, or every second severity; with each of ``alphas``
    that is not proportional to the configured one; with the other final score. Settings without selectors or
    with a single severity are skipped.
    """
    if len(configured.selectors) > 1:
        for selector in configured.selectors:
            rest = tuple(other for other in configured.selectors if other != selector)
            yield "selectors", f"without {selector}", replace(configured, selectors=rest)
    severities = configured.severities
    for some in dict.fromkeys((severities[1:], severities[:-1], severities[::2])):
        if len(some) > 1:
            yield "severities", ", ".join(map(str, some)), replace(configured, severities=some)
    for alpha in alphas:
        # A common factor does not change the selection.
        if alpha[0] * configured.alpha[1] != alpha[1] * configured.alpha[0]:
            yield "alpha", f"({alpha[0]:g}, {alpha[1]:g})", replace(configured, alpha=alpha)
    for score in FINAL_SCORES:
        if score != configured.score:
            yield "final_score", score, replace(configured, score=score)


def stability_row(
    choice: str,
    name: str,
    setting: Setting,
    predictions: Mapping[str, pl.DataFrame],
    items: pl.DataFrame,
    corruptions: Sequence[str],
    embeddings: pl.DataFrame,
    configured: pl.DataFrame | None = None,
    known_kappa: pl.DataFrame | None = None,
) -> tuple[dict[str, object], pl.DataFrame | None]:
    """Return one row of :data:`COLUMNS` for a setting, and the SELECTED table that it leads to.

    ``predictions``, ``items``, ``corruptions``: as for :func:`selection.kappa.kappa`; ``embeddings``: an
    EMBEDDINGS table; ``configured``: the SELECTED table to compare with, None for a comparison with itself;
    ``known_kappa``: the kappas under this setting, if known. For a setting that selects nothing, the row
    gives the reason and the table is None.
    """
    row: dict[str, object] = dict.fromkeys(COLUMNS)
    row |= {"choice": choice, "setting": name, "items": items.height}
    table = known_kappa
    if table is None:
        chosen = {selector: predictions[selector] for selector in setting.selectors}
        table = kappa(chosen, items, corruptions, setting.severities)
    row |= _summary(table["kappa"], "pool") | {"selectable": table.filter(pl.col("kappa") > 0).height}
    try:
        selected = select(table, embeddings, setting.alpha, setting.score)
    except InputError as error:
        return row | {"note": str(error)}, None
    row |= _summary(selected.filter("selected")["kappa"], "selected")
    return row | agreement(selected if configured is None else configured, selected), selected


def stability(
    configured: Setting,
    predictions: Mapping[str, pl.DataFrame],
    items: pl.DataFrame,
    corruptions: Sequence[str],
    embeddings: pl.DataFrame,
    alphas: Sequence[tuple[float, float]] = ALPHAS,
) -> Iterator[dict[str, object]]:
    """Yield a row of :data:`COLUMNS` for ``configured``, then one for each of :func:`alternative_settings`.

    Arguments are those of :func:`stability_row`. Raises InputError where ``configured`` itself selects
    nothing, and as :func:`selection.kappa.kappa` and :func:`selection.select.select` do.
    """
    common = kappa(
        {selector: predictions[selector] for selector in configured.selectors},
        items,
        corruptions,
        configured.severities,
    )
    inputs = (predictions, items, corruptions, embeddings)
    row, selected = stability_row("as configured", "", configured, *inputs, known_kappa=common)
    if selected is None:
        raise InputError(str(row["note"]))
    yield row
    for choice, name, setting in alternative_settings(configured, alphas):
        known = common if choice in ("alpha", "final_score") else None
        yield stability_row(choice, name, setting, *inputs, selected, known)[0]


def agreement(one: pl.DataFrame, other: pl.DataFrame) -> dict[str, int | float | None]:
    """Return the agreement of two SELECTED tables of the same items: the columns from selected to kendall.

    Correlations are over the items with a final score in both; None for fewer than two items and where
    either score is constant.
    """
    both = one.join(other, on="id", how="inner", validate="1:1", maintain_order="left", suffix="_other")
    items, before, after = one.height, int(one["selected"].sum()), int(other["selected"].sum())
    shared = int((both["selected"] & both["selected_other"]).sum())
    by_chance = before * after / items
    scored = both.drop_nulls(["score", "score_other"])
    first, second = scored["score"].to_numpy(), scored["score_other"].to_numpy()
    varied = len(first) > 1 and np.ptp(first) > 0 and np.ptp(second) > 0
    return {
        "selected": after,
        "selected_by_both": shared,
        "jaccard": shared / (before + after - shared),
        "jaccard_by_chance": by_chance / (before + after - by_chance),
        "compared": len(first),
        "spearman": float(stats.spearmanr(first, second).statistic) if varied else None,
        "kendall": float(stats.kendalltau(first, second).statistic) if varied else None,
    }


def _summary(values: pl.Series, items: str) -> dict[str, float | None]:
    kappas = np.sort(values.to_numpy())
    quartiles = np.quantile(kappas, (0.25, 0.5, 0.75))
    numbers = (kappas.mean(), (kappas == 0).mean(), *quartiles)
    return {f"kappa_{items}_{part}": float(number) for part, number in zip(SUMMARY, numbers, strict=True)}
