"""Time the corruptions of a suite on one photograph of 640 x 480, in one thread, as Markdown.

    python speed/suite_times.py mllm-ic

Milliseconds of processor time of `benchc.corruptions.corrupt`, with sampling of the noise, the mean
over the severities of the smaller of two calls each. `benchc.corruptions.times` has these times.
"""

import os
import sys
import time
import warnings
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy's libraries load
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cv2
from machine import processor

from benchc.corruptions import corrupt
from benchc.corruptions.registry import suite_of
from benchc.images import Pixels
from tests.corruptions.photos import photo

HEIGHT, WIDTH = 480, 640


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python speed/suite_times.py SUITE")
    warnings.simplefilter("ignore")
    cv2.setNumThreads(1)
    suite = suite_of(sys.argv[1])
    image = photo("coffee", HEIGHT, WIDTH)
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {suite.name}, {WIDTH} x {HEIGHT}\n")
    print("| type | ms |")
    print("|---|---:|")
    for type_ in suite.types():
        if type_.kernel is not None:
            corrupt(image, type_.name, 1, seed=0, suite=suite)  # loads the kernel
            times = [min(call(image, type_.name, s, suite.name) for _ in range(2)) for s in suite.severities]
            print(f"| {type_.name} | {1000 * sum(times) / len(times):.1f} |", flush=True)


def call(image: Pixels, name: str, severity: int, suite: str) -> float:
    """Return the seconds of processor time of one call."""
    start = time.process_time()
    corrupt(image, name, severity, seed=1, suite=suite)
    return time.process_time() - start


if __name__ == "__main__":
    main()
