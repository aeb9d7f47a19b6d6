"""Files of finished runs have these types, and a reader refuses a file of another one.

A change of columns takes a new version, since files of the old one would else be said to be damaged. Facts at
their default are not written.
"""

from tests.schemas.table_types import Recorded, table_types

RECORDED: Recorded = {
    "benchc.benchmarks.bench_c.schemas.embeddings:EMBEDDINGS": (1, "3cc45de5"),
    "benchc.benchmarks.bench_c.schemas.kappa:KAPPA": (1, "53912164"),
    "benchc.benchmarks.bench_c.schemas.orders:ORDERS": (1, "790b7d2b"),
    "benchc.benchmarks.bench_c.schemas.scores:SCORES": (1, "41b69184"),
    "benchc.benchmarks.bench_c.schemas.selected:SELECTED": (1, "25d8dd63"),
}


def test_tables_of_finished_runs_can_be_read() -> None:
    assert table_types("benchc.benchmarks.bench_c.schemas") == RECORDED
