import threading
import time

import pytest

from benchc.prefetch import prefetch


def test_elements_are_in_order_and_a_few_are_computed_ahead():
    made = []

    def numbers():
        for number in range(20):
            made.append(number)
            yield number

    stream = prefetch(numbers(), ahead=3)
    assert next(stream) == 0
    time.sleep(0.3)
    # One in use, three waiting, one being put.
    assert made == [0, 1, 2, 3, 4]
    assert list(stream) == list(range(1, 20))


def test_an_error_is_raised_at_its_place():
    def numbers():
        yield 1
        raise ValueError("the second one")

    stream = prefetch(numbers(), ahead=5)
    assert next(stream) == 1
    with pytest.raises(ValueError, match="the second one"):
        next(stream)


def test_a_consumer_that_stops_leaves_no_thread_behind():
    before = threading.active_count()
    stream = prefetch(iter(range(10**9)), ahead=2)
    next(stream)
    stream.close()
    assert threading.active_count() == before
