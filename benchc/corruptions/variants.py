"""The images of an item under one corruption: decoded once, corrupted at every severity."""

from collections.abc import Sequence

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.errors import InputError
from benchc.images import Alpha, ImageError, Pixels, decode
from benchc.randomness import seed_of


def variants_of_item(
    item: str,
    images: Sequence[bytes | None],
    recipe: Recipe,
    severities: Sequence[int],
    seed: int,
    alpha: Alpha = "drop",
) -> list[tuple[int, list[Pixels]]]:
    """Return, by severity, the item's encoded ``images`` as pixels under the corruption.

    A pure function of the run's ``seed``, the item's id, the image's place in it, the recipe and the
    severity: whoever calls it, wherever and in whatever order, gets the same pixels.
    With the item's id, raises InputError, caused by an ImageError, where an image cannot be decoded or not be
    held by a format; InputError where a kernel cannot be used; and ValueError where its call is wrong.
    """
    variants: list[tuple[int, list[Pixels]]] = [(severity, []) for severity in severities]
    for index, data in enumerate(images):
        try:
            if not isinstance(data, bytes):
                raise ImageError("it has no bytes")
            pixels = decode(data, alpha)
            for severity, corrupted in variants:
                image_seed = seed_of(seed, item, index, recipe.name, severity)
                corrupted.append(apply(recipe, pixels, severity, image_seed))
        except ImageError as error:
            raise InputError(
                f"item {item!r}, image {index}, under {recipe.name}: {error}; mend the image in the "
                "item's source, or take the item out of it"
            ) from error
        except InputError as error:
            raise InputError(f"item {item!r}, image {index}, under {recipe.name}: {error}") from error
        except (ValueError, TypeError) as error:
            raise ValueError(f"item {item!r}, image {index}, under {recipe.name}: {error}") from error
    return variants
