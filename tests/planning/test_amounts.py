"""Sums of numbers, their certainty, and their text."""

import pytest

from benchc.planning.amounts import Amount, digits_text, disk_text, hours_text, total


def test_a_sum_is_as_certain_as_its_least_certain_part() -> None:
    exact, bound, estimate = Amount(1), Amount(2, "at most"), Amount(4, "estimate")
    assert total([exact, exact]) == Amount(2)
    assert total([bound, exact]) == Amount(3, "at most")
    assert total([exact, estimate, bound]) == Amount(7, "estimate")
    assert total([exact, Amount(None)]).certainty == "unknown"
    assert total([]) == Amount(0)


def test_a_product_is_as_certain_as_its_less_certain_factor() -> None:
    assert Amount(3).times(2) == Amount(6)
    assert Amount(3).times(Amount(2, "at most")) == Amount(6, "at most")
    assert Amount(3, "estimate").times(Amount(2, "at most")) == Amount(6, "estimate")
    assert Amount(3, "at most").times(Amount(None)) == Amount(None).times(Amount(3, "at most"))


def test_a_limit_bounds_an_unknown_amount() -> None:
    assert Amount(None).capped(7) == Amount(7, "at most")
    assert Amount(9).capped(7) == Amount(7) and Amount(5, "at most").capped(7) == Amount(5, "at most")
    assert Amount(5).minus(7) == Amount(0) and Amount(None).minus(7).value is None


def test_signs_mark_what_is_not_exact() -> None:
    assert [Amount(1234, kind).text() for kind in ("exact", "at most", "estimate")] == [
        "1,234",
        "≤ 1,234",
        "≈ 1,234",
    ]
    assert Amount(0.001, "estimate").text(hours_text) == "< 1 min"
    assert (Amount(0, "at most").text(), Amount(None, "at most").text()) == ("0", "unknown")


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        (0, "0 min"),
        (0.0164, "< 1 min"),
        (1 / 60, "1 min"),
        (0.0316, "1.9 min"),
        (0.5, "30 min"),
        (0.9, "54 min"),
        (1, "1 h"),
        (2.345, "2.3 h"),
        (9.4, "9.4 h"),
        (1234.5, "1,234 h"),
    ],
)
def test_short_times_are_in_minutes(hours: float, text: str) -> None:
    assert hours_text(hours) == text


def test_disk_is_in_gb() -> None:
    assert [disk_text(size * 1e9) for size in (0.378, 1234.5, 1235.5)] == ["0.38 GB", "1,234 GB", "1,236 GB"]
    assert (disk_text(99.6e9), disk_text(9.4e9)) == ("100 GB", "9.4 GB")
    sizes = (0, 1e6, 999_999, 125_000, 100, 1)
    texts = ["0 GB", "0.001 GB", "1 MB", "0.12 MB", "0.0001 MB", "< 0.0001 MB"]
    assert [disk_text(size) for size in sizes] == texts


def test_numbers_have_no_exponent() -> None:
    numbers = (0, 5e-5, 1e-4, 0.00123, 3, 9.96, 12.4, 128, 12_345)
    texts = ["0", "< 0.0001", "0.0001", "0.0012", "3", "10", "12", "128", "12,345"]
    assert [digits_text(number) for number in numbers] == texts
    assert [digits_text(number, 3) for number in (0.01234, 12.34, 45.67, 99.96, 1020)] == [
        *("0.0123", "12.3", "45.7", "100", "1,020"),
    ]
