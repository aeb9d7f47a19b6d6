"""User-fixable errors."""


class InputError(ValueError):
    """An input cannot be used. Each of ``args`` is one line: what is wrong, where, and how to fix it."""


def recreate(*outputs: str) -> str:
    """Return how to recreate ``outputs``, folders of a run, as the end of an error's line."""
    return f"delete {' and '.join(outputs)} in the run's folder and run snakemake again"
