"""What every stage of a run predictions: one prediction is one model, one item, one variant of its images."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchc.config.settings import Corruptions
from benchc.planning.amounts import Amount

Done = Mapping[tuple[str, str], int]  # predictions that files hold, by stage and model


@dataclass(frozen=True)
class Stage:
    """What every one of ``models`` predictions in one stage, in ``jobs`` jobs each.

    ``items`` and ``predictions`` are of one model. ``per_item``: predictions of an item, or, where items
    differ, of what ``factor`` counts. ``at_share``: predictions of a model if the share of the pool that the
    plan assumes is chosen; None where the choice is made, or the pool is not known. ``part_of``: the stage
    whose predictions, where a model makes them, hold this one's too.
    """

    name: str
    models: tuple[str, ...]
    jobs: int
    items: Amount
    per_item: int
    predictions: Amount
    at_share: int | None
    part_of: str | None = None
    factor: str = ""


def variants(corruptions: Corruptions) -> int:
    """Return how many variants an item has: itself, and every corruption at every severity."""
    return 1 + len(corruptions.types) * len(corruptions.severities)


def computing(found: Iterable[Stage], model: str) -> list[Stage]:
    """Return the stages in which a model computes predictions; in its others it looks them up in the cache."""
    own = [stage for stage in found if model in stage.models]
    names = {stage.name for stage in own}
    return [stage for stage in own if stage.part_of not in names]


def looking_up(found: Sequence[Stage]) -> list[str]:
    """Return the models that look predictions of some stage up, since they made them in another."""
    models = dict.fromkeys(model for stage in found if stage.part_of for model in stage.models)
    return [model for model in models if len(computing(found, model)) < sum(model in s.models for s in found)]


def new_predictions(stage: Stage, found: Sequence[Stage], model: str) -> Amount:
    """Return what a model of ``stage`` computes in it, if the cache holds what other stages read."""
    return stage.predictions if stage in computing(found, model) else Amount(0, "exact")


def predictions_done(stage: Stage, model: str, done: Done) -> int:
    """Return how many of a model's predictions of a stage are there, by ``done``, which counts what files hold.

    Never more than the stage has: files that a larger configuration made hold others.
    """
    there = done.get((stage.name, model), 0)
    return there if stage.predictions.value is None else min(there, stage.predictions.value)


def predictions_left(model: str, new: Amount, found: Sequence[Stage], done: Done) -> Amount:
    """Return what a model has still to compute of its ``new`` predictions.

    A prediction counts once: what it read in a stage, and in the stage that this is part of, is the same.
    """
    if new.value is None:
        return new
    own = [stage for stage in found if model in stage.models]
    wholes = {stage.part_of for stage in own}
    parts = sum(predictions_done(stage, model, done) for stage in own if stage.part_of)
    others = 0
    for stage in own:
        if stage.name in wholes and stage.predictions.value is not None:
            parts = min(max(parts, predictions_done(stage, model, done)), stage.predictions.value)
        elif not stage.part_of:
            others += predictions_done(stage, model, done)
    return Amount(max(0, new.value - parts - others), new.kind)
