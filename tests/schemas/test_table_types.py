"""Files of finished runs have these types, and a reader refuses a file of another one.

A change of columns takes a new version, since files of the old one would else be said to be damaged. Facts at
their default are not written.
"""

from tests.schemas.table_types import Recorded, table_types

RECORDED: Recorded = {
    "benchc.schemas.answers:ANSWERS": (1, "b4e879a9"),
    "benchc.schemas.assignment:ASSIGNMENT": (1, "b62a6147"),
    "benchc.schemas.corrupted:CORRUPTED": (2, "2dade297"),
    "benchc.schemas.grades:GRADES": (2, "5caf9d72"),
    "benchc.schemas.imported_images:IMPORTED_IMAGES": (1, "412ea3b2"),
    "benchc.schemas.items:ITEMS": (2, "fa1cfbe0"),
    "benchc.schemas.judgements:JUDGEMENTS": (1, "526ab2b7"),
    "benchc.schemas.page_items:PAGE_ITEMS": (1, "39d3a72e"),
    "benchc.schemas.pool:POOL": (2, "d809428a"),
    "benchc.schemas.predictions:PREDICTIONS": (1, "06e11bfa"),
    "benchc.schemas.references:REFERENCES": (1, "0597a8bc"),
    "benchc.schemas.subset:SUBSET": (1, "d709ffe4"),
}


def test_tables_of_finished_runs_can_be_read() -> None:
    assert table_types("benchc.schemas") == RECORDED
