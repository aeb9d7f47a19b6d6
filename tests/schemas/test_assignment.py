import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.assignment import ASSIGNMENT, read_assignment
from benchc.schemas.parquet import write_table

ROWS = [("a", "blur", 3), ("b", "snow", 1), ("a", "blur", 1)]
RECIPES = {"clean": [0], "blur": [1, 2, 3], "snow": [1, 2, 3]}


def read(folder, rows, recipes):
    path = folder / "assignment.parquet"
    write_table(pl.DataFrame(rows, schema=pl.Schema(ASSIGNMENT.columns), orient="row"), path, ASSIGNMENT)
    return read_assignment(path, recipes)


def test_severities_are_ascending_by_corruption_and_item(tmp_path):
    assert read(tmp_path, ROWS, RECIPES) == {"blur": {"a": [1, 3]}, "snow": {"b": [1]}}
    # A job reads its own corruptions, and one may have no item.
    own = {"clean": [0], "snow": [1], "frost": [2]}
    assert read(tmp_path, ROWS, own) == {"snow": {"b": [1]}, "frost": {}}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([*ROWS, ROWS[0]], "item a under blur at severity 3 is there twice"),
        (
            [("a", "blur", 4), ("b", "snow", 5)],
            "item a under blur at severity 4 is not of the run's severities",
        ),
    ],
)
def test_a_repeated_row_or_another_severity_is_refused(tmp_path, rows, reason):
    with pytest.raises(InputError, match=f"assignment.parquet: {reason}"):
        read(tmp_path, rows, RECIPES)
