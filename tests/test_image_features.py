"""Low-level features, against OpenCV and images whose features are known."""

import cv2
import numpy as np
import pytest

from benchc.image_features import image_features
from tests.corruptions.photos import photo

FLAT = np.full((20, 30, 3), 90, np.uint8)


def test_a_grey_image_has_its_light_and_nothing_else():
    assert image_features(FLAT) == {
        "light": pytest.approx(90),
        "contrast": pytest.approx(0, abs=1e-9),
        "colour": 0,
        "sharpness": pytest.approx(0, abs=1e-9),
        "spatial_information": pytest.approx(0, abs=1e-9),
    }


def test_features_of_a_photograph_are_those_of_opencv():
    image = photo("coffee", 120, 160)
    found = image_features(image)
    luma = image @ [0.299, 0.587, 0.114]
    assert found["light"] == pytest.approx(luma.mean()) and found["contrast"] == pytest.approx(luma.std())
    border = {"borderType": cv2.BORDER_REPLICATE}
    laplacian = cv2.Laplacian(luma, cv2.CV_64F, ksize=1, **border)
    assert found["sharpness"] == pytest.approx(np.log10(1 + laplacian.var()))
    gradient = np.hypot(*(cv2.Sobel(luma, cv2.CV_64F, dx, 1 - dx, ksize=3, **border) for dx in (0, 1)))
    assert found["spatial_information"] == pytest.approx(gradient.std())


def test_colourfulness_of_two_colours():
    # Half red, half blue: rg is 200 or 0, yb is 100 or -200.
    image = np.zeros((4, 4, 3), np.uint8)
    image[:2, :, 0], image[2:, :, 2] = 200, 200
    expected = np.hypot(100, 150) + 0.3 * np.hypot(100, -50)
    assert image_features(image)["colour"] == pytest.approx(expected)


def test_blur_lowers_sharpness_and_noise_raises_it():
    image = photo("coffee", 120, 160)
    blurred = cv2.GaussianBlur(image, (0, 0), 4)
    noise = np.random.default_rng(1).normal(0, 30, image.shape)
    noisy = np.clip(image + noise, 0, 255).astype(np.uint8)
    values = [image_features(each)["sharpness"] for each in (blurred, image, noisy)]
    assert values == sorted(values) and values[0] < values[2]
