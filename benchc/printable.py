"""Text from data in one line of a terminal."""


def printable(text: str) -> str:
    """Return ``text`` in one line: names from data may contain line breaks and a terminal's control codes."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )
