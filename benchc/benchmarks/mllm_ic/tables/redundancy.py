"""How far types of corruption are redundant: do they rank the models alike, and how few keep the ranking?"""

from dataclasses import replace

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.metrics.redundancy import KEPT, growing_subsets, rank_correlation
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.benchmarks.mllm_ic.tables.frames import averages_note, resampled
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ChanceTable
from benchc.rendering.estimates import estimates
from benchc.rendering.markdown import paragraph
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.rounding import rounded, tied

# Of fewer models, no two-sided rank correlation is significant (p at most 0.05).
LEAST_MODELS = 5
CAPTION = (
    "Do types of corruption rank models alike (not in the paper)? Of {models}: Spearman's ρ of the ranking "
    "by overall accuracy under a type with that under all {types}, and the other type that ranks them most "
    "alike. Types are in the order in which a subset grows by the one with which its ranking is most like "
    "that by all; ρ of subset is that of the types up to the row. The smallest of these subsets that keeps "
    "the ranking has {mini}: {names}. In the sample it ranks the models as all types do, and the lower end "
    "of the interval of its ρ is at least {kept:g}. It is chosen by the outcomes of these models, and may "
    "not keep the ranking of others."
)
OWN = (
    " Each resample is compared with its own ranking by all types; as resampling adds noise, intervals of ρ "
    "lie rather low."
)
EQUAL = "All ranked models are equally accurate: there is no ranking that types could keep."
TOO_FEW = (
    "Rank correlations of types of corruption need {least} ranked models, since those of fewer are never "
    "significant; this run has {models}."
)
NUMBERS = ("correlation", "correlation_low", "correlation_high", "nearest_correlation")
SUBSETS = ("subset_correlation", "subset_correlation_low", "subset_correlation_high")


def redundancy(
    run: RunFiles,
    labels: dict[str, str],
    categories: dict[str, str],
    chance: ChanceTable,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the rank correlation of each type with all types, and the growing subsets of types.

    Columns ``rho_{type}`` are the correlation with each other type. All are null of too few models, and a
    correlation where models are equal.
    """
    check_models(run, labels)
    ranked = [id_ for id_, label in labels.items() if label in chance.ranked]
    types = run.corruptions
    facts = pl.DataFrame({"corruption": types, "category": [categories[name] for name in types]})
    models = pluralize(len(ranked), "ranked model")
    if len(ranked) < LEAST_MODELS:
        return _without(facts, TOO_FEW.format(least=LEAST_MODELS, models=models) + chance.left_out)
    columns = run.columns()
    accuracy = run.average(run.draws(ranked, {name: columns[name] for name in types}, draws, seed))
    if np.ptp(tied(accuracy[0].mean(axis=1))) == 0:
        return _without(facts, EQUAL + chance.left_out)
    with_all = rank_correlation(accuracy.transpose(0, 2, 1), accuracy.mean(axis=2)[:, None, :])
    between = rank_correlation(accuracy[0].T[:, None, :], accuracy[0].T[None, :, :])
    others = np.where(np.eye(len(types), dtype=bool), -np.inf, np.nan_to_num(between, nan=-np.inf))
    nearest = others.argmax(axis=1)
    known = np.isfinite(others.max(axis=1))
    subsets = growing_subsets(accuracy)
    place = np.empty(len(types), np.int64)
    place[subsets.order] = np.arange(len(types))
    frame = facts.with_columns(
        **estimates("correlation", with_all),
        nearest=pl.Series(
            [types[n] if one else None for n, one in zip(nearest, known, strict=True)], dtype=pl.String
        ),
        nearest_correlation=rounded(np.where(known, between[np.arange(len(types)), nearest], np.nan)),
        step=pl.Series(place + 1),
        **estimates("subset_correlation", subsets.correlation[:, place]),
        in_smallest=pl.Series(place < subsets.smallest),
        **{f"rho_{name}": rounded(between[:, number]) for number, name in enumerate(types)},
    ).sort("step")
    mini = [corruption_label(types[n]) for n in subsets.order[: subsets.smallest]]
    caption = CAPTION.format(
        models=models,
        types=pluralize(len(types), "type"),
        mini=pluralize(len(mini), "type"),
        names=", ".join(mini),
        kept=KEPT,
    )
    return _printed(
        frame,
        caption + averages_note(run) + resampled(run, draws) + OWN + chance.left_out,
        f"the smallest subset that keeps the ranking has {pluralize(len(mini), 'type')}",
    )


def _without(facts: pl.DataFrame, caption: str) -> Table:
    """Return the table of a run whose types have no correlations."""
    empty = facts.with_columns(
        *(pl.lit(None, pl.Float64).alias(name) for name in (*NUMBERS, *SUBSETS)),
        nearest=pl.lit(None, pl.String),
    )
    return replace(_printed(empty, caption, caption), markdown=paragraph(caption))


def _printed(frame: pl.DataFrame, caption: str, summary: str) -> Table:
    shown = frame.with_columns(
        pl.col("corruption", "category").map_elements(corruption_label, pl.String),
        nearest=pl.Series([MISSING if name is None else corruption_label(name) for name in frame["nearest"]]),
    )
    return printed(
        frame,
        [
            Column("corruption", "Type"),
            Column("category", "Category"),
            Column("nearest", "Most alike"),
            Column("nearest_correlation", "ρ with it", digits=2),
            Column("correlation", "ρ with all", digits=2, interval=True),
            Column("subset_correlation", "ρ of subset", digits=2, interval=True),
        ],
        caption=caption,
        label="mllm-ic-redundancy",
        shown=shown,
        small=True,
        summary=summary,
    )
