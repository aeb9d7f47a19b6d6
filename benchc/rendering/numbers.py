"""Single numbers as tables and figures print them."""

MISSING = "–"


def number_text(value: float | None, signed: bool, *, whole: bool = False, digits: int = 3) -> str:
    """Return ``value`` with ``digits`` decimals (``whole``: none), signed unless it rounds to 0."""
    if value is None:
        return MISSING
    digits = 0 if whole else digits
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text


def significant_text(value: float | None) -> str:
    """Return ``value`` with three significant digits and its sign, as for values of many magnitudes."""
    if value is None:
        return MISSING
    return f"{value:+.3g}" if value else "0"


def p_text(p: float | None) -> str:
    """Return a p value with three significant digits: 0.0123, 2.95e-21, or < 1e-300 where it underflows."""
    if p is None:
        return MISSING
    if p < 1e-300:
        return "< 1e-300"
    return f"{p:.2e}" if p < 1e-3 else f"{p:.3g}"


def is_point(low: float | None, high: float | None, digits: int = 3) -> bool:
    """Return whether all resamples give one value, as of answers that are all wrong: they show no spread.

    A rank (``digits`` of 0) may be certain.
    """
    return low is not None and low == high and digits > 0


def interval_text(low: float | None, high: float | None, *, signed: bool = False, digits: int = 3) -> str:
    """Return "[low, high]" with ``digits`` decimals, or "[–]" where it is undefined or :func:`is_point`."""
    if low is None or high is None or is_point(low, high, digits):
        return f"[{MISSING}]"
    return f"[{number_text(low, signed, digits=digits)}, {number_text(high, signed, digits=digits)}]"


def signed(value: float) -> str:
    """Return ``value`` with three decimals, its sign and a true minus; no sign where it rounds to 0."""
    # + 0.0 turns a rounded negative zero into a plain one.
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "−").replace("+0.000", "0.000")
