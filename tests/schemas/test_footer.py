from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from benchc.schemas.footer import Footer


@dataclass(frozen=True, kw_only=True)
class Example(Footer):
    name: str | None
    count: int | None = None
    kind: str = "usual"
    parts: Mapping[str, int] = field(default_factory=dict)


def test_facts_at_their_default_are_absent() -> None:
    assert Example(name=None).content() == {"name": None}
    assert Example(name="a", count=0, kind="usual").content() == {"name": "a", "count": 0}
    parts = MappingProxyType({"x": 1})
    made = Example(name="a", kind="other", parts=parts).content()
    assert made == {"name": "a", "kind": "other", "parts": {"x": 1}} and type(made["parts"]) is dict
