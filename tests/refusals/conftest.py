"""Working copies of the finished runs, one of each in a process of pytest."""

import pytest

from tests.benchmarks.mllm_ic.conftest import finished_scenarios  # noqa: F401  (fixtures)
from tests.benchmarks.naturalbench.conftest import finished_groups  # noqa: F401
from tests.benchmarks.r_bench.conftest import finished_pairs  # noqa: F401
from tests.benchmarks.vqa_robustness.conftest import finished_open  # noqa: F401
from tests.refusals.case import Case, Table
from tests.refusals.check import Provoke, Provoked, provoked
from tests.refusals.workspace import Workspace
from tests.workflow.conftest import checkpoints, finished  # noqa: F401


@pytest.fixture(scope="session")
def provoke(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Provoke:
    """Return what a case's command does; one that is called for all cases of a table is called once."""
    copies: dict[str, Workspace] = {}
    known: dict[int, Provoked] = {}

    def provoke(table: Table, case: Case) -> Provoked:
        if table.run not in copies:
            finished = request.getfixturevalue(table.run)
            copies[table.run] = Workspace(finished, tmp_path_factory.mktemp(table.run) / "benchc")
        if not table.together:
            return provoked(copies[table.run], table, [case])
        if id(table) not in known:
            known[id(table)] = provoked(copies[table.run], table, table.cases)
        return known[id(table)]

    return provoke
