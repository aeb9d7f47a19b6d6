"""Map a function over processes, in order, with a bounded number of waiting results."""

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

# Calls per worker, so that none is idle while the first call is slow.
WAITING = 3


def ordered_map(
    function: Callable[[Argument], Result], arguments: Iterable[Argument], workers: int
) -> Iterator[Result]:
    """Yield ``function`` of every argument, in order, from ``workers`` processes, or in this one if 1.

    Arguments are taken as needed. An error of the function is raised in place of its result, once the
    running calls have ended.
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
    # The workers use all cores already.
    cv2.setNumThreads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Exit when the parent process is killed: workers would otherwise wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
