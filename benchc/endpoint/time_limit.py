"""A limit of time for all that a server sends, as HTTP libraries limit only the wait for its next bytes."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpx2 as httpx


class Window:
    """Seconds in which a server must send all; with ``least_rate``, bytes a second, in each such window."""

    def __init__(self, seconds: float, least_rate: float = math.inf) -> None:
        self.seconds = seconds
        self.least_rate = least_rate
        self._begin()

    def most(self) -> float:
        """Return the most seconds to wait for the next bytes. Raises ReadTimeout where too few have come."""
        left = self._end - time.monotonic()
        if left <= 0:
            if self.received < self.least_rate * self.seconds:
                rate = "" if math.isinf(self.least_rate) else f", less than {self.least_rate:g} a second"
                raise httpx.ReadTimeout(f"{self.received:,} bytes in {self.seconds:,.1f} seconds{rate}")
            self._begin()
        return left if math.isinf(self.least_rate) else self.seconds

    def _begin(self) -> None:
        self._end = time.monotonic() + self.seconds
        self.received = 0


_window: ContextVar[Window | None] = ContextVar("window", default=None)


@contextmanager
def limited(window: Window) -> Iterator[None]:
    """Give the requests that this thread makes in the block a limit; each needs the extension ``TRACE``."""
    before = _window.set(window)
    try:
        yield
    finally:
        _window.reset(before)


def begin(window: Window) -> None:
    """Give the requests that this thread makes from now on a limit."""
    _window.set(window)


def _bounded(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a connection's method ``read`` or ``write``, which waits until the window ends at most."""

    def bounded(*data: Any, timeout: float | None = None, **more: Any) -> Any:
        window = _window.get()
        if window is None:
            return call(*data, timeout=timeout, **more)
        most = window.most()
        found = call(*data, timeout=most if timeout is None else min(most, timeout), **more)
        window.received += len(found or b"")
        return found

    return bounded


def _trace(event: str, info: Mapping[str, Any]) -> None:
    # Also of a connection that later requests use again.
    if event.endswith(("connect_tcp.complete", "start_tls.complete")):
        stream = info["return_value"]
        stream.read, stream.write = _bounded(stream.read), _bounded(stream.write)


# The `extensions` of a request.
TRACE = {"trace": _trace}
