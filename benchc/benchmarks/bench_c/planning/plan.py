"""What a run of Bench-C costs."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from benchc.benchmarks.bench_c.planning.known import SUBSETS, Known, done_predictions, known_of
from benchc.benchmarks.bench_c.planning.pictures import pictures
from benchc.benchmarks.bench_c.planning.predictions import (
    ASSUMED_OPTIONS,
    DIAGNOSTICS,
    PAPER_KEPT,
    PAPER_POOL,
    paper_share,
    predictions_by_model,
    stages,
)
from benchc.benchmarks.bench_c.settings import Settings
from benchc.config.batches import batches
from benchc.config.load import Config
from benchc.planning.amounts import summed
from benchc.planning.notes import disk_notes, done_note, sign_notes, variants_note
from benchc.planning.plan import Plan
from benchc.planning.stages import Stage, looking_up
from benchc.rendering.pluralize import pluralize

SHARE = f"{100 * PAPER_KEPT / PAPER_POOL:.1f} %"


def plan_of(config: Config, results: Path) -> Plan:
    """Return the plan of a run, whose tables are in the folder ``results`` as far as they are made."""
    settings = cast(Settings, config.settings)
    known, origin = known_of(settings, config.sources, results)
    found = stages(settings, known)
    return Plan(
        origin=origin,
        stages=found,
        predictions=predictions_by_model(found, settings, known),
        new=predictions_by_model(found, settings, known, new=True),
        done=done_predictions(settings, results),
        subsets=tuple(SUBSETS.values()),
        batches=list(batches(settings.corruptions, settings.inference)),
        pictures=pictures(settings, known),
        share=SHARE,
        added=_diagnostics(found),
        notes=partial(_notes, found, settings, known),
    )


def _diagnostics(found: Sequence[Stage]) -> str:
    """Return the sentence of what diagnostics add to the targets' predictions."""
    added = [stage for stage in found if stage.name in DIAGNOSTICS]
    if not added:
        return "No diagnostics are asked for.\n"
    (targets,) = (stage for stage in found if stage.name == "targets")
    exact = all(stage.predictions.kind == "exact" for stage in (*added, targets))
    sizes = [stage.predictions.value if exact else stage.at_share for stage in (targets, *added)]
    base, *rest = sizes
    predictions = summed(rest)
    if base is None or predictions is None:
        return "What diagnostics add to the targets' predictions is not known before the pool is.\n"
    whole = pluralize(predictions * len(targets.models), "read")
    share = f", {100 * predictions / base:.0f} % of the targets'" if base else ""
    return f"Diagnostics add {whole}{share}{'' if exact else f', if {SHARE} of the pool are kept'}.\n"


def _notes(found: Sequence[Stage], settings: Settings, known: Known, text: str) -> list[str]:
    """Return the notes to the tables ``text`` of a plan."""
    names = {stage.name for stage in found}
    bounded = "random subset" in names and known.pool is not None
    subset = "; a selected item is in no random subset, so the total is below the sum" if bounded else ""
    return [
        *sign_notes(text, subset),
        variants_note(settings.corruptions),
        *_assumptions(names, known),
        *disk_notes(text, known),
        *_looked_up(found),
        done_note(),
        "left: the cache may hold more than done shows, as after a change of the selection or of "
        "diagnostics.random_subset; a job looks up what it finds there, and less is left.",
    ]


def _assumptions(names: set[str], known: Known) -> Iterator[str]:
    if known.pool is not None and known.kept is None:
        yield (
            f"at {SHARE}: an assumption, the share that the paper kept ({PAPER_KEPT} of {PAPER_POOL:,}), "
            f"here {paper_share(known.pool):,} of {pluralize(known.pool, 'item')}; the selection decides."
        )
    if "option order" in names:
        unknown = known.kept is None and not known.pool_options
        assumed = f"; K = {ASSUMED_OPTIONS} is assumed" if unknown else ""
        yield f"K − 1: the other circular orders of an item's K options{assumed}."


def _looked_up(found: Sequence[Stage]) -> Iterator[str]:
    both = looking_up(found)
    if both:
        yield (
            "new predictions: those that are computed, which hours are of. What a model read as a selector "
            "it "
            f"looks up in the cache as a target: {', '.join(both)}."
        )
