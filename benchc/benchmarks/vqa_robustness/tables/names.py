"""How corruptions are printed."""


def words(corruption: str) -> str:
    """Return the name of a corruption as it is printed: "shot noise"."""
    return corruption.replace("_", " ")
