"""Every wrong input of the other benchmarks is refused in a line that says what, where and how to mend it."""

import pytest

from tests.refusals.case import Case, Table, all_cases
from tests.refusals.check import Provoke, assert_refused
from tests.refusals.tables import OF_BENCHMARKS


@pytest.mark.parametrize(("table", "case"), all_cases(OF_BENCHMARKS))
def test_a_wrong_input_is_refused(table: Table, case: Case, provoke: Provoke) -> None:
    assert_refused(provoke(table, case), table, case)
