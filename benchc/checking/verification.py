"""Records of models whose accuracy on a public source was measured and agrees with a published one."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchc.atomic import write_text
from benchc.config.catalogue import Model, PublishedAccuracy
from benchc.json_content import json_content
from benchc.models.folder import deciding_files

FOLDER = Path("results/verified")

PUBLISHED = tuple(PublishedAccuracy.model_fields)

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
        files: size and time of the files of a model in a folder
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
    files: Mapping[str, list[int]]
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
        measured = (
            f"{self.source}: {self.accuracy:.1f} % of {self.items:,} items ({self.percent:g} % published)"
        )
        return f"{measured}, {self.date}{at}, {self.device}"


def compared_entry(model: Model) -> dict[str, Any]:
    """Return the keys of an entry that a verification depends on."""
    return model.model_dump(mode="json", exclude=INFORMATION)


def files_of(model: Model) -> dict[str, list[int]]:
    """Return size and time of the files that decide the predictions of a model in a folder; none of others.

    Raises OSError where a file is missing.
    """
    folders = [Path(each) for each in (model.path, model.adapter_folder) if each is not None]
    files = (path for folder in folders for path in deciding_files(folder))
    return {str(path): [path.stat().st_size, path.stat().st_mtime_ns] for path in files}


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
    """Return the records of a model whose entry and files are still those that were verified.

    The published accuracies of the entry are compared as they are now.
    """
    found = []
    for path in sorted((FOLDER / id_).glob("*.json")):
        try:
            each = Verification(**json_content(path.read_text()))
            published = model.published.get(each.source)
            if (
                published == PublishedAccuracy(**{key: getattr(each, key) for key in PUBLISHED})
                and (each.entry, each.files) == (compared_entry(model), files_of(model))
                and each.agrees
            ):
                found.append(each)
        except (OSError, ValueError, TypeError, ZeroDivisionError):
            continue
    return found
