"""Does the selected set distinguish models better than random items of the same pool?

Models are evaluated on all selected items, and on all others or a sample of these
(``diagnostics.random_subset``). The selected set is compared with random subsets of the pool; where the
others were sampled, its random subsets are compared with equally small ones of the pool. Three criteria: the
spread of the models' aggregates, the share of pairs of models that differ by more than 1.96 standard errors,
and the agreement of the models' order with that on the pool. All are conditional on these models, this pool,
of which all sets are parts, and the items that were evaluated.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.metrics.cube import Cube
from benchc.benchmarks.bench_c.metrics.subsets import subsets_of_pool, subsets_of_selected
from benchc.statistics.resampling import drawn_means, on_grid
from benchc.statistics.rounding import DIGITS

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

DRAWS = 1_000
CRITERION_DIGITS = 7  # fewer, so that differences of rounded aggregates tie where those of exact ones do
STANDARD_ERRORS = 1.96  # a larger difference makes a pair of models separable

METRICS = ("acc_clean", "acc_corrupted", "delta_acc", "ras")
# Why a criterion is undefined on a set of items if there are two or more models.
CRITERIA = {
    "sd": "no item has a weight",
    "range": "no item has a weight",
    "separable": "fewer than two items have a weight",
    "kendall": "the models cannot be ordered, there or on the pool",
}
QUANTILES = {"q025": 0.025, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q975": 0.975}

DISCRIMINATION = {
    "criterion": pl.String,  # one of CRITERIA
    "metric": pl.String,  # one of METRICS
    "weighting": pl.String,  # unweighted, or kappa as in eq. 11
    "selected": pl.Float64,  # of the selected set, or the median of its subsets; null where undefined
    "selected_low": pl.Float64,  # 95 % of the selected set's subsets; null where the set itself is compared
    "selected_high": pl.Float64,
    "random_mean": pl.Float64,  # over random subsets of the pool; null where undefined for all
    **{f"random_{name}": pl.Float64 for name in QUANTILES},
    # Share of random subsets below the selected set, or below its subsets on average; ties count half.
    "share_below": pl.Float64,
    "models": pl.Int64,
    "size": pl.Int64,  # items per set
    "pool_items": pl.Int64,
    "selected_items": pl.Int64,  # of the pool
    "selected_evaluated": pl.Int64,
    "unselected_evaluated": pl.Int64,
    "draws": pl.Int64,
    "undefined_random": pl.Int64,  # draws excluded because the criterion is undefined
    "undefined_selected": pl.Int64,
    "note": pl.String,
}


class Sets(NamedTuple):
    """The sets of items that are compared."""

    selected: Floats  # 0 or 1, float64[1 or draws, items]
    random: Floats  # 0 or 1, float64[draws, items]
    pool: Floats  # float64[items]: how many items of the pool an item represents


def discrimination(
    cube: Cube, kappa: Floats, selected: Bools, pool: tuple[int, int], draws: int = DRAWS, seed: int = 0
) -> pl.DataFrame:
    """Return one row per criterion, metric and weighting, columns as ``DISCRIMINATION``.

    ``kappa``: float64[items], as from ``cube.kappa``; ``selected``: bool[items]; ``pool``: the numbers of
    selected and of other items in the pool, at least those that were evaluated. Sets have
    :func:`compared_size` items. Accuracies are in [0, 1], ΔAcc in [-1, 1], RAS in [-2, 1]; item values are
    means over corruptions and severities. ``sd`` (ddof 1) and ``range`` are over the models' aggregates;
    ``separable`` is the share of pairs of models whose paired difference is above 1.96 standard errors, in
    [0, 1]; ``kendall`` is tau-b with the order on the pool, in [-1, 1]. Raises ValueError where no item is
    selected, or all are, and where ``draws`` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    evaluated = int(selected.sum()), int((~selected).sum())
    size = compared_size(*evaluated, pool[1])
    sets = Sets(
        subsets_of_selected(selected, size, draws, seed),
        subsets_of_pool(selected, pool, size, draws, seed),
        np.where(selected, pool[0] / evaluated[0], pool[1] / evaluated[1]),
    )
    shared = {
        "models": len(cube.models),
        "size": size,
        "pool_items": sum(pool),
        "selected_items": pool[0],
        "selected_evaluated": evaluated[0],
        "unselected_evaluated": evaluated[1],
        "draws": draws,
    }
    rows = []
    for metric, values in item_values(cube).items():
        for weighting, weights in (("unweighted", np.ones(len(kappa))), ("kappa", kappa)):
            order = aggregates(np.ones((1, len(kappa))), values, weights * sets.pool)[0]
            ours, chance = (criteria(chosen, values, weights, order) for chosen in sets[:2])
            for criterion in CRITERIA:
                row = {"criterion": criterion, "metric": metric, "weighting": weighting, **shared}
                rows.append(row | _summary(criterion, ours[criterion], chance[criterion], len(cube.models)))
    table = pl.DataFrame(rows, schema=DISCRIMINATION)
    return pl.concat([table.filter(criterion=criterion) for criterion in CRITERIA])


