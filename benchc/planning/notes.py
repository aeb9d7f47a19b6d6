"""What the signs and columns of a plan mean, and what its numbers rest on."""

from collections.abc import Iterator, Sequence

from benchc.config.settings import Settings
from benchc.planning.hours import LEAST_READS, Prices
from benchc.planning.known import Known
from benchc.planning.reads import (
    ASSUMED_OPTIONS,
    PAPER_KEPT,
    PAPER_POOL,
    Stage,
    paper_share,
    selector_targets,
    variants,
)
from benchc.rendering.counted import counted

SHARE = f"{100 * PAPER_KEPT / PAPER_POOL:.1f} %"


def plan_notes(text: str, found: Sequence[Stage], settings: Settings, known: Known, prices: Prices) -> str:
    """Return the notes to the tables ``text`` of a plan as a Markdown list: its signs, then the rest."""
    notes = [*_signs(text, found, known), *_sizes(text, found, settings, known), *_done(found)]
    few = [
        f"{model} ({counted(price.measured or 0, 'read')})" for model, price in prices.items() if price.few
    ]
    if few:
        notes.append(
            f"measured on fewer than {LEAST_READS} reads, so that the start of the jobs is much of the price "
            f"and the hours are too many rather than too few: {', '.join(few)}."
        )
    return "\n".join(f"- {note}" for note in notes) + "\n"


def _signs(text: str, found: Sequence[Stage], known: Known) -> Iterator[str]:
    names = {stage.name for stage in found}
    if "≤" in text:
        subset = "; a selected item is in no random subset, so the total is below the sum"
        yield f"≤: at most{subset if 'random subset' in names and known.pool is not None else ''}."
    if "≈" in text:
        yield "≈: estimated, see below."
    if "≲" in text:
        yield "≲: at most, if what is assumed or estimated below holds."
    if "unknown" in text:
        yield "unknown: the configuration sets no bound; the number is known once the sources are read."


def _sizes(text: str, found: Sequence[Stage], settings: Settings, known: Known) -> Iterator[str]:
    corruptions = counted(len(settings.corruptions.types), "corruption")
    count = len(settings.corruptions.severities)
    severities = f"{count} severit{'y' if count == 1 else 'ies'}"
    yield (
        f"reads an item: itself and {corruptions} × {severities} "
        f"make {counted(variants(settings), 'variant')}."
    )
    if known.pool is not None and known.kept is None:
        yield (
            f"at {SHARE}: an assumption, the share that the paper kept ({PAPER_KEPT} of {PAPER_POOL:,}), "
            f"here {paper_share(known.pool):,} of {counted(known.pool, 'item')}; the selection decides."
        )
    if any(stage.name == "option order" for stage in found):
        unknown = known.kept is None and not known.pool_options
        assumed = f"; K = {ASSUMED_OPTIONS} is assumed" if unknown else ""
        yield f"K − 1: the other circular orders of an item's K options{assumed}."
    if "GB" in text and known.corrupted_bytes is None:
        yield "disk: estimated at what photographs take; drawings and screenshots take less."


def _done(found: Sequence[Stage]) -> Iterator[str]:
    both = selector_targets(found)
    if both:
        yield (
            "new reads: those that are computed, which hours are of. What a model read as a selector it "
            f"looks up in the store as a target: {', '.join(both)}."
        )
    yield (
        "done: of the reads, those in the predictions that are there; what an older configuration read "
        "beyond them is not counted. snakemake -n says which predictions it would make again."
    )
    yield (
        "left: the store may hold more than done shows, as after a change of the selection or of "
        "diagnostics.random_subset; a job looks up what it finds there, and less is left."
    )
