"""Records of models whose accuracy on a public source was measured and agrees with a published one."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchc.atomic import write_text
from benchc.config.catalogue import Model

FOLDER = Path("results/verified")

# Keys of an entry that decide no prediction, or nothing but where it is computed.
INFORMATION = {"label", "parameters_b", "year", "mem_mb", "env", "recommended", "state", "note", "published"}


@dataclass(frozen=True, kw_only=True)
class Verification:
    """A measured accuracy that agrees with a published one.

    Attributes:
        source: id of the source
        items: those that were answered, all of the source that have an answer
        correct: those that were answered correctly
        percent: the published accuracy, in percent; ``tolerance``: in points; ``reference``: where it is from
        date: of the measurement, as YYYY-MM-DD
        device: that computed it
        entry: the entry of the model, without information
        identity: what decided the predictions, such as revision, dtype, and versions of libraries
    """

    source: str
    items: int
    correct: int
    percent: float
    tolerance: float
    reference: str
    date: str
    device: str
    entry: Mapping[str, Any]
    identity: Mapping[str, str]

    @property
    def accuracy(self) -> float:
        """Return the measured accuracy in percent."""
        return 100 * self.correct / self.items

    @property
    def agrees(self) -> bool:
        """Return whether the two accuracies differ by at most the tolerance."""
        # To the digits that are printed: 55.9 - 53.4 is above 2.5 in floating point.
        return round(abs(self.accuracy - self.percent), 6) <= self.tolerance

    @property
    def text(self) -> str:
        """Return the measurement in a few words."""
        revision = self.identity.get("revision", "")
        at = f", revision {revision[:12]}" if revision else ""
        measured = f"{self.source}: {self.accuracy:.1f} % ({self.percent:g} % published)"
        return f"{measured}, {self.date}{at}, {self.device}"


def compared_entry(model: Model) -> dict[str, Any]:
    """Return the keys of an entry that a verification depends on."""
    return model.model_dump(mode="json", exclude=INFORMATION)


def record(id_: str, source: str) -> Path:
    """Return the file with the verification of a model."""
    return FOLDER / id_ / f"{source}.json"


def write_verification(id_: str, verification: Verification) -> Path:
    """Write a record, and return its file."""
    path = record(id_, verification.source)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(asdict(verification), indent=2, ensure_ascii=False) + "\n")
    return path


def verifications(id_: str, model: Model) -> list[Verification]:
    """Return the records of a model, whose entry is still the one that was verified."""
    found = []
    for path in sorted((FOLDER / id_).glob("*.json")):
        try:
            each = Verification(**json.loads(path.read_text()))
            if each.entry == compared_entry(model) and each.agrees:
                found.append(each)
        except (OSError, ValueError, TypeError, ZeroDivisionError):
            continue
    return found
