"""Every wrong input of a run of Bench-C is refused in a line that says what, where and how to mend it."""

from collections import Counter

import pytest

from tests.refusals.case import Case, Table, all_cases
from tests.refusals.check import Provoke, assert_refused
from tests.refusals.tables import OF_RUNS, TABLES
from tests.refusals.write import PAGE, page


@pytest.mark.parametrize(("table", "case"), all_cases(OF_RUNS))
def test_a_wrong_input_is_refused(table: Table, case: Case, provoke: Provoke) -> None:
    assert_refused(provoke(table, case), table, case)


def test_kinds_are_many_and_each_is_named_once() -> None:
    kinds = [(table.title, case.kind) for table in TABLES for case in table.cases]
    assert len(set(kinds)) == len(kinds)
    assert sum(len(table.cases) for table in OF_RUNS) >= 150
    assert min(Counter(title for title, _ in kinds).values()) >= 20


def test_the_page_of_errors_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "docs/errors.md is out of date: run `python -m tests.refusals.write` and commit it"
    )
