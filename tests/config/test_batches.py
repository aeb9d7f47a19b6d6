"""Inference batches contain every corruption once, and clean first."""

import pytest

from benchc.config.batches import batches
from benchc.config.settings import Corruptions, Inference

CORRUPTIONS = Corruptions(
    suite="imagenet-c",
    engine="benchc",
    corrupted="files",
    alpha="drop",
    types=["snow", "fog", "pixelate"],
    severities=[1, 3, 5],
)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ("all", {"all": ["clean", "snow", "fog", "pixelate"]}),
        ("family", {"weather": ["clean", "snow", "fog"], "digital": ["pixelate"]}),
        ("corruption", {"snow": ["clean", "snow"], "fog": ["fog"], "pixelate": ["pixelate"]}),
    ],
)
def test_batches(batch: str, expected: dict[str, list[str]]) -> None:
    assert batches(CORRUPTIONS, Inference(batch=batch)) == expected
    assert list(batches(CORRUPTIONS, Inference(batch=batch))) == list(expected)
