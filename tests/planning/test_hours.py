"""Hours are seconds of measured jobs over what they computed."""

import pytest

from benchc.planning.hours import Job, Price, device_hours, seconds_per_prediction


def test_a_read_costs_what_jobs_took_over_what_they_computed() -> None:
    jobs = {
        "a": [Job(30.0, 100, 100), Job(12.0, 100, 95)],
        "resumed": [Job(5.0, 100, 89)],
        "both": [Job(5.0, 100, 0), Job(8.0, 40, 40)],
        "empty": [Job(5.0, 0, 0)],
    }
    assert seconds_per_prediction(jobs) == {"a": Price(42 / 195, 195), "both": Price(0.2, 40)}


def test_a_job_that_computed_little_counts_only_where_no_other_computed_more() -> None:
    large, small, exact = Job(100.0, 1000, 1000), Job(5.0, 15, 15), Job(60.0, 500, 500)
    found = seconds_per_prediction(
        {"a": [small, large], "b": [small, small], "c": [exact, Job(1.0, 499, 499)]}
    )
    assert found == {"a": Price(0.1, 1000), "b": Price(1 / 3, 30), "c": Price(0.12, 500)}
    assert [price.few for price in found.values()] == [False, True, False]
    assert not Price(2.0).few  # given, not measured


def test_hours_need_every_price_and_count() -> None:
    prices = {"a": Price(0.5), "b": Price(2.0, 30)}
    assert device_hours({"a": 7200, "b": 900}, prices) == pytest.approx(1.5)
    assert device_hours({"a": 7200, "c": 1}, prices) is None
    assert device_hours({"a": None}, prices) is None
    assert device_hours({"a": 7200, "c": 0}, prices) == pytest.approx(1.0)  # nothing to read costs nothing
