"""What may be passed on: only what a licence is known to allow."""

import pytest

from benchc.config.catalogue import Source
from benchc.export.licences import hub_licence, redistributable

TSV = {"label": "S", "task_column": "category"}


def source(licence: str | None, **origin: object) -> Source:
    origin = origin or {"path": "s.tsv"}
    return Source.model_validate({**TSV, **origin, "published": {"licence": licence}})


OPEN = [
    "CC-BY-4.0",
    "CC-BY-NC-4.0",
    "cc-by-nc-sa-3.0",
    "CC BY 4.0",
    "CC0-1.0",
    "Apache-2.0",
    "MIT",
    "ODC-By-1.0",
    "PDDL",
    "CC_BY_4.0",
]
CLOSED = ["CC-BY-ND-4.0", "CC-BY-NC-ND-4.0", "research only", "MIT, images: ask the owners", "GPT", None]
# No version, or no letter, of a licence.
CLOSED += ["CC-BY-4.0ND", "CC BY 4.0.ND", "CC-BY-2.0x.not.for.redistribution", "MIT-1research", "M\u0131T"]


@pytest.mark.parametrize("licence", OPEN)
def test_open_licences_allow_copies(licence):
    assert redistributable(source(licence))


@pytest.mark.parametrize("licence", CLOSED)
def test_others_and_unknown_ones_do_not(licence):
    assert not redistributable(source(licence))


def test_what_the_run_has_drawn_is_its_users():
    assert redistributable(source(None, generated={"groups": 1}))


def test_the_hub_knows_a_licence_by_its_id():
    assert [hub_licence(name) for name in ("CC-BY-NC-4.0", "CC BY 4.0", "unknown", "ask us")] == [
        "cc-by-nc-4.0",
        "cc-by-4.0",
        "unknown",
        "other",
    ]
