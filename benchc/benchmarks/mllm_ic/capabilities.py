"""The paper's hierarchy of capabilities: 2 high-level, 5 mid-level and 34 low-level ones (Figure 1)."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchc.csv_rows import read_rows

PUBLISHED_CAPABILITIES = 34
# Names in tables and figures that are not the id with spaces.
LABELS = {
    "instance_part_recognition": "Instance & part recognition",
    "structured_image_text_understanding": "Structured image-text understanding",
    "ocr": "OCR",
}


class Capability(NamedTuple):
    """A low-level capability, with its mid-level and high-level one."""

    name: str
    mid: str
    high: str


@cache
def capabilities() -> tuple[Capability, ...]:
    """Return the paper's 34 capabilities in its order: those of a mid-level one stand together."""
    rows = read_rows(Path(__file__).with_name("capabilities.csv"), ("capability", "mid", "high"))
    return tuple(Capability(*row.values()) for _, row in rows)


def label_of(name: str) -> str:
    """Return the name of a capability, of any level, in tables and figures."""
    return LABELS.get(name, name.replace("_", " ").capitalize())
