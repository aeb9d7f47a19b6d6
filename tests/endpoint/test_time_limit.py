import time
from contextvars import Context
from types import SimpleNamespace

import httpx2 as httpx
import pytest

from benchc.endpoint import time_limit
from benchc.endpoint.time_limit import TRACE, Window, limited


class Stream:
    """A connection that notes how long it may wait, and gives a byte each time."""

    def __init__(self) -> None:
        self.waits: list[float | None] = []

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.waits.append(timeout)
        return b"x"

    def write(self, data: bytes, timeout: float | None = None) -> None:
        self.waits.append(timeout)


@pytest.mark.parametrize("event", ["connection.connect_tcp.complete", "proxy.start_tls.complete"])
def test_reads_and_writes_wait_no_longer_than_the_window(event: str) -> None:
    # Without the window that a download of an earlier test has left to this thread.
    Context().run(_wait_in_and_after_a_window, event)


def _wait_in_and_after_a_window(event: str) -> None:
    stream = Stream()
    TRACE["trace"](event, {"return_value": stream})
    assert stream.read(10, timeout=3.0) == b"x" and stream.waits == [3.0]
    with limited(Window(0.2)):
        assert stream.read(max_bytes=10) == b"x"
        stream.write(b"data", timeout=0.01)
        assert stream.waits[1] is not None and 0 < stream.waits[1] <= 0.2 and stream.waits[2] == 0.01
        time.sleep(0.2)
        for call in (stream.read, stream.write):
            with pytest.raises(httpx.ReadTimeout, match=r"^1 bytes in 0\.2 seconds$"):
                call(b"data")
    stream.read(10)
    assert stream.waits[3:] == [None]


def test_a_rate_is_measured_in_one_window_after_the_other() -> None:
    stream = Stream()
    TRACE["trace"]("connection.connect_tcp.complete", {"return_value": stream})
    with limited(Window(0.1, 10)):
        for reads in (1, 2, 1):
            for _ in range(reads):
                stream.read(10)
            time.sleep(0.11)
        stream.read(10, timeout=5.0)
        assert stream.waits == [0.1] * 5
    with limited(Window(0.1, 30)):
        stream.read(10)
        time.sleep(0.11)
        with pytest.raises(httpx.ReadTimeout, match=r"1 bytes in .* seconds, less than 30 a second"):
            stream.read(10)


def test_a_window_is_over_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 9.0, 10.0])
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    window = Window(10.0)
    assert window.most() == 1.0
    with pytest.raises(httpx.ReadTimeout):
        window.most()
