"""The price of a run as Markdown that lines up in a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from benchc.config.settings import Settings
from benchc.planning.amounts import amount_text, disk_text, hours_text, marked, span_text
from benchc.planning.done import Done, reads_done, reads_left
from benchc.planning.hours import Prices, device_hours
from benchc.planning.known import Known
from benchc.planning.notes import SHARE, plan_notes
from benchc.planning.pictures import Pictures, pictures
from benchc.planning.reads import (
    DIAGNOSTICS,
    Amount,
    Stage,
    computing,
    new_reads,
    reads_by_model,
    selector_targets,
    stages,
    total,
)
from benchc.rendering.counted import counted
from benchc.rendering.grid import markdown
from benchc.rendering.numbers import MISSING

Number = TypeVar("Number", int, float)


def plan_markdown(
    settings: Settings, known: Known, done: Done, prices: Prices, *, models_apart: bool = True
) -> str:
    """Return reads, diagnostics, images and, where ``prices`` has any, device-hours of a run, with notes.

    Arguments as for :func:`benchc.planning.table.plan_rows`. ``models_apart``: list hours by model as well.
    """
    found = stages(settings, known)
    by_model = reads_by_model(found, settings, known)
    new = reads_by_model(found, settings, known, new=True)
    left = {model: reads_left(model, amount, found, done) for model, amount in new.items()}
    parts = [_reads_table(found, by_model, new, done, prices), _left(left, prices) + _diagnostics(found)]
    parts.append(markdown(*_pictures_grid(pictures(settings, known))))
    if prices and models_apart and all(amount.value is not None for amount in new.values()):
        parts.append(markdown(*_models_grid(new, left, prices)))
    text = "\n".join(parts)
    return f"{text}\n{plan_notes(text, found, settings, known, prices)}"


def _reads_table(
    found: Sequence[Stage],
    by_model: Mapping[str, Amount],
    new: Mapping[str, Amount],
    done: Done,
    prices: Prices,
) -> str:
    at_share = any(stage.at_share is not None for stage in found)
    looked_up = selector_targets(found)
    header = ["stage", "models", "jobs", "items", "reads an item", "reads"]
    header += ["new reads"] if looked_up else []
    header += [f"reads at {SHARE}"] if at_share else []
    header += [f"new at {SHARE}"] if at_share and looked_up else []
    header += ["done"]
    header += ["hours"] if prices else []
    header += [f"hours at {SHARE}"] if prices and at_share else []
    rows = [_stage_row(stage, found, at_share, done, prices) for stage in found]
    jobs = sum(len(stage.models) * stage.jobs for stage in found)
    last = ["total", "", f"{jobs:,}", "", "", amount_text(total(by_model.values()))]
    last += [amount_text(total(new.values()))] if looked_up else []
    last += [_count_text(_summed(_reads_at_share(stage) for stage in found))] if at_share else []
    if at_share and looked_up:
        last += [_count_text(_summed(_summed(_new_at_share(stage, found).values()) for stage in found))]
    last += [f"{sum(_done_by_model(found, by_model, done)):,}"]
    if prices:
        last += [_hours_of(new, prices)]
    if prices and at_share:
        last += [hours_text(_summed(_hours_at_share(stage, found, prices) for stage in found))]
    return markdown(header, [*rows, last])


def _stage_row(stage: Stage, found: Sequence[Stage], at_share: bool, done: Done, prices: Prices) -> list[str]:
    models, looked_up = len(stage.models), selector_targets(found)
    new = {model: new_reads(stage, found, model) for model in stage.models}
    per_item = f"{stage.per_item} × (K − 1)" if stage.name == "option order" else f"{stage.per_item:,}"
    row = [stage.name, f"{models}", f"{models * stage.jobs:,}", amount_text(stage.items), per_item]
    row += [amount_text(stage.reads.times(models))]
    row += [amount_text(total(new.values()))] if looked_up else []
    row += [_count_text(_reads_at_share(stage))] if at_share else []
    row += [_count_text(_summed(_new_at_share(stage, found).values()))] if at_share and looked_up else []
    row += [f"{sum(reads_done(stage, model, done) for model in stage.models):,}"]
    if prices:
        row += [_hours_of(new, prices)]
    if prices and at_share:
        row += [hours_text(_hours_at_share(stage, found, prices))]
    return row


def _done_by_model(found: Sequence[Stage], by_model: Mapping[str, Amount], done: Done) -> Iterator[int]:
    """Yield what is there of every model's reads: what parts hold may exceed the bound of the whole."""
    for model, reads in by_model.items():
        there = sum(reads_done(stage, model, done) for stage in found if model in stage.models)
        yield there if reads.value is None else min(there, reads.value)


def _reads_at_share(stage: Stage) -> int | None:
    return None if stage.at_share is None else stage.at_share * len(stage.models)


def _new_at_share(stage: Stage, found: Sequence[Stage]) -> dict[str, int | None]:
    return {model: stage.at_share if stage in computing(found, model) else 0 for model in stage.models}


def _hours_at_share(stage: Stage, found: Sequence[Stage], prices: Prices) -> float | None:
    return device_hours(_new_at_share(stage, found), prices)


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
    """Return the sentence of what is left to compute; nothing where that is not known."""
    reads = total(left.values())
    if reads.value is None:
        return ""
    hours = device_hours({model: amount.value for model, amount in left.items()}, prices)
    time = f", {span_text(hours, reads)}" if prices and reads.value and hours is not None else ""
    return f"Left to compute: {amount_text(reads)}{time}.\n"


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
    whole = counted(reads * len(targets.models), "read")
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
    new: Mapping[str, Amount], left: Mapping[str, Amount], prices: Prices
) -> tuple[list[str], list[list[str]]]:
    rows = []
    for model, reads in new.items():
        price = prices.get(model)
        row = [model, MISSING if price is None else f"{price.seconds:.3g}"]
        row += [_count_text(None if price is None else price.measured)]
        rows.append([*row, _hours_of({model: reads}, prices), _hours_of({model: left[model]}, prices)])
    return ["model", "s a read", "reads measured", "hours", "hours left"], rows


def _hours_of(reads: Mapping[str, Amount], prices: Prices) -> str:
    hours = device_hours({model: amount.value for model, amount in reads.items()}, prices)
    return MISSING if hours is None else marked(hours_text(hours), total(reads.values()))


def _count_text(count: int | None) -> str:
    return MISSING if count is None else f"{count:,}"
