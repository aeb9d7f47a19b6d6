import hashlib
from dataclasses import replace

import numpy as np
import pytest

from benchc.corruptions import corrupt
from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import noise_seed, variants_of_image
from benchc.errors import InputError
from benchc.image_keys import derived_key, image_seed, named_key, pixel_key
from benchc.images import ImageError, encode_png
from benchc.pixels import Pixels
from benchc.randomness import seed_of

NOISE = recipe_of("gaussian_noise", engine="imgaug")


def sample_image(seed: int, height: int = 36, width: int = 50) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def test_the_seed_of_a_derived_key_is_that_of_item_and_index_of_others_that_of_the_key() -> None:
    # An id may contain a hash sign, and end like a key.
    for item in ("b/2", "b/2#7", "b/a:b", "photo.png", "a:b.png"):
        for index in (0, 11):
            key = derived_key(item, index)
            assert image_seed(7, key, "fog", 4) == seed_of(7, item, index, "fog", 4)
    key = pixel_key("0f" * 32)
    assert key == f"sha256://{'0f' * 32}" and image_seed(7, key, "fog", 4) == seed_of(7, key, "fog", 4)
    # Also of a name that looks like a derived key.
    for name in ("393225", "train/a.jpg", "2#0", "/2#0"):
        key = named_key("b", name)
        assert image_seed(7, key, "fog", 4) == seed_of(7, key, "fog", 4)
        assert key not in {derived_key(f"b/{index}", 0) for index in (name, name[:-2])}
    with pytest.raises(ValueError, match="'b/2' is not an image key"):
        image_seed(7, "b/2", "fog", 4)


def test_an_image_is_corrupted_at_each_severity_under_its_own_seed() -> None:
    data = encode_png(sample_image(1))
    images = [variants_of_image(f"b/2#{n}", data, NOISE, (1, 4), seed=7) for n in range(2)]
    for index, made in enumerate(images):
        assert list(made) == [1, 4]
        for severity, found in made.items():
            seed = seed_of(7, "b/2", index, "gaussian_noise", severity)
            expected = corrupt(sample_image(1), "gaussian_noise", severity, seed=seed, engine="imgaug")
            np.testing.assert_array_equal(found, expected)
    assert not np.array_equal(images[0][1], images[1][1])
    # Published benchmarks have these random numbers.
    one_draw = replace(NOISE, one_draw=True)
    assert {noise_seed(one_draw, 7, "b/2#1", severity) for severity in (1, 4)} == {
        seed_of(7, "b/2", 1, "gaussian_noise", 0)
    }
    recipe = clean_recipe()
    made = variants_of_image("a/1#0", encode_png(sample_image(2)), recipe, recipe.severities, 3)
    assert list(made) == [0]
    np.testing.assert_array_equal(made[0], sample_image(2))


def test_the_pixels_of_a_derived_key_are_the_same_in_every_release() -> None:
    # As when images were seeded by item and index: published benchmarks have these pixels.
    recipe = recipe_of("gaussian_noise")
    pixels = variants_of_image("b/2#1", encode_png(sample_image(1)), recipe, (3,), seed=7)[3]
    digest = "bca0cc5169585e6e711dc850d86c1af428cd58268abae681e7d4752cddbc6bdb"
    assert hashlib.sha256(pixels.tobytes()).hexdigest() == digest


def test_an_error_of_a_kernel_and_a_severity_that_the_recipe_lacks_name_the_key() -> None:
    data = encode_png(np.zeros((1, 16_384, 3), np.uint8))
    with pytest.raises(InputError, match=r"image 'a/2#0', under webp: .*at most 16,383 pixels") as caught:
        variants_of_image("a/2#0", data, recipe_of("webp", "r-bench"), (1,), seed=0)
    assert isinstance(caught.value.__cause__, ImageError)
    gone = Recipe("mine", "tests.corruptions.test_variants.gone", None, {1: {}})
    with pytest.raises(InputError, match=r"image 'a/2#0', under mine: .* no function gone") as caught:
        variants_of_image("a/2#0", data, gone, (1,), seed=0)
    assert not isinstance(caught.value.__cause__, ImageError)
    with pytest.raises(ValueError, match=r"image 'a/1#0'.*severities 0, 1, 2, 3, 4, 5, not 6"):
        variants_of_image("a/1#0", encode_png(sample_image(1)), NOISE, (6,), seed=0)


@pytest.mark.parametrize(("data", "reason"), [(b"\x89PNG", "not a complete image"), (None, "no bytes")])
def test_an_unreadable_image_is_reported_with_its_key(data: bytes | None, reason: str) -> None:
    with pytest.raises(InputError, match=rf"image 'a/2#1', under gaussian_noise: .*{reason}"):
        variants_of_image("a/2#1", data, NOISE, (1,), seed=0)
