"""Names of dimensions as figures and pages print them."""

from benchc.benchmarks.r_bench.dimensions import STAND_IN, dimension

STAR = "*"
STAND_INS = f"{STAR} synthetic stand-in for what the authors photographed"


def named(corruption: str) -> str:
    """Return a dimension's number and name, with a star for a stand-in."""
    one = dimension(corruption)
    return f"{one.number} {one.name.removesuffix(STAND_IN).replace('_', ' ')}{STAR if one.stand_in else ''}"
