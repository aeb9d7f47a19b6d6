"""Footers of tests, with any facts."""

from dataclasses import dataclass, field

from benchc.schemas.footer import Footer


@dataclass(frozen=True, kw_only=True)
class Facts(Footer):
    """A footer with the facts given."""

    facts: dict[str, object] = field(default_factory=dict)

    def content(self) -> dict[str, object]:
        return self.facts


def footer_of(content: dict[str, object]) -> Facts:
    """Return a footer with this content."""
    return Facts(facts=content)
