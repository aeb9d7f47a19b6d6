"""Progress of long work: a bar on a terminal, plain log lines elsewhere."""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tqdm import tqdm

Element = TypeVar("Element")

# A log file gets a line every few seconds instead of a bar, and none for short work.
SECONDS_BETWEEN_LINES = 10.0
MIN_SECONDS = 1.0


def track(
    iterable: Iterable[Element], *, label: str, unit: str, total: int | None = None
) -> Iterator[Element]:
    """Yield the elements of ``iterable`` while count, rate and time left are printed to standard error."""
    if total is None and isinstance(iterable, Sized):
        total = len(iterable)
    if sys.stderr.isatty():
        yield from tqdm(iterable, desc=label, unit=unit, total=total)
        return
    start = last = time.monotonic()
    count = 0
    for count, element in enumerate(iterable, start=1):
        yield element
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LINES:
            last = now
            print(_line(label, unit, count, total, now - start), file=sys.stderr, flush=True)
    seconds = time.monotonic() - start
    if seconds >= MIN_SECONDS:
        print(_line(label, unit, count, count, seconds), file=sys.stderr, flush=True)


def _line(label: str, unit: str, count: int, total: int | None, seconds: float) -> str:
    rate = count / seconds if seconds > 0 else 0.0
    line = f"{label}: {count:,}{f' of {total:,}' if total is not None else ''} {unit}, {rate:,.1f} {unit}/s"
    if total is not None and total > count and rate > 0:
        line += f", {(total - count) / rate:,.0f} s left"
    return line
