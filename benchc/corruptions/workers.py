"""Spread work on images over processes, in order, with little of it waiting."""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

import cv2

Argument = TypeVar("Argument")
Result = TypeVar("Result")

# Per worker: enough that none is idle while the first in the order is slow.
WAITING = 3


def ordered_map(
    function: Callable[[Argument], Result], arguments: Iterable[Argument], workers: int
) -> Iterator[Result]:
    """Yield ``function`` of every argument, in order, from ``workers`` processes, or from this one if 1.

    Arguments are taken as they are needed. An error of the function is raised at its place, after the calls
    that have begun have ended.
    """
    if workers == 1:
        cv2.setNumThreads(1)
        yield from map(function, arguments)
        return
    # Polars' threads do not survive a fork.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_start) as pool:
        calls: deque[Future[Result]] = deque()
        try:
            for argument in arguments:
                calls.append(pool.submit(function, argument))
                if len(calls) >= WAITING * workers:
                    yield calls.popleft().result()
            while calls:
                yield calls.popleft().result()
        finally:
            for call in calls:
                call.cancel()


def _start() -> None:
    # Workers are how this work is spread over cores.
    cv2.setNumThreads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent is gone: a pool's workers wait for work for ever after a kill."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
