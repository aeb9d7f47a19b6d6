"""Counts and how sure they are, and how a plan prints counts, disk and time with a sign of that."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

from benchc.rendering.numbers import MISSING

Kind = Literal["exact", "at most", "assumed", "assumed bound", "unknown"]


@dataclass(frozen=True)
class Amount:
    """A count and how sure it is; None is unknown.

    Exact, an upper bound (at most), an estimate (assumed), or an upper bound if what is assumed holds
    (assumed bound).
    """

    value: int | None
    kind: Kind

    def times(self, factor: int) -> "Amount":
        """Return the amount of ``factor`` such things."""
        return Amount(None if self.value is None else self.value * factor, self.kind)


UNKNOWN = Amount(None, "unknown")


def joined(kinds: Iterable[Kind]) -> Kind:
    """Return how sure a sum of amounts of these kinds is."""
    found = set(kinds)
    if "unknown" in found:
        return "unknown"
    bound = bool(found & {"at most", "assumed bound"})
    if found & {"assumed", "assumed bound"}:
        return "assumed bound" if bound else "assumed"
    return "at most" if bound else "exact"


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum of amounts, no surer than any of them."""
    found = list(amounts)
    kind = joined(amount.kind for amount in found)
    values = [amount.value for amount in found if amount.value is not None]
    return UNKNOWN if kind == "unknown" else Amount(sum(values), kind)


Number = TypeVar("Number", int, float)


def summed(values: Iterable[Number | None]) -> Number | None:
    """Return the sum of at least one number; None where a part is not known."""
    known, lacking = [], False
    for value in values:
        if value is None:
            lacking = True
        else:
            known.append(value)
    return None if lacking else sum(known[1:], start=known[0])


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
    """Return device-hours for running text, with the sign of the predictions that take them: ≤ 3 hours."""
    text = hours_text(hours)
    unit = "" if text.endswith("min") else " hour" if text == "1" else " hours"
    return marked(f"{text}{unit}", amount)
