import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.errors import InputError
from benchc.schemas.grid import grid_rows, in_cells, missing_keys, rows_of

IDS = ["b", "a"]
CELLS = [("snow", 3), ("clean", 0), ("fog", 5)]  # no product of corruptions and severities
KEYS = [(id_, *cell) for id_ in IDS for cell in CELLS]


def table(keys: list[tuple[str, str, int]]) -> pl.DataFrame:
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64}
    return pl.DataFrame(keys, schema=schema, orient="row")


@given(st.permutations(range(len(KEYS))))
def test_rows_are_found_in_any_order(order):
    found = grid_rows(table([KEYS[number] for number in order]), IDS, CELLS, "score", mend="mend it")
    assert found.shape == (2, 3)
    assert np.array(order)[found].ravel().tolist() == [*range(len(KEYS))]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (KEYS[1:], r"^m: 1 missing score: \(b, snow, 3\); fill it$"),
        ([], r"^m: 6 missing scores: \(a, clean, 0\), .*, …; fill it$"),
        ([*KEYS, KEYS[0]], r"^m: 1 repeated score: \(b, snow, 3\); mend it$"),
        ([*KEYS[1:], KEYS[1]], r"^m: 1 repeated score: \(b, clean, 0\); mend it$"),
        ([*KEYS, ("c", "snow", 3)], r"^m: 1 unexpected score: \(c, snow, 3\); mend it$"),
        # Also where the corruption and the severity exist, but not together.
        *(
            (
                [*KEYS[:place], *KEYS[place + 1 :], ("b", *cell)],
                rf"^m: 1 unexpected score: \(b, {cell[0]}, {cell[1]}\); mend it$",
            )
            for cell in (("rain", 3), ("snow", 5), ("snow", 4), ("snow", None))
            for place in range(len(CELLS))
        ),
    ],
)
def test_other_rows_are_refused(keys, message):
    with pytest.raises(InputError, match=message):
        grid_rows(table(keys), IDS, CELLS, what="m: score", mend="mend it", fill="fill it")


def test_missing_keys_are_sorted_and_rows_of_other_cells_can_be_left_out():
    rows = in_cells(table([*KEYS[1:4], ("c", "rain", 1)]), CELLS)
    assert rows.rows() == KEYS[1:4]
    missing = missing_keys(rows, IDS, CELLS, what="score", mend="mend it")
    assert missing.rows() == [("a", "clean", 0), ("a", "fog", 5), ("b", "snow", 3)]
    wanted = table(KEYS[3:0:-1])
    assert rows_of(rows, wanted, what="score", mend="mend it").equals(wanted)