def compared_size(selected: int, others: int, pool_others: int) -> int:
    """Return the number of items per compared set, at least 1.

    ``selected``, ``others``: how many selected and other items were evaluated; ``pool_others``: how many
    others the pool has. The size is ``selected`` where all others were evaluated, otherwise half the harmonic
    mean of ``selected`` and ``others``, rounded down, which is below both.
    """
    if others == pool_others:
        return selected
    # By chance, means of s selected and of n other items differ with variance σ²(1/s + 1/n) in a large pool.
    # Subsets of m of each vary with (1/m - 1/s) + (1/m - 1/n), which reaches that only if 1/m ≥ 1/s + 1/n:
    # larger subsets would share so many items that their range is too narrow.
    return max(1, selected * others // (selected + others))


def item_values(cube: Cube) -> dict[str, Floats]:
    """Return float64[items, models] of each of ``METRICS``, means over corruptions and severities."""
    cells = len(cube.corruptions) * len(cube.severities)
    terms = len(cube.items) * cells
    shifts = {
        name: on_grid(cube.shifts[name], terms).sum(axis=(2, 3)).T / cells for name in ("delta_acc", "ras")
    }
    clean = cube.clean["acc_clean"].T
    return {"acc_clean": clean, "acc_corrupted": clean + shifts["delta_acc"], **shifts}


def aggregates(chosen: Floats, values: Floats, weights: Floats) -> Floats:
    """Return Σ weight·value / Σ weight over each set's items, float64[sets, models].

    ``chosen``: 0 or 1, float64[sets, items]; ``values``: float64[items, models]; ``weights``: float64[items].
    NaN where all weights of a set are 0.
    """
    items = len(weights)
    return drawn_means(chosen, on_grid(weights[:, None] * values, items), on_grid(weights, items))


def criteria(chosen: Floats, values: Floats, weights: Floats, order: Floats) -> dict[str, Floats]:
    """Return each of ``CRITERIA`` on every set, float64[sets], rounded; NaN where it is undefined.

    ``order``: float64[models], whose order ``kendall`` compares with; the rest as in :func:`aggregates`. The
    standard error of a difference D of two models' aggregates is that of a ratio estimate by linearisation
    (Cochran, "Sampling Techniques", 1977, eq. 6.12, without the correction for finite pools):
    sqrt(n / (n - 1) · Σ w²(d - D)²) / Σ w over the n items of the set, w an item's weight and d its
    difference; with equal weights it is the paired standard error of a mean.
    """
    models = values.shape[1]
    if models < 2:
        return dict.fromkeys(CRITERIA, np.full(len(chosen), np.nan))
    means = aggregates(chosen, values, weights)
    one, other = np.triu_indices(models, 1)
    # Differences are rounded, not means: equal means may round to different digits.
    differences, expected = (
        np.round(a, DIGITS) for a in (means[:, one] - means[:, other], order[one] - order[other])
    )
    errors = _standard_errors(chosen, values[:, one] - values[:, other], weights, differences)
    separable = (np.abs(differences) > STANDARD_ERRORS * errors).mean(axis=1)
    found: dict[str, Floats] = {
        "sd": means.std(axis=1, ddof=1),
        "range": np.ptp(means, axis=1),
        "separable": np.where(np.isnan(errors).any(axis=1), np.nan, separable),
        "kendall": _kendall(differences, expected),
    }
    return {name: np.round(values, CRITERION_DIGITS) + 0.0 for name, values in found.items()}


def _standard_errors(chosen: Floats, values: Floats, weights: Floats, means: Floats) -> Floats:
    """Return the standard error of each of ``means``, float64[sets, pairs]; NaN below two weighted items."""
    items = len(weights)
    squared = weights**2
    # Σ w²(d - D)² expanded, so that the products run over all sets at once.
    total = (chosen @ on_grid(squared, items))[:, None]
    linear = chosen @ on_grid(squared[:, None] * values, items)
    square = chosen @ on_grid(squared[:, None] * values**2, items)
    residual = np.maximum(square - 2 * means * linear + means**2 * total, 0)
    size = chosen.sum(axis=1)[:, None]
    weight = (chosen @ on_grid(weights, items))[:, None]
    enough = (chosen @ (weights > 0).astype(np.float64) > 1)[:, None]
    errors: Floats = np.sqrt(
        np.divide(
            size * residual,
            (size - 1) * weight**2,
            out=np.full_like(residual, np.nan),
            where=np.broadcast_to(enough, residual.shape),
        )
    )
    return errors


def _kendall(differences: Floats, expected: Floats) -> Floats:
    """Return Kendall's tau-b from the differences of all pairs, float64[sets, pairs] and float64[pairs]."""
    signs, wanted = np.sign(differences), np.sign(expected)
    untied = (signs != 0).sum(axis=1) * (wanted != 0).sum()
    # A set without aggregates has NaN signs, and so a NaN agreement; one NaN in `wanted` makes all NaN.
    agreement: Floats = (signs * wanted).sum(axis=1)
    tau: Floats = np.full_like(agreement, np.nan)
    np.divide(agreement, np.sqrt(untied), out=tau, where=untied > 0)
    return tau


def _summary(criterion: str, ours: Floats, chance: Floats, models: int) -> dict[str, float | str | None]:
    known_ours, known = ours[~np.isnan(ours)], np.sort(chance[~np.isnan(chance)])
    numbers: dict[str, float] = {}
    if len(known):
        numbers["random_mean"] = known.mean()
        quantiles = np.quantile(known, list(QUANTILES.values()))
        numbers |= {f"random_{name}": value for name, value in zip(QUANTILES, quantiles, strict=True)}
    if len(known_ours):
        numbers["selected"] = np.median(known_ours)
        if len(ours) > 1:
            numbers["selected_low"], numbers["selected_high"] = np.quantile(known_ours, (0.025, 0.975))
    if len(known) and len(known_ours):
        # Ties count half: the mean of the positions before and after them.
        positions = (np.searchsorted(known, known_ours, side).mean() for side in ("left", "right"))
        numbers["share_below"] = sum(positions) / 2 / len(known)
    sets = {"random subsets": known, "selected set": known_ours}
    undefined = " and ".join(name for name, values in sets.items() if not len(values))
    why = "there is one model" if models < 2 else f"{undefined}: {CRITERIA[criterion]}"
    return {
        **{name: round(float(value), DIGITS) + 0.0 for name, value in numbers.items()},
        "undefined_random": len(chance) - len(known),
        "undefined_selected": len(ours) - len(known_ours),
        "note": why if undefined else None,
    }
