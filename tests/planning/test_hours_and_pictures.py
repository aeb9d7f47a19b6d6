"""Hours are seconds of measured jobs over what they computed; pictures and disk are counts of images."""

import pytest

from benchc.planning.hours import Job, Price, device_hours, seconds_per_read
from benchc.planning.known import Images, Known
from benchc.planning.pictures import pictures
from benchc.planning.reads import UNKNOWN, Amount
from tests.planning.plans import settings_of

# The pool's items show 2 of 12 images twice, the benchmark's one of 5.
POOL_IMAGES = {"pool_images": Images(14, 3.5), "pool_distinct": Images(12, 3.0)}
IMAGES = {**POOL_IMAGES, "kept_images": Images(6, 1.2), "kept_distinct": Images(5, 1.0)}


def test_a_read_costs_what_jobs_took_over_what_they_computed() -> None:
    jobs = {
        "a": [Job(30.0, 100, 100), Job(12.0, 100, 95)],
        "resumed": [Job(5.0, 100, 89)],
        "both": [Job(5.0, 100, 0), Job(8.0, 40, 40)],
        "empty": [Job(5.0, 0, 0)],
    }
    assert seconds_per_read(jobs) == {"a": Price(42 / 195, 195), "both": Price(0.2, 40)}


def test_a_job_that_computed_little_counts_only_where_no_other_computed_more() -> None:
    large, small, exact = Job(100.0, 1000, 1000), Job(5.0, 15, 15), Job(60.0, 500, 500)
    found = seconds_per_read({"a": [small, large], "b": [small, small], "c": [exact, Job(1.0, 499, 499)]})
    assert found == {"a": Price(0.1, 1000), "b": Price(1 / 3, 30), "c": Price(0.12, 500)}
    assert [price.few for price in found.values()] == [False, True, False]
    assert not Price(2.0).few  # given, not measured


def test_hours_need_every_price_and_count() -> None:
    prices = {"a": Price(0.5), "b": Price(2.0, 30)}
    assert device_hours({"a": 7200, "b": 900}, prices) == pytest.approx(1.5)
    assert device_hours({"a": 7200, "c": 1}, prices) is None
    assert device_hours({"a": None}, prices) is None
    assert device_hours({"a": 7200, "c": 0}, prices) == pytest.approx(1.0)  # nothing to read costs nothing


def test_files_hold_the_pool_in_all_variants() -> None:
    known = Known(10, True, 4, **IMAGES)
    embedded, corrupted = pictures(settings_of("demo"), known)
    assert (embedded.made, embedded.disk) == (Amount(14, "exact"), None)
    assert corrupted.made == Amount(12 * 96, "exact")
    assert corrupted.disk == Amount(round(3.0 * 96 * 1.11e6), "assumed")


def test_on_the_fly_only_the_benchmark_is_written() -> None:
    settings = settings_of("config")
    known = Known(10, True, 4, **IMAGES)
    _, made, written = pictures(settings, known)
    assert (made.made, made.disk) == (Amount(3 * 14 * 96, "exact"), None)
    assert (written.made, written.disk) == (Amount(5 * 96, "exact"), Amount(106_560_000, "assumed"))
    _, _, before = pictures(settings, Known(10, True, **POOL_IMAGES))
    assert before.items == Amount(10, "at most")
    assert (before.made, before.disk) == (Amount(12 * 96, "at most"), Amount(319_680_000, "assumed bound"))


def test_written_files_are_measured_and_missing_pools_unknown() -> None:
    known = Known(10, True, 4, **IMAGES, corrupted_bytes=77)
    assert pictures(settings_of("demo"), known)[-1].disk == Amount(77, "exact")
    assert pictures(settings_of("config"), known)[-1].disk == Amount(77, "exact")
    embedded, corrupted = pictures(settings_of("demo"), Known())
    assert embedded.made == corrupted.made == corrupted.disk == UNKNOWN
