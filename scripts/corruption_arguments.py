"""Argument types of the scripts that corrupt images."""

import argparse

from benchc.corruptions.recipe import Recipe


def recipe_argument(text: str) -> Recipe:
    """Parse a recipe. Of a ValueError, argparse would not show the message."""
    try:
        return Recipe.from_json(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def seed_argument(text: str) -> int:
    """Parse a seed: an integer of at least 0."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed must be an integer of at least 0, not {text}")
    return int(text)
