"""What of a run's reads is there already, and what is left to compute."""

from collections.abc import Mapping, Sequence

from benchc.planning.reads import OF_THE_POOL, Amount, Stage

Done = Mapping[tuple[str, str], int]  # reads that files hold, by stage and model


def reads_done(stage: Stage, model: str, done: Done) -> int:
    """Return how many of a model's reads of a stage are there, by ``done``, which counts what files hold.

    Never more than the stage has: files that a larger configuration made hold others.
    """
    there = done.get((stage.name, model), 0)
    return there if stage.reads.value is None else min(there, stage.reads.value)


def reads_left(model: str, new: Amount, found: Sequence[Stage], done: Done) -> Amount:
    """Return what a model has still to compute of its ``new`` reads; ``done`` counts by stage and model.

    A read counts once: what a selector has read of the benchmark and the random subset is of the pool.
    """
    if new.value is None:
        return new
    there = {stage.name: reads_done(stage, model, done) for stage in found if model in stage.models}
    parts = sum(there.pop(name, 0) for name in OF_THE_POOL)
    whole = {stage.name: stage.reads.value for stage in found}.get("selectors")
    if "selectors" in there and whole is not None:
        parts = min(max(parts, there.pop("selectors")), whole)
    return Amount(max(0, new.value - parts - sum(there.values())), new.kind)
