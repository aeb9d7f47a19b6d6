"""The price of a run as Markdown that lines up in a terminal."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from benchc.config.settings import Settings
from benchc.planning.hours import device_hours
from benchc.planning.known import Known
from benchc.planning.pictures import Pictures, pictures
from benchc.planning.reads import (
    ASSUMED_OPTIONS,
    DIAGNOSTICS,
    PAPER_KEPT,
    PAPER_POOL,
    Amount,
    Stage,
    paper_share,
    reads_by_model,
    reads_left,
    stages,
    total,
    variants,
)
from benchc.planning.table import Done, Prices
from benchc.reporting.grid import markdown
from benchc.reporting.numbers import MISSING

Number = TypeVar("Number", int, float)

SHARE = f"{100 * PAPER_KEPT / PAPER_POOL:.1f} %"


def plan_markdown(
    settings: Settings, known: Known, done: Done, prices: Prices, *, models_apart: bool = True
) -> str:
    """Return reads, diagnostics, images and, where ``prices`` has any, device-hours of a run, with notes.

    Arguments as for :func:`benchc.planning.table.plan_rows`. ``models_apart``: list hours by model as well.
    """
    found = stages(settings, known)
    by_model = reads_by_model(found, settings, known)
    left = {model: reads_left(model, amount, found, done) for model, amount in by_model.items()}
    parts = [_reads_table(found, by_model, done, prices), _left(left, prices) + _diagnostics(found)]
    parts.append(markdown(*_pictures_grid(pictures(settings, known))))
    if prices and models_apart and all(amount.value is not None for amount in by_model.values()):
        parts.append(markdown(*_models_grid(by_model, left, prices)))
    parts.append(_notes(found, settings, known))
    return "\n".join(parts)


def _reads_table(found: Sequence[Stage], by_model: Mapping[str, Amount], done: Done, prices: Prices) -> str:
    at_share = any(stage.at_share is not None for stage in found)
    header = ["stage", "models", "jobs", "items", "reads an item", "reads"]
    header += [f"reads at {SHARE}"] if at_share else []
    header += ["done"]
    header += ["hours"] if prices else []
    header += [f"hours at {SHARE}"] if prices and at_share else []
    rows = [_stage_row(stage, at_share, done, prices) for stage in found]
    jobs = sum(len(stage.models) * stage.jobs for stage in found)
    reads = total(by_model.values())
    last = ["total", "", f"{jobs:,}", "", "", amount_text(reads)]
    last += [_count_text(_summed(_reads_at_share(stage) for stage in found))] if at_share else []
    last += [f"{sum(_done(stage, done) for stage in found):,}"]
    if prices:
        counts = {model: amount.value for model, amount in by_model.items()}
        last += [_hours_of(device_hours(counts, prices), reads)]
    if prices and at_share:
        last += [hours_text(_summed(_hours_at_share(stage, prices) for stage in found))]
    return markdown(header, [*rows, last])


def _stage_row(stage: Stage, at_share: bool, done: Done, prices: Prices) -> list[str]:
    models = len(stage.models)
    per_item = f"{stage.per_item} × (K − 1)" if stage.name == "option order" else f"{stage.per_item:,}"
    row = [stage.name, f"{models}", f"{models * stage.jobs:,}", amount_text(stage.items), per_item]
    row += [amount_text(stage.reads.times(models))]
    row += [_count_text(_reads_at_share(stage))] if at_share else []
    row += [f"{_done(stage, done):,}"]
    if prices:
        hours = device_hours(dict.fromkeys(stage.models, stage.reads.value), prices)
        row += [_hours_of(hours, stage.reads)]
    if prices and at_share:
        row += [hours_text(_hours_at_share(stage, prices))]
    return row


def _done(stage: Stage, done: Done) -> int:
    return sum(done.get((stage.name, model), 0) for model in stage.models)


def _reads_at_share(stage: Stage) -> int | None:
    return None if stage.at_share is None else stage.at_share * len(stage.models)


def _hours_at_share(stage: Stage, prices: Prices) -> float | None:
    return device_hours(dict.fromkeys(stage.models, stage.at_share), prices)


def _summed(values: Iterable[Number | None]) -> Number | None:
    """Return the sum; None where a part is not known."""
    known, lacking = [], False
    for value in values:
        if value is None:
            lacking = True
        else:
            known.append(value)
    return None if lacking else sum(known[1:], start=known[0])


def _left(left: Mapping[str, Amount], prices: Prices) -> str:
    """Return the sentence of what is left to read; nothing where that is not known."""
    reads = total(left.values())
    if reads.value is None:
        return ""
    hours = device_hours({model: amount.value for model, amount in left.items()}, prices)
    time = "" if hours is None else f", {_hours_of(hours, reads)} hours"
    return f"Left to read: {amount_text(reads)}{time}.\n"


def _diagnostics(found: Sequence[Stage]) -> str:
    """Return the sentence of what diagnostics add to the targets' reads."""
    added = [stage for stage in found if stage.name in DIAGNOSTICS]
    if not added:
        return "No diagnostics are asked for.\n"
    (targets,) = (stage for stage in found if stage.name == "targets")
    exact = all(stage.reads.kind == "exact" for stage in (*added, targets))
    sizes = [stage.reads.value if exact else stage.at_share for stage in (targets, *added)]
    base, *rest = sizes
    reads = _summed(rest)
    if base is None or reads is None:
        return "What diagnostics add to the targets' reads is not known before the pool is.\n"
    whole = f"{reads * len(targets.models):,} reads"
    share = f", {100 * reads / base:.0f} % of the targets'" if base else ""
    return f"Diagnostics add {whole}{share}{'' if exact else f', if {SHARE} of the pool are kept'}.\n"


