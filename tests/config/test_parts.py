"""Parts contain every corruption once, and clean first."""

import pytest

from benchc.config.parts import parts
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
    ("corruptions_per_job", "expected"),
    [
        ("all", {"all": ["clean", "fog", "pixelate", "snow"]}),
        ("group", {"digital": ["clean", "pixelate"], "weather": ["fog", "snow"]}),
        ("one", {"fog": ["clean", "fog"], "pixelate": ["pixelate"], "snow": ["snow"]}),
    ],
)
def test_parts(corruptions_per_job: str, expected: dict[str, list[str]]) -> None:
    assert parts(CORRUPTIONS, Inference(corruptions_per_job=corruptions_per_job)) == expected
    assert list(parts(CORRUPTIONS, Inference(corruptions_per_job=corruptions_per_job))) == list(expected)
