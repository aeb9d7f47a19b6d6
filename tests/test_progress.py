"""Progress lines in a log."""

import pytest

from benchc import progress


@pytest.fixture
def slow_clock(monkeypatch):
    """A clock that advances by 6 seconds per call."""
    times = iter(range(0, 10_000, 6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(times))


def test_a_line_comes_every_ten_seconds_and_at_the_end(slow_clock, capsys):
    assert list(progress.track("abcd", label="letters", unit="items")) == list("abcd")
    assert capsys.readouterr().err.splitlines() == [
        "letters: 2 of 4 items, 0.2 items/s, 12 s left",
        "letters: 4 of 4 items, 0.2 items/s",
        "letters: 4 of 4 items, 0.1 items/s",
    ]


def test_an_unknown_total_is_left_out(slow_clock, capsys):
    assert list(progress.track(iter("abc"), label="letters", unit="items")) == list("abc")
    assert capsys.readouterr().err.splitlines()[0] == "letters: 2 items, 0.2 items/s"


def test_short_work_prints_nothing(capsys):
    assert list(progress.track([1, 2], label="x", unit="items")) == [1, 2]
    assert capsys.readouterr().err == ""