def _pictures_grid(rows: Sequence[Pictures]) -> tuple[list[str], list[list[str]]]:
    header = ["images", "items", "images of them", "variants", "pictures", "disk"]
    return header, [
        [
            row.what,
            amount_text(row.items),
            amount_text(row.images),
            f"{row.variants:,}",
            amount_text(row.made),
            MISSING if row.disk is None else disk_text(row.disk),
        ]
        for row in rows
    ]


def _models_grid(
    by_model: Mapping[str, Amount], left: Mapping[str, Amount], prices: Prices
) -> tuple[list[str], list[list[str]]]:
    rows = []
    for model, reads in by_model.items():
        price = f"{prices[model]:.3g}" if model in prices else MISSING
        amounts = (reads, left[model])
        hours = [_hours_of(device_hours({model: amount.value}, prices), amount) for amount in amounts]
        rows.append([model, price, *hours])
    return ["model", "s a read", "hours", "hours left"], rows


def _notes(found: Sequence[Stage], settings: Settings, known: Known) -> str:
    types, severities = len(settings.corruptions.types), len(settings.corruptions.severities)
    whole = variants(settings)
    notes = [
        f"reads an item: itself and {types} corruptions × {severities} severities make {whole} variants."
    ]
    kinds = {amount.kind for stage in found for amount in (stage.items, stage.reads)}
    names = {stage.name for stage in found}
    if "at most" in kinds:
        subset = "; a selected item is in no random subset, so the total is below the sum"
        notes.append(f"≤: at most{subset if 'random subset' in names and known.pool is not None else ''}.")
    if "unknown" in kinds:
        notes.append(
            "unknown: the configuration sets no bound; the number is known once the sources are read."
        )
    if known.pool is not None and known.kept is None:
        notes.append(
            f"at {SHARE}: an assumption, the share that the paper kept ({PAPER_KEPT} of {PAPER_POOL:,}), "
            f"here {paper_share(known.pool):,} of {known.pool:,} items; the selection decides."
        )
    if "option order" in names:
        assumed = (
            f"; K = {ASSUMED_OPTIONS} is assumed" if known.kept is None and not known.pool_options else ""
        )
        notes.append(f"K − 1: the other circular orders of an item's K options{assumed}.")
    if known.pool_images is not None and known.corrupted_bytes is None:
        notes.append("disk: estimated at what photographs take; drawings and screenshots take less.")
    notes.append(
        "done: in the predictions that are there; snakemake -n says which of them it would make again."
    )
    return "\n".join(f"- {note}" for note in notes) + "\n"


def amount_text(amount: Amount) -> str:
    """Return a count with its thousands set apart: 96, ≤ 96, ≈ 96 or unknown."""
    if amount.value is None:
        return "unknown"
    return f"{_mark(amount)}{amount.value:,}"


def disk_text(amount: Amount) -> str:
    """Return bytes as GB of 10^9 bytes, with two significant digits below ten."""
    if amount.value is None:
        return "unknown"
    size = amount.value / 1e9
    return f"{_mark(amount)}{size:,.0f} GB" if size >= 10 else f"{_mark(amount)}{size:.2g} GB"


def hours_text(hours: float | None) -> str:
    """Return device-hours, with two significant digits below ten."""
    if hours is None:
        return MISSING
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def _hours_of(hours: float | None, reads: Amount) -> str:
    return MISSING if hours is None else f"{_mark(reads)}{hours_text(hours)}"


def _count_text(count: int | None) -> str:
    return MISSING if count is None else f"{count:,}"


def _mark(amount: Amount) -> str:
    return {"at most": "≤ ", "assumed": "≈ "}.get(amount.kind, "")
