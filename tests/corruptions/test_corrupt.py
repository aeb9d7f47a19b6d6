"""Properties of every corruption of every suite, and of both engines."""

import json
import random
from pathlib import Path

import imgaug.random
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.corruptions import corrupt
from benchc.corruptions.registry import SUITES, corruptions_of, type_of
from benchc.images import pixel_hash
from benchc.pixels import Pixels

# Types that a suite shares with imagenet-c are the same objects, and are tested there.
KERNELS = [
    (suite, type_.name)
    for suite in SUITES
    for type_ in SUITES[suite].types()
    if (suite == "imagenet-c" or type_ not in SUITES["imagenet-c"].types()) and type_.kernel is not None
]
CALLS = [("benchc", *kernel) for kernel in KERNELS]
CALLS += [("imgaug", "imagenet-c", name) for name in corruptions_of("imagenet-c")]
# numpy 2.4.6, numba 0.68.1, scipy 1.17.1, scikit-image 0.26.0, opencv 4.11.0, pillow 13.0.0, imaug 0.4.3,
# imagecorruptions-imaug 1.1.5: none of them promises the same pixels in another version.
# `python -m tests.corruptions.test_corrupt` records them again.
GOLDEN = Path(__file__).parent / "golden.json"


def sample_image(height: int = 40, width: int = 56) -> Pixels:
    """A slope in red, another in green, and blue squares with sharp corners."""
    y, x = np.mgrid[:height, :width]
    channels = [x * 255 // max(1, width - 1), y * 255 // max(1, height - 1), (x // 8 + y // 8) % 2 * 200]
    return np.stack(channels, axis=-1).astype(np.uint8)


def corrupted(call: tuple[str, str, str], severity: int, seed: int, image: Pixels | None = None) -> Pixels:
    engine, suite, name = call
    image = sample_image() if image is None else image
    return corrupt(image, name, severity, seed=seed, suite=suite, engine=engine)


def hashes(order: random.Random | None = None) -> dict[str, list[str]]:
    """Return the pixel hashes of every corruption by severity, computed in any order.

    Without the released package's: its own pixels differ between processors with and without AVX-512.
    """
    calls = [call for call in CALLS if call[0] == "benchc"]
    variants = [(call, severity) for call in calls for severity in SUITES[call[1]].severities]
    if order:
        order.shuffle(variants)
    found = {variant: pixel_hash([corrupted(*variant, seed=2**40 + 7)]) for variant in variants}
    return {" ".join(call): [found[call, level] for level in SUITES[call[1]].severities] for call in calls}


def test_pixels_equal_the_recorded_ones_in_any_order_of_calls() -> None:
    assert hashes(random.Random(1)) == json.loads(GOLDEN.read_text())


def states() -> str:
    """The states of the global generators of numpy and imgaug."""
    return repr((np.random.get_state(), imgaug.random.get_global_rng().state))  # noqa: NPY002


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_neither_the_global_random_states_nor_the_image_are_changed(call: tuple[str, str, str]) -> None:
    image, results = sample_image(), []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        imgaug.random.seed(seed)
        before = states()
        results.append(corrupted(call, 3, 5, image))
        assert states() == before
    first, again = results
    np.testing.assert_array_equal(again, first)
    np.testing.assert_array_equal(image, sample_image())
    assert not np.shares_memory(first, image)
    assert first.flags.writeable


@pytest.mark.parametrize("call", CALLS, ids=" ".join)
def test_the_seed_changes_random_corruptions_only(call: tuple[str, str, str]) -> None:
    seeds = (0, 1, 2**32 + 1, 2**63 - 1, 12, 13)
    different = {pixel_hash([corrupted(call, 3, seed)]) for seed in seeds}
    if type_of(call[2], call[1]).noise is None:
        assert len(different) == 1
    else:
        # Some have little randomness: a sign, one of a few positions.
        assert len(different) > 1


def test_the_seed_is_named_and_all_arguments_may_be() -> None:
    image = sample_image()
    with pytest.raises(TypeError, match="positional"):
        corrupt(image, "fog", 3, 1)  # type: ignore[misc]
    named = corrupt(image=image, name="fog", severity=3, seed=1)
    assert np.array_equal(named, corrupt(image, "fog", 3, seed=1))


def test_severity_0_returns_a_copy_of_the_image() -> None:
    image = sample_image(3, 5)
    for suite, name in (*KERNELS, ("imagenet-c", "clean")):
        result = corrupt(image, name, 0, seed=1, suite=suite)
        np.testing.assert_array_equal(result, image)
        assert not np.shares_memory(result, image)


@given(
    call=st.sampled_from(CALLS),
    severity=st.integers(1, 5),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    content=st.sampled_from(["colour", "grey", "black", "white", "two-tone"]),
    seed=st.integers(0, 2**63 - 1),
)
@settings(max_examples=200)
def test_any_image_keeps_its_shape(
    call: tuple[str, str, str], severity: int, height: int, width: int, content: str, seed: int
) -> None:
    severities = SUITES[call[1]].severities
    generator = np.random.default_rng(seed)
    image = {
        "colour": lambda: generator.integers(0, 256, (height, width, 3), np.uint8),
        "grey": lambda: generator.integers(0, 256, (height, width, 1), np.uint8),
        "black": lambda: np.zeros((1, 1, 3), np.uint8),
        "white": lambda: np.full((1, 1, 3), 255, np.uint8),
        "two-tone": lambda: generator.integers(0, 2, (height, width, 1), np.uint8) * 255,
    }[content]()
    image = np.broadcast_to(image, (height, width, 3))  # not writeable, not contiguous
    result = corrupted(call, min(severity, severities[-1]), seed, image)
    if type_of(call[2], call[1]).resizes:
        assert result.shape[2] == 3
        assert 0 not in result.shape
    else:
        assert result.shape == image.shape
    assert result.dtype == np.uint8
    assert result.flags.c_contiguous


def test_a_small_image_is_padded_by_mirroring() -> None:
    # A slope that is mirrored at its edges stays a slope near its middle, and a blur leaves that alone.
    image = np.repeat(np.arange(0, 250, 10, np.uint8)[None, :, None], 20, axis=0).repeat(3, axis=2)
    blurred = corrupt(image, "gaussian_blur", 1, seed=0)
    assert blurred.shape == (20, 25, 3)
    middle = np.abs(blurred[:, 8:17].astype(int) - image[:, 8:17])
    assert middle.max() <= 1


def test_spatter_without_a_drop_leaves_the_image_as_it_is() -> None:
    image = np.full((32, 32, 3), 128, np.uint8)
    means = [corrupt(image, "spatter", 1, seed=seed, engine="imgaug").mean() for seed in range(400)]
    # The package's own 0/0 would give a mean of 0.
    assert min(means) == 128
    assert np.median(means) > 129


@pytest.mark.parametrize(
    ("image", "name", "severity", "seed", "error", "match"),
    [
        (sample_image().astype(np.float32), "fog", 1, 0, TypeError, "float32"),
        (sample_image()[..., 0], "fog", 1, 0, ValueError, r"\[40, 56\]"),
        (sample_image()[:0], "fog", 1, 0, ValueError, r"\[0, 56, 3\]"),
        *((np.zeros((9, 9, n), np.uint8), "fog", 1, 0, ValueError, rf"\[9, 9, {n}\]") for n in (1, 4)),
        (sample_image()[None], "fog", 1, 0, ValueError, r"\[1, 40, 56, 3\]"),
        (sample_image()[..., None], "fog", 1, 0, ValueError, r"\[40, 56, 3, 1\]"),
        (sample_image() > 9, "fog", 1, 0, TypeError, "must be uint8, not bool"),
        (sample_image(), "frogg", 1, 0, ValueError, "did you mean 'fog'"),
        (sample_image(), "fog", 6, 0, ValueError, "severities 0, 1, 2, 3, 4, 5, not 6"),
        (sample_image(), "fog", True, 0, ValueError, "not True"),
        (sample_image(), "fog", 2.0, 0, ValueError, r"not 2\.0"),
        (sample_image(), "fog", False, 0, ValueError, "not False"),
        (sample_image(), "fog", 1, None, TypeError, "a seed must be an integer, not None"),
        (sample_image(), "fog", 1, 1.0, TypeError, r"a seed must be an integer, not 1\.0"),
        ([[[0, 0, 0]]], "fog", 1, 0, TypeError, "a NumPy array, .* not a list"),
        (sample_image(), "clean", 1, 0, ValueError, "severities 0, not 1"),
        (sample_image(), "fog", 1, -1, ValueError, "at least 0, not -1"),
    ],
)
def test_bad_input_is_refused(
    image: Pixels, name: str, severity: int, seed: int, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        corrupt(image, name, severity, seed=seed)


def test_an_unknown_suite_or_engine_is_refused_and_numpy_integers_are_accepted() -> None:
    with pytest.raises(ValueError, match="unknown suite 'mine'"):
        corrupt(sample_image(), "fog", 1, seed=0, suite="mine")
    for name in ("fog", "clean"):
        with pytest.raises(ValueError, match="unknown engine 'imaug'; choose one of benchc, imgaug"):
            corrupt(sample_image(), name, 0, seed=0, engine="imaug")
    expected = corrupt(sample_image(), "gaussian_noise", 2, seed=2**63)
    found = corrupt(sample_image(), "gaussian_noise", np.int64(2), seed=np.uint64(2**63))
    np.testing.assert_array_equal(found, expected)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(hashes(), indent=1) + "\n")
