"""Files of finished runs have these types, and a reader refuses a file of another one.

A change of columns takes a new version, since files of the old one would else be said to be damaged. Facts at
their default are not written.
"""

from tests.schemas.table_types import Recorded, table_types

RECORDED: Recorded = {
    "benchc.benchmarks.mllm_ic.schemas.capabilities:CAPABILITIES": (1, "7c775400"),
    "benchc.benchmarks.mllm_ic.schemas.cube:CUBE": (1, "13c80482"),
    "benchc.benchmarks.mllm_ic.schemas.gallery:GALLERY": (1, "1c595bbb"),
    "benchc.benchmarks.mllm_ic.schemas.hierarchy:FEATURES": (1, "3ac83d63"),
    "benchc.benchmarks.mllm_ic.schemas.hierarchy:TSNE": (1, "f3bd8f18"),
    "benchc.benchmarks.mllm_ic.schemas.hierarchy:HierarchyFooter": {"missing": ""},
    "benchc.benchmarks.mllm_ic.schemas.outcomes:OUTCOMES": (1, "df75c84b"),
    "benchc.benchmarks.mllm_ic.schemas.outcomes:OutcomesFooter": {"words": False},
    "benchc.benchmarks.mllm_ic.schemas.samples:SAMPLES": (1, "14f5c0a7"),
    "benchc.benchmarks.mllm_ic.schemas.scores:SCORES": (1, "dc5b6e38"),
}


def test_tables_of_finished_runs_can_be_read() -> None:
    assert table_types("benchc.benchmarks.mllm_ic.schemas") == RECORDED
