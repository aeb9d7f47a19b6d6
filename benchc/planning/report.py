"""The price of a run as Markdown that lines up in a terminal."""

from collections.abc import Iterator, Mapping, Sequence

from benchc.planning.amounts import (
    Amount,
    amount_text,
    disk_text,
    hours_text,
    marked,
    span_text,
    summed,
    total,
)
from benchc.planning.hours import Prices, device_hours
from benchc.planning.notes import price_notes
from benchc.planning.plan import Plan
from benchc.planning.stages import (
    Stage,
    computing,
    looking_up,
    new_predictions,
    predictions_done,
    predictions_left,
)
from benchc.rendering.markdown import markdown
from benchc.rendering.numbers import MISSING


def plan_markdown(plan: Plan, prices: Prices, *, models_apart: bool = True) -> str:
    """Return predictions, images and, where ``prices`` has any, device-hours of a run, with notes.

    ``models_apart``: list hours by model as well.
    """
    left = {
        model: predictions_left(model, amount, plan.stages, plan.done) for model, amount in plan.new.items()
    }
    parts = [_predictions_table(plan, prices), _left(left, prices) + plan.added]
    parts.append(markdown(*_pictures_grid(plan)))
    if prices and models_apart and all(amount.value is not None for amount in plan.new.values()):
        parts.append(markdown(*_models_grid(plan.new, left, prices)))
    text = "\n".join(parts)
    notes = [*plan.notes(text), *price_notes(prices)]
    return f"{text}\n" + "".join(f"- {note}\n" for note in notes)


def _predictions_table(plan: Plan, prices: Prices) -> str:
    found, share = plan.stages, plan.share
    at_share = any(stage.at_share is not None for stage in found)
    looked_up = looking_up(found)
    header = ["stage", "models", "jobs", "items", "predictions an item", "predictions"]
    header += ["new predictions"] if looked_up else []
    header += [f"predictions at {share}"] if at_share else []
    header += [f"new at {share}"] if at_share and looked_up else []
    header += ["done"]
    header += ["hours"] if prices else []
    header += [f"hours at {share}"] if prices and at_share else []
    rows = [_stage_row(stage, plan, at_share, prices) for stage in found]
    jobs = sum(len(stage.models) * stage.jobs for stage in found)
    last = ["total", "", f"{jobs:,}", "", "", amount_text(total(plan.predictions.values()))]
    last += [amount_text(total(plan.new.values()))] if looked_up else []
    last += [_count_text(summed(_predictions_at_share(stage) for stage in found))] if at_share else []
    if at_share and looked_up:
        last += [_count_text(summed(summed(_new_at_share(stage, found).values()) for stage in found))]
    last += [f"{sum(_done_by_model(plan)):,}"]
    if prices:
        last += [_hours_of(plan.new, prices)]
    if prices and at_share:
        last += [hours_text(summed(_hours_at_share(stage, found, prices) for stage in found))]
    return markdown(header, [*rows, last])


def _stage_row(stage: Stage, plan: Plan, at_share: bool, prices: Prices) -> list[str]:
    found = plan.stages
    models, looked_up = len(stage.models), looking_up(found)
    new = {model: new_predictions(stage, found, model) for model in stage.models}
    row = [stage.name, f"{models}", f"{models * stage.jobs:,}", amount_text(stage.items)]
    row += [f"{stage.per_item:,}{stage.factor}"]
    row += [amount_text(stage.predictions.times(models))]
    row += [amount_text(total(new.values()))] if looked_up else []
    row += [_count_text(_predictions_at_share(stage))] if at_share else []
    row += [_count_text(summed(_new_at_share(stage, found).values()))] if at_share and looked_up else []
    row += [f"{sum(predictions_done(stage, model, plan.done) for model in stage.models):,}"]
    if prices:
        row += [_hours_of(new, prices)]
    if prices and at_share:
        row += [hours_text(_hours_at_share(stage, found, prices))]
    return row


def _done_by_model(plan: Plan) -> Iterator[int]:
    """Yield what is there of every model's predictions: what parts hold may exceed the bound of the whole."""
    for model, predictions in plan.predictions.items():
        there = sum(
            predictions_done(stage, model, plan.done) for stage in plan.stages if model in stage.models
        )
        yield there if predictions.value is None else min(there, predictions.value)


def _predictions_at_share(stage: Stage) -> int | None:
    return None if stage.at_share is None else stage.at_share * len(stage.models)


def _new_at_share(stage: Stage, found: Sequence[Stage]) -> dict[str, int | None]:
    return {model: stage.at_share if stage in computing(found, model) else 0 for model in stage.models}


def _hours_at_share(stage: Stage, found: Sequence[Stage], prices: Prices) -> float | None:
    return device_hours(_new_at_share(stage, found), prices)


def _left(left: Mapping[str, Amount], prices: Prices) -> str:
    """Return the sentence of what is left to compute; nothing where that is not known."""
    predictions = total(left.values())
    if predictions.value is None:
        return ""
    hours = device_hours({model: amount.value for model, amount in left.items()}, prices)
    time = f", {span_text(hours, predictions)}" if prices and predictions.value and hours is not None else ""
    return f"Left to compute: {amount_text(predictions)}{time}.\n"


def _pictures_grid(plan: Plan) -> tuple[list[str], list[list[str]]]:
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
        for row in plan.pictures
    ]


def _models_grid(
    new: Mapping[str, Amount], left: Mapping[str, Amount], prices: Prices
) -> tuple[list[str], list[list[str]]]:
    rows = []
    for model, predictions in new.items():
        price = prices.get(model)
        row = [model, MISSING if price is None else f"{price.seconds:.3g}"]
        row += [_count_text(None if price is None else price.measured)]
        rows.append([*row, _hours_of({model: predictions}, prices), _hours_of({model: left[model]}, prices)])
    return ["model", "s a prediction", "predictions measured", "hours", "hours left"], rows


def _hours_of(predictions: Mapping[str, Amount], prices: Prices) -> str:
    hours = device_hours({model: amount.value for model, amount in predictions.items()}, prices)
    return MISSING if hours is None else marked(hours_text(hours), total(predictions.values()))


def _count_text(count: int | None) -> str:
    return MISSING if count is None else f"{count:,}"
