"""MLLM-IC's types change a photograph more at each severity."""

import pytest

from benchc.corruptions.suite import CorruptionType
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from speed.severity_ssim import median_distances, problems
from tests.corruptions.photos import PHOTOS, photo

# Those of ImageNet-C that do not grow as published: docs/corruptions.md.
AS_PUBLISHED = ("glass_blur", "spatter", "zoom_blur", "snow")
# Of 1 - SSIM: a square of a fifth of the side changes 2.4 %.
VISIBLE = 0.02


GROWING = [type_ for type_ in MLLM_IC.types() if type_.ordered and type_.name not in AS_PUBLISHED]


@pytest.mark.parametrize("type_", GROWING, ids=lambda type_: type_.name)
def test_the_median_ssim_falls_from_a_visible_severity_1(type_: CorruptionType) -> None:
    photos = [photo(name, 240, 320) for name in PHOTOS]
    distances = median_distances(type_, MLLM_IC.severities, photos)
    assert not problems(distances), distances
    assert distances[0] > VISIBLE
