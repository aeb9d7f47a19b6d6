"""Parts contain every corruption once, and clean first."""

import pytest

from benchc.config.corruption_batches import corruption_batches
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
    assert corruption_batches(CORRUPTIONS, Inference(corruptions_per_job=corruptions_per_job)) == expected
    assert list(corruption_batches(CORRUPTIONS, Inference(corruptions_per_job=corruptions_per_job))) == list(
        expected
    )


@pytest.mark.parametrize("corruptions_per_job", ["all", "group", "one"])
def test_without_corruptions_one_part_has_the_clean_images(corruptions_per_job: str) -> None:
    none = CORRUPTIONS.model_copy(update={"types": []})
    assert corruption_batches(none, Inference(corruptions_per_job=corruptions_per_job)) == {
        "clean": ["clean"]
    }
