"""The mean feature of pictures in each scenario."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from benchc.benchmarks.mllm_ic.run_outcomes import Scenario
from benchc.pixels import Pixels
from benchc.statistics.resampling import Floats


def mean_features(
    shown: Iterable[tuple[Scenario, Pixels]],
    encode: Callable[[Iterator[Pixels]], Iterator[npt.NDArray[np.float32]]],
) -> dict[Scenario, Floats]:
    """Return the mean feature of each scenario, float64[d]; pictures are taken one batch at a time.

    ``encode`` yields one vector for each picture, in order.
    """
    waiting: deque[Scenario] = deque()

    def pictures() -> Iterator[Pixels]:
        for scenario, picture in shown:
            waiting.append(scenario)
            yield picture

    sums: dict[Scenario, Floats] = {}
    counts: dict[Scenario, int] = {}
    for vector in encode(pictures()):
        scenario = waiting.popleft()
        sums[scenario] = sums.get(scenario, 0.0) + vector.astype(np.float64)
        counts[scenario] = counts.get(scenario, 0) + 1
    return {scenario: total / counts[scenario] for scenario, total in sums.items()}
