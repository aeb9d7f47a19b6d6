"""Types of command-line arguments. Of their errors, argparse shows only the message of ArgumentTypeError."""

import argparse
import re

from benchc.corruptions.recipe import Recipe


def recipe_argument(text: str) -> Recipe:
    """Parse a recipe."""
    try:
        return Recipe.from_json(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def seed_argument(text: str) -> int:
    """Parse a seed, an integer >= 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed must be an integer of at least 0, not {text}")
    return int(text)


def natural_argument(text: str) -> int:
    """Parse an integer >= 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 0")
    return int(text)


def positive_argument(text: str) -> int:
    """Parse an integer >= 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def source_argument(text: str) -> str:
    """Parse the id of a source."""
    # As in the catalogue: ids and image keys begin with it.
    if not re.fullmatch("[a-z0-9][a-z0-9.-]*", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not an id of lower-case letters, digits, dots and dashes"
        )
    return text
