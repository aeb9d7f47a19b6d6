"""Run a function in a process of its own, without network."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from benchc.errors import InputError
from benchc.models.hub.offline import OFFLINE


def in_child(module: str, function: str, *arguments: object) -> Any:
    """Return what ``function`` of ``module`` returns in a new process; ``arguments`` must be picklable.

    Only the new process imports the module, so that this one needs no torch, keeps its memory, and outlives
    a process that the system ends. The Hub is offline there: a check downloads no weights. Raises InputError
    for any error of the function, and where the process is ended.
    """
    try:
        with _offline(), ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            return pool.submit(_call, module, function, arguments).result()
    except BrokenProcessPool as error:
        raise InputError(
            "its process was ended by the system, probably because the memory is full; run the check on a "
            "machine with more"
        ) from error
    except InputError:
        raise
    except Exception as error:  # a model's code or its GPU may raise any type; the check goes on
        raise InputError(f"{type(error).__name__}: {' '.join(str(error).split())}") from error


def _call(module: str, function: str, arguments: tuple[object, ...]) -> Any:
    return getattr(import_module(module), function)(*arguments)


@contextmanager
def _offline() -> Iterator[None]:
    """Set the Hub offline for new processes; this one has read the variable when it imported the library."""
    before = os.environ.get(OFFLINE)
    os.environ[OFFLINE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[OFFLINE]
        else:
            os.environ[OFFLINE] = before
