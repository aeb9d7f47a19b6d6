"""R-Bench's strengths and 33 dimensions in 7 steps and 7 groups (Table 2 of the paper)."""

from typing import NamedTuple

from benchc.corruptions.suites.r_bench import R_BENCH, R_BENCH_INDEX

STRENGTHS = {1: "low", 2: "mid", 3: "high"}
STEP_LABELS = {
    "environment_interference": "EI",
    "camera_interference": "CI",
    "analog_to_digital": "AD",
    "source_encoding": "SE",
    "channel_transmission": "CT",
    "receiver_decoding": "RD",
    "enhancement_postprocess": "EP",
}
# In the order of Table 4.
GROUP_LABELS = {
    "blur": "Blur",
    "luminance": "Luminance",
    "chrominance": "Chrominance",
    "spatial": "Spatial",
    "noise": "Noise",
    "compression": "Compression",
    "wild": "Wild",
}
STAND_IN = "_stand_in"


class Dimension(NamedTuple):
    """A dimension.

    Attributes:
        name: the corruption's
        number: the paper's, 1 to 33
        step: a key of STEP_LABELS
        group: a key of GROUP_LABELS
        stand_in: whether it is a synthetic substitute for what the authors photographed
    """

    name: str
    number: int
    step: str
    group: str
    stand_in: bool


def dimension(corruption: str) -> Dimension:
    """Return the dimension of a corruption; raises KeyError for one outside the suite r-bench."""
    step = next(step for step, names in R_BENCH.steps.items() if corruption in names)
    group = next(
        group for group, types in R_BENCH.groups.items() if corruption in (type_.name for type_ in types)
    )
    return Dimension(corruption, R_BENCH_INDEX[corruption], step, group, corruption.endswith(STAND_IN))
