import importlib

import imagecorruptions
import numpy as np
import pytest
from scipy.stats import poisson

from benchc.corruptions.fields import normal_quantiles
from benchc.corruptions.kernels import noise
from benchc.corruptions.registry import type_of
from tests.corruptions.likeness import assert_same_distribution, assert_same_pixels
from tests.corruptions.photos import PHOTOS, photo

NAMES = ("gaussian_noise", "speckle_noise", "shot_noise", "impulse_noise")
SEVERITIES = (1, 2, 3, 4, 5)
LEVELS = np.repeat(np.arange(256, dtype=np.uint8), 8 * 3).reshape(32, 64, 3)
# Not an attribute of skimage.util, which lists the module's functions instead.
SKIMAGE_NOISE = importlib.import_module("skimage.util.noise")


def draw(name, image, seed=0):
    type_ = type_of(name)
    generator = np.random.Generator(np.random.SFC64(seed))
    return getattr(noise, type_.noise)(generator, *image.shape[:2], **type_.at(1))


def ours(name, image, field, severity):
    return getattr(noise, name)(image, field, **type_of(name).at(severity))


def reference(name, image, severity, **keywords):
    return imagecorruptions.corrupt(image, corruption_name=name, severity=severity, **keywords)


def feed(monkeypatch, name, field, severity):
    """Make the next call of imagecorruptions use ``field``, converted for its random functions."""
    if name in ("gaussian_noise", "speckle_noise"):
        normal = normal_quantiles()[field].astype(np.float64)
        monkeypatch.setattr(np.random, "normal", lambda size, scale: normal * scale)
        return
    uniform = (field + 0.5) / 2**32
    if name == "shot_noise":
        monkeypatch.setattr(np.random, "poisson", lambda rate: poisson.ppf(uniform, rate))
        return
    amount = type_of(name).at(severity)["amount"]
    answers = iter([uniform < amount, uniform < amount / 2])
    monkeypatch.setattr(SKIMAGE_NOISE, "_bernoulli", lambda p, shape, *, rng: next(answers))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [(48, 64), (128, 128), (240, 320)])
@pytest.mark.parametrize("severity", SEVERITIES)
def test_the_same_field_gives_the_pixels_of_imagecorruptions(monkeypatch, name, size, severity):
    image = photo(PHOTOS[severity], *size)
    field = draw(name, image)
    result = ours(name, image, field, severity)
    feed(monkeypatch, name, field, severity)
    assert_same_pixels(result, reference(name, image, severity))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("severity", [1, 5])
def test_noise_has_the_distribution_of_imagecorruptions(monkeypatch, name, severity):
    # On a bright photo all four change the mean by levels, and 100 samples resolve 3 % of that.
    image = 255 - photo("motorcycle", 96, 128) // 4

    def of_reference(seed):
        generator = np.random.default_rng(seed)
        monkeypatch.setattr(np.random, "normal", generator.normal)
        monkeypatch.setattr(np.random, "poisson", generator.poisson)
        return reference(name, image, severity, **({"seed": seed} if name == "impulse_noise" else {}))

    def of_ours(seed):
        return ours(name, image, draw(name, image, seed), severity)

    assert_same_distribution(of_ours, of_reference, image)


@pytest.mark.parametrize("photons", [1, 3, 5, 12, 25, 60, 255])
def test_shot_noise_is_the_poisson_quantile_at_every_level_and_in_the_tails(photons):
    cells = np.array([0, 1, 2**24 - 1, 2**24, 2**31, 2**32 - 2**24, 2**32 - 2, 2**32 - 1], np.uint32)
    field = np.tile(np.repeat(cells, 3), 256).reshape(LEVELS.shape)
    counts = poisson.ppf((field + 0.5) / 2**32, LEVELS / 255 * photons)
    expected = (np.clip(counts / photons, 0, 1) * 255).astype(np.uint8)
    np.testing.assert_array_equal(noise.shot_noise(LEVELS, field, photons=photons), expected)


@pytest.mark.parametrize("photons", [0, 256])
def test_shot_noise_refuses_more_photons_than_its_tables_have(photons):
    with pytest.raises(ValueError, match=f"1 to 255 photons at white, not {photons}"):
        noise.shot_noise(LEVELS, draw("shot_noise", LEVELS), photons=photons)


@pytest.mark.parametrize("amount", [0.0, 0.27, 1.0])
def test_impulse_noise_replaces_the_given_share(amount):
    image = np.full((256, 256, 3), 128, np.uint8)
    result = noise.impulse_noise(image, draw("impulse_noise", image), amount=amount)
    shares = [(result == level).mean() for level in (0, 128, 255)]
    assert shares == pytest.approx([amount / 2, 1 - amount, amount / 2], abs=0.005)
