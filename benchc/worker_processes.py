"""Map a function over processes, in order, with a bounded number of waiting results."""

import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Literal, TypeVar

import cv2

from benchc.errors import InputError
from benchc.ordered_map import ordered_map

Argument = TypeVar("Argument")
Result = TypeVar("Result")

# Of a folder for temporary files, in bytes: the path of a socket in it has 32 more, and at most 107.
LONGEST_FOLDER = 75
# Calls per worker, so that none is idle while the first call is slow.
WAITING = 3


def map_in_processes(
    function: Callable[[Argument], Result],
    arguments: Iterable[Argument],
    workers: int,
    start: Literal["spawn", "fork"] = "spawn",
) -> Iterator[Result]:
    """Yield ``function`` of every argument, in order, from ``workers`` processes.

    With no workers, the function runs in this process. Arguments are taken as needed. An error of the
    function is raised in place of its result, once the running calls have ended; InputError where a worker
    was killed. ``start``: "fork" gives the workers all that this process has in memory, but polars, whose
    threads do not survive it.
    """
    # Here as well, since a fork cannot end the threads that OpenCV has in this process, and waits forever.
    cv2.setNumThreads(1)
    if not workers:
        yield from map(function, arguments)
        return
    context = multiprocessing.get_context(start)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start)
    try:
        yield from ordered_map(function, arguments, pool, WAITING * workers)
    except BrokenProcessPool as error:
        raise InputError(
            "a process that prepares images was killed, probably since the memory was full, or the limit on "
            "open files reached (ulimit -n); give the job more memory, or fewer threads"
        ) from error


def _start() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Tensors are passed on through a socket in this folder.
    if len(os.fsencode(tempfile.gettempdir())) > LONGEST_FOLDER:
        tempfile.tempdir = "/tmp"
    # The workers use all cores already.
    cv2.setNumThreads(1)


def _end_with_parent() -> None:
    """Exit when the parent process is killed: workers would otherwise wait for work forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
