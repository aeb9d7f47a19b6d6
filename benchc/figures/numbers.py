"""Numbers as figures print them."""


def signed(value: float) -> str:
    """Return ``value`` with three decimals and its sign, a true minus, no sign where it rounds to 0."""
    # + 0.0 turns a rounded negative zero into a plain one.
    return f"{round(value, 3) + 0.0:+.3f}".replace("-", "−").replace("+0.000", "0.000")
