from types import SimpleNamespace
from typing import Any

import pytest

from benchc.config.catalogue import Source
from benchc.export.card import _source_rows
from benchc.export.licences import hub_licence, redistributable

TSV = {"label": "S", "task_column": "category"}


def source(licence: str | None, **origin: object) -> Source:
    origin = origin or {"path": "s.tsv"}
    return Source.model_validate({**TSV, **origin, "published": {"licence": licence}})


OPEN = ["CC-BY-4.0", "CC-BY-NC-4.0", "cc-by-nc-sa-3.0", "CC BY 4.0", "CC_BY_4.0", "CC0-1.0", "Apache-2.0"]
OPEN += ["MIT", "ODC-By-1.0", "PDDL"]
CLOSED = ["CC-BY-ND-4.0", "CC-BY-NC-ND-4.0", "research only", "MIT, images: ask the owners", "GPT", None]
# No version, or no letter, of a licence.
CLOSED += ["CC-BY-4.0ND", "CC BY 4.0.ND", "CC-BY-2.0x.not.for.redistribution", "MIT-1research", "M\u0131T"]


@pytest.mark.parametrize("licence", OPEN + CLOSED)
def test_open_licences_allow_copies(licence):
    assert redistributable(source(licence)) == (licence in OPEN)
    assert redistributable(source(licence, generated={"groups": 1}))  # what the run has drawn


def test_the_hub_knows_a_licence_by_its_id():
    known = {"CC-BY-NC-4.0": "cc-by-nc-4.0", "CC BY 4.0": "cc-by-4.0", "unknown": "unknown", "ask": "other"}
    assert {name: hub_licence(name) for name in known} == known


def test_a_label_and_a_licence_are_one_cell_of_the_card_each():
    given = source("mine | *yours*").model_copy(update={"label": "a|b <i>"})
    config = SimpleNamespace(sources={"s": given})
    finished: Any = SimpleNamespace(ids=["s/1"], run=SimpleNamespace(config=config))
    assert _source_rows(finished, []) == [r"| a\|b \<i> (`s`) | mine \| \*yours\* | 1 | yes |"]
