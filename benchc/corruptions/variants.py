"""Decode an image once and corrupt it at several severities."""

from collections.abc import Sequence

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.errors import InputError
from benchc.image_keys import image_seed
from benchc.images import ImageError, decode
from benchc.pixels import Pixels
from benchc.transparency import Alpha


def noise_seed(recipe: Recipe, seed: int, key: str, severity: int) -> int:
    """Return the seed with which a run applies ``recipe`` to the image ``key``; ``seed`` is the run's.

    It differs between severities unless the recipe has one draw for all. Raises ValueError as
    :func:`image_seed`.
    """
    return image_seed(seed, key, recipe.name, 0 if recipe.one_draw else severity)


def variants_of_image(
    key: str,
    data: bytes | None,
    recipe: Recipe,
    severities: Sequence[int],
    seed: int,
    alpha: Alpha = "drop",
) -> dict[int, Pixels]:
    """Return, by severity, the encoded image ``data`` as pixels uint8[H, W, 3] under the corruption.

    A pure function of the run's ``seed``, the image's key, its bytes, the recipe and the severity.
    Raises InputError, naming the key, where a kernel cannot be used, or, caused by an ImageError, where the
    image cannot be decoded or is too large; ValueError for invalid arguments.
    """
    try:
        if not isinstance(data, bytes):
            raise ImageError("it has no bytes")
        pixels = decode(data, alpha)
        return {
            severity: apply(recipe, pixels, severity, noise_seed(recipe, seed, key, severity))
            for severity in severities
        }
    except ImageError as error:
        raise InputError(
            f"image {key!r}, under {recipe.name}: {error}; fix the image in its source, or remove the items "
            "that have it"
        ) from error
    except InputError as error:
        raise InputError(f"image {key!r}, under {recipe.name}: {error}") from error
    except (ValueError, TypeError) as error:
        raise ValueError(f"image {key!r}, under {recipe.name}: {error}") from error
