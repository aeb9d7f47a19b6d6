import numpy as np
import pytest

from benchc.corruptions.corrupt import corrupt
from benchc.corruptions.recipe import Recipe, clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_item
from benchc.errors import InputError
from benchc.images import ImageError, Pixels, encode_png
from benchc.randomness import seed_of

NOISE = recipe_of("gaussian_noise", engine="imgaug")


def picture(seed: int, height: int = 36, width: int = 50) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)


def test_each_image_is_corrupted_at_each_severity_under_its_own_seed() -> None:
    # The same picture twice, and one of another size.
    pictures = [picture(1), picture(1), picture(2, 40, 30)]
    made = variants_of_item("b/2", [encode_png(image) for image in pictures], NOISE, (1, 4), seed=7)
    assert [severity for severity, _ in made] == [1, 4]
    for severity, images in made:
        for index, (image, found) in enumerate(zip(pictures, images, strict=True)):
            seed = seed_of(7, "b/2", index, "gaussian_noise", severity)
            expected = corrupt(image, "gaussian_noise", severity, seed=seed, engine="imgaug")
            np.testing.assert_array_equal(found, expected)
        assert not np.array_equal(images[0], images[1])


def test_clean_is_severity_0_with_the_pixels_of_the_source() -> None:
    recipe = clean_recipe()
    ((severity, images),) = variants_of_item("a/1", [encode_png(picture(2))], recipe, recipe.severities, 3)
    assert severity == 0
    np.testing.assert_array_equal(images[0], picture(2))


def test_what_a_kernel_cannot_do_is_reported_with_the_item() -> None:
    data = [encode_png(np.zeros((1, 16_384, 3), np.uint8))]
    with pytest.raises(
        InputError, match=r"item 'a/2', image 0, under webp: .*at most 16,383 pixels"
    ) as caught:
        variants_of_item("a/2", data, recipe_of("webp", "r-bench"), (1,), seed=0)
    assert isinstance(caught.value.__cause__, ImageError)
    gone = Recipe("mine", "tests.corruptions.test_variants.gone", None, {1: {}})
    with pytest.raises(InputError, match=r"item 'a/2', image 0, under mine: .* no function gone") as caught:
        variants_of_item("a/2", data, gone, (1,), seed=0)
    assert not isinstance(caught.value.__cause__, ImageError)


@pytest.mark.parametrize(("data", "reason"), [(b"\x89PNG", "no whole image"), (None, "no bytes")])
def test_an_image_that_cannot_be_read_is_reported_with_its_item(data: bytes | None, reason: str) -> None:
    with pytest.raises(InputError, match=rf"item 'a/2', image 1, under gaussian_noise: .*{reason}"):
        variants_of_item("a/2", [encode_png(picture(1)), data], NOISE, (1,), seed=0)


def test_a_severity_that_the_recipe_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"item 'a/1'.*severities 0, 1, 2, 3, 4, 5, not 6"):
        variants_of_item("a/1", [encode_png(picture(1))], NOISE, (6,), seed=0)
