"""Numbers of a plan: exact, upper bounds, estimates, or unknown."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["exact", "at most", "estimate"]
SIGNS: dict[Kind, str] = {
    "exact": "",
    "at most": "≤ ",
    "estimate": "≈ ",
}  # from the most to the least certain


@dataclass(frozen=True)
class Amount:
    """A number and how certain it is; None is unknown."""

    value: float | None
    kind: Kind = "exact"

    @property
    def certainty(self) -> str:
        return "unknown" if self.value is None else self.kind

    def times(self, factor: "float | Amount") -> "Amount":
        """Return the product, as certain as the less certain of the two."""
        if not isinstance(factor, Amount):
            factor = Amount(factor)
        kind = _least_certain([self, factor])
        if self.value is None or factor.value is None:
            return Amount(None, kind)
        return Amount(self.value * factor.value, kind)

    def minus(self, number: float) -> "Amount":
        """Return this minus ``number``, at least 0."""
        return Amount(None if self.value is None else max(0, self.value - number), self.kind)

    def capped(self, limit: int) -> "Amount":
        """Return the smaller of this and ``limit``; of an unknown amount ``limit`` is a bound."""
        return Amount(limit, "at most") if self.value is None else Amount(min(limit, self.value), self.kind)

    def text(self, show: Callable[[float], str] = "{:,}".format) -> str:
        """Return the number as ``show`` formats it, with its sign: 96, ≤ 96, ≈ 96 or unknown."""
        if self.value is None:
            return "unknown"
        shown = show(self.value)
        return shown if not self.value or shown.startswith("<") else SIGNS[self.kind] + shown


def total(amounts: Iterable[Amount]) -> Amount:
    """Return the sum of amounts, as certain as the least certain of them; 0 for none."""
    found = list(amounts)
    values = [amount.value for amount in found if amount.value is not None]
    return Amount(sum(values) if len(values) == len(found) else None, _least_certain(found))


def _least_certain(amounts: Iterable[Amount]) -> Kind:
    return max((amount.kind for amount in amounts), key=list(SIGNS).index, default="exact")


def digits_text(number: float, digits: int = 2) -> str:
    """Return a number with so many significant digits and no exponent; all digits before the point."""
    if 0 < number < 1e-4:
        return "< 0.0001"
    return f"{number:,.0f}" if number >= 10 ** (digits - 1) else f"{number:.{digits}g}"


def disk_text(size: float) -> str:
    """Return bytes in GB of 10^9 bytes, or below 0.001 of them in MB, with two significant digits."""
    return f"{digits_text(size / 1e9)} GB" if size >= 1e6 or not size else f"{digits_text(size / 1e6)} MB"


def hours_text(hours: float) -> str:
    """Return hours with two significant digits below ten; below 1 in minutes, not less than one."""
    if 0 < hours < 1 / 60:
        return "< 1 min"
    if hours < 1:
        return f"{digits_text(60 * hours)} min"
    return f"{digits_text(hours)} h"
