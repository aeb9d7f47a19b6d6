"""Files of finished runs have these types, and a reader refuses a file of another one.

A change of columns takes a new version, since files of the old one would else be said to be damaged. Facts at
their default are not written.
"""

from tests.schemas.table_types import Recorded, table_types

RECORDED: Recorded = {
    "benchc.benchmarks.naturalbench.schemas.captions:CAPTIONS": (1, "09ca228b"),
    "benchc.benchmarks.naturalbench.schemas.embeddings:EMBEDDINGS": (1, "3c44f248"),
    "benchc.benchmarks.naturalbench.schemas.groups:GROUPS": (1, "bddb51c4"),
    "benchc.benchmarks.naturalbench.schemas.halves:HALVES": (1, "172385cb"),
    "benchc.benchmarks.naturalbench.schemas.kept:KEPT": (1, "9b6e5aa0"),
    "benchc.benchmarks.naturalbench.schemas.mismatches:MISMATCHES": (1, "6b59a5c4"),
    "benchc.benchmarks.naturalbench.schemas.pairs:PAIRS": (1, "471131c1"),
    "benchc.benchmarks.naturalbench.schemas.questions:QUESTIONS": (1, "7545fbb0"),
    "benchc.benchmarks.naturalbench.schemas.reviewed:REVIEWED": (1, "77658c1f"),
    "benchc.benchmarks.naturalbench.schemas.scores:SCORES": (1, "73c925b9"),
    "benchc.benchmarks.naturalbench.schemas.tags:TAGS": (1, "f6f238a4"),
    "benchc.benchmarks.naturalbench.schemas.translations:TRANSLATIONS": (1, "a4a0e09f"),
}


def test_tables_of_finished_runs_can_be_read() -> None:
    assert table_types("benchc.benchmarks.naturalbench.schemas") == RECORDED
