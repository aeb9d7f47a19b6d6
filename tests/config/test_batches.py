"""Inference batches hold every corruption once, and clean first."""

import pytest
import yaml

from benchc.config.batches import batches
from benchc.config.settings import Settings
from tests.config.trial import CONFIG


def settings(batch: str) -> Settings:
    raw = yaml.safe_load(CONFIG)
    raw["inference"]["batch"] = batch
    return Settings.model_validate(raw)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        ("all", {"all": ["clean", "snow", "fog", "pixelate"]}),
        ("family", {"weather": ["clean", "snow", "fog"], "digital": ["pixelate"]}),
        ("corruption", {"snow": ["clean", "snow"], "fog": ["fog"], "pixelate": ["pixelate"]}),
    ],
)
def test_batches(batch: str, expected: dict[str, list[str]]) -> None:
    assert batches(settings(batch)) == expected
    assert list(batches(settings(batch))) == list(expected)
