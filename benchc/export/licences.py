"""Which sources may be redistributed under corruption, by the licence in the source catalogue."""

import re

from benchc.config.catalogue import Source

UNKNOWN = "unknown"

# Licences that allow copies and changed copies, which corrupted images are. Those of Creative Commons with ND
# allow no changed ones; NC and SA are conditions for whoever uses the export.
_OPEN = re.compile(
    r"(CC0|CC-BY(-NC)?(-SA)?|PDDL|ODC-BY|ODBL|CDLA-(PERMISSIVE|SHARING)|MIT(-0)?|ISC|APACHE|BSD|UNLICENSE)"
    r"(-\d+(\.\d+)*)?(-(CLAUSE|ONLY|OR-LATER))*"
)


def licence_of(source: Source) -> str:
    """Return the licence of a source as its publishers state it; UNKNOWN where the catalogue has none."""
    return source.published.licence or UNKNOWN


def redistributable(source: Source) -> bool:
    """Return whether images and questions of a source may be passed on, also changed.

    A source that the run generated is its user's. One without a licence that is known to allow it may not.
    """
    return source.generated is not None or _is_open(licence_of(source))


def is_closed(source: Source) -> bool:
    """Return whether the licence of a source is known, and does not let it be passed on."""
    return licence_of(source).casefold() != UNKNOWN and not redistributable(source)


def hub_licence(licence: str) -> str:
    """Return what the Hub calls a licence: its SPDX id in lower case, or `unknown`, or `other`."""
    if licence == UNKNOWN:
        return UNKNOWN
    return _spelt(licence).lower() if _is_open(licence) else "other"


def _spelt(licence: str) -> str:
    return re.sub(r"[\s_]+", "-", licence.strip()).upper()


def _is_open(licence: str) -> bool:
    return licence.isascii() and _OPEN.fullmatch(_spelt(licence)) is not None
