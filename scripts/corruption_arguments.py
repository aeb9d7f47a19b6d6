"""Types of the arguments of the scripts that corrupt images."""

import argparse

from benchc.corruptions.recipe import Recipe


def recipe_argument(text: str) -> Recipe:
    """Parse a recipe; argparse shows the message of this error, and not that of a ValueError."""
    try:
        return Recipe.from_json(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def seed_argument(text: str) -> int:
    """Parse a seed: a whole number, at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed is a whole number, at least 0, not {text}")
    return int(text)
