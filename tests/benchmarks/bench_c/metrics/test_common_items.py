import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.metrics.common_items import common_items
from benchc.errors import InputError


def table(*items: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": [f"s/{item}" for item in items for _ in range(2)], "severity": [1, 2] * len(items)}
    )


@given(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=4))
def test_common_items_keep_their_order(parts):
    scores = {f"m{number}": table(*sorted(part, reverse=True)) for number, part in enumerate(parts)}
    missing = {f"m{number}": 6 - len(part) for number, part in enumerate(parts)}
    common = set.intersection(*parts)
    if not any(missing.values()):
        assert common_items(scores, missing) == scores
    elif common:
        expected = table(*sorted(common, reverse=True))
        assert all(found.equals(expected) for found in common_items(scores, missing).values())
    else:
        message = f"none of the 6 selected items has all predictions of all {len(parts)}"
        with pytest.raises(InputError, match=message):
            common_items(scores, missing)


def test_tables_without_missing_predictions_are_returned_unchecked():
    scores = {"a": table(1, 2), "b": table(2, 3)}
    assert common_items(scores, {"a": 0, "b": 0}) == scores


@pytest.mark.parametrize(
    ("b", "missing", "message"),
    [
        (table(1, 2), 0, "a has 3 selected items and b 2"),
        (table(0, 1, 2), 1, "a has 3 selected items and b 4"),
        (table(2, 3), 1, "4 items were scored, but only 3 are selected"),
    ],
)
def test_tables_of_two_selections_are_refused(b, missing, message):
    with pytest.raises(InputError, match=message):
        common_items({"a": table(0, 1, 2)[:4], "b": b}, {"a": 1, "b": missing})
