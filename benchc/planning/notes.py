"""What the signs and columns of any plan mean, and what its numbers rest on; each note is a sentence."""

from collections.abc import Iterator

from benchc.config.settings import Corruptions
from benchc.planning.hours import LEAST_PREDICTIONS, Prices
from benchc.planning.known import Known
from benchc.planning.stages import variants
from benchc.rendering.pluralize import pluralize


def sign_notes(text: str, bound: str = "") -> Iterator[str]:
    """Yield what the signs in the tables ``text`` of a plan mean; ``bound`` is added to that of bounds."""
    if "≤" in text:
        yield f"≤: at most{bound}."
    if "≈" in text:
        yield "≈: estimated, see below."
    if "≲" in text:
        yield "≲: at most, if what is assumed or estimated below holds."
    if "unknown" in text:
        yield "unknown: the configuration sets no bound; the number is known once the sources are read."


def variants_note(corruptions: Corruptions) -> str:
    """Return what the predictions of an item are."""
    types = pluralize(len(corruptions.types), "corruption")
    count = len(corruptions.severities)
    severities = f"{count} severit{'y' if count == 1 else 'ies'}"
    return (
        f"predictions an item: itself and {types} × {severities} make "
        f"{pluralize(variants(corruptions), 'variant')}."
    )


def disk_notes(text: str, known: Known) -> Iterator[str]:
    """Yield how the disk in the tables ``text`` is estimated, where it is."""
    if "GB" in text and known.corrupted_bytes is None:
        yield "disk: estimated at what photographs take; drawings and screenshots take less."


def done_note() -> str:
    """Return what counts as done."""
    return (
        "done: of the predictions, those in the predictions that are there; what an older configuration read "
        "beyond them is not counted. snakemake -n says which predictions it would make again."
    )


def price_notes(prices: Prices) -> Iterator[str]:
    """Yield which prices rest on few predictions."""
    few = [
        f"{model} ({pluralize(price.measured or 0, 'read')})" for model, price in prices.items() if price.few
    ]
    if few:
        yield (
            f"measured on fewer than {LEAST_PREDICTIONS} predictions, so that the start of the jobs is much "
            "of the price "
            f"and the hours are too many rather than too few: {', '.join(few)}."
        )
