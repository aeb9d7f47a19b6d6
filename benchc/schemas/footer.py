"""Facts about a table that its footer records: how it was made, from what, and how many."""

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Footer:
    """The footer of a type of table, whose schema module has a subclass with its facts."""

    def content(self) -> dict[str, object]:
        """Return the facts as they are written: those without a default, and those that differ from it."""
        found = {}
        for field in fields(self):
            value = getattr(self, field.name)
            default = field.default if field.default_factory is MISSING else field.default_factory()
            if default is MISSING or value != default:
                found[field.name] = dict(value) if isinstance(value, Mapping) else value
        return found


@dataclass(frozen=True, kw_only=True)
class ImageFooter(Footer):
    """Of a table about corrupted images.

    Attributes:
        pool: digest of what the table needs of the pool
        seed: that of the images' corruptions; absent where there are none
        alpha: how transparency was handled; absent where there are no images
    """

    pool: str
    seed: int | None = None
    alpha: str | None = None
