"""The rows of contact sheets: an image under corruptions."""

from collections.abc import Iterable, Sequence

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import Engine, corruptions_of, group_of, recipe_of, type_of
from benchc.corruptions.suite import Suite
from benchc.corruptions.variants import noise_seed
from benchc.pixels import Pixels
from benchc.rendering.contact_sheet import Row


def sheet_types(names: Iterable[str], suite: Suite, engine: Engine) -> list[str]:
    """Return the corruptions of sheets in the suite's order; without ``names``, its default set.

    Raises InputError for a name that the suite or engine lacks.
    """
    order = [type_.name for type_ in suite.types()]
    found = sorted({type_of(name, suite).name for name in names or corruptions_of(suite)}, key=order.index)
    for name in found:
        recipe_of(name, suite, engine)
    return found


def row_of(
    recipe: Recipe, suite: Suite, key: str, clean: Pixels, severities: Sequence[int], seed: int
) -> Row:
    """Return the row of a corruption, whose random numbers ``seed`` and the ``key`` of the image decide."""
    images = [
        apply(recipe, clean, severity, noise_seed(recipe, seed, key, severity)) for severity in severities
    ]
    return Row(group_of(recipe.name, suite), recipe.name, images)
