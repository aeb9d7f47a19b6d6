"""Counts in running text."""


def pluralize(number: int, thing: str) -> str:
    """Return a count of ``thing``, a regular noun in the singular: "1 item", "1,000 items"."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
