"""Files of finished runs have these types, and a reader refuses a file of another one.

A change of columns takes a new version, since files of the old one would else be said to be damaged. Facts at
their default are not written.
"""

from tests.schemas.table_types import Recorded, table_types

RECORDED: Recorded = {
    "benchc.benchmarks.r_bench.schemas.image_features:IMAGE_FEATURES": (1, "d8621442"),
    "benchc.benchmarks.r_bench.schemas.judge_scores:JudgeScoresFooter": {"unreadable": 0},
    "benchc.benchmarks.r_bench.schemas.judge_scores:JUDGE_SCORES": (1, "06c767b0"),
    "benchc.benchmarks.r_bench.schemas.pairs:PAIRS": (1, "81be7c5a"),
    "benchc.benchmarks.r_bench.schemas.scores:SCORES": (1, "7bac946b"),
    "benchc.benchmarks.r_bench.schemas.tasks:TASK_TABLE": (1, "363131df"),
}


def test_tables_of_finished_runs_can_be_read() -> None:
    assert table_types("benchc.benchmarks.r_bench.schemas") == RECORDED
