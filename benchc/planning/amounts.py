"""Counts, disk and time as a plan prints them, with a sign of how sure they are."""

from benchc.planning.reads import Amount
from benchc.rendering.numbers import MISSING

SIGNS = {"at most": "≤ ", "assumed": "≈ ", "assumed bound": "≲ "}


def marked(text: str, amount: Amount) -> str:
    """Return ``text`` after the sign of ``amount``: none where it is exact."""
    return f"{SIGNS.get(amount.kind, '')}{text}"


def amount_text(amount: Amount) -> str:
    """Return a count with its thousands set apart: 96, ≤ 96, ≈ 96, ≲ 96 or unknown."""
    return "unknown" if amount.value is None else marked(f"{amount.value:,}", amount)


def disk_text(amount: Amount) -> str:
    """Return bytes as GB of 10^9 bytes, with two significant digits below ten."""
    if amount.value is None:
        return "unknown"
    size = amount.value / 1e9
    return marked(f"{size:,.0f} GB" if size >= 10 else f"{size:.2g} GB", amount)


def hours_text(hours: float | None) -> str:
    """Return device-hours with two significant digits below ten; below a tenth in minutes, with the unit."""
    if hours is None:
        return MISSING
    if 0 < hours < 0.1:
        return f"{60 * hours:.2g} min"
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def span_text(hours: float, amount: Amount) -> str:
    """Return device-hours for running text, with the sign of the reads that take them: ≤ 3 hours."""
    text = hours_text(hours)
    unit = "" if text.endswith("min") else " hour" if text == "1" else " hours"
    return marked(f"{text}{unit}", amount)
