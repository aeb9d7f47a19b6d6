"""What a prediction cache holds, by identity, and its deletion."""

import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchc.errors import InputError
from benchc.json_content import json_content
from benchc.models.asking import Job
from benchc.models.cache.unit_cache import IDENTITY_FILE, index_file, shards_of, units_of_shard
from benchc.models.prediction_code import ENTRY, prediction_code

SECONDS_PER_DAY = 86_400


@dataclass(frozen=True)
class CachedIdentity:
    """The cached predictions of one identity. ``last_use``: when a job last opened them, in Unix time."""

    folder: Path
    facts: Mapping[str, str]
    last_use: float

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def days_unused(self) -> float:
        return (time.time() - self.last_use) / SECONDS_PER_DAY

    def units(self) -> int:
        """Return the number of units; one that two jobs computed at once counts twice."""
        return sum(units_of_shard(shard).shape[1] for shard in shards_of(self.folder))

    def bytes(self) -> int:
        """Return the size of the shards and of their indexes."""
        files = (file for shard in shards_of(self.folder) for file in (shard, index_file(shard)))
        return sum(file.stat().st_size for file in files if file.exists())

    def is_current(self) -> bool:
        """Return whether the code that computed these predictions is that of the present files."""
        try:
            entry = self.facts.get("entry", ENTRY)
            return prediction_code(self.facts["modules"].split(), entry) == self.facts["code"]
        except FileNotFoundError:  # a module that was since renamed
            return False

    def delete(self) -> None:
        """Delete the predictions; raises InputError where that is not possible."""
        try:
            shutil.rmtree(self.folder)
        except OSError as error:
            raise InputError(
                f"{self.folder}: cannot be deleted ({error.strerror}); correct its permissions, or wait "
                "until no job uses it"
            ) from error


def cached_identities(root: Path) -> list[CachedIdentity]:
    """Return the identities in the cache, by model; folders of other formats are left out.

    Raises InputError for a file that is not an identity, and for an absent folder that is not the default.
    """
    if not root.is_dir() and root != Job.cache:
        raise InputError(f"{root}: there is no such folder; give that of a prediction cache")
    found = []
    for path in sorted(root.glob(f"*/*/{IDENTITY_FILE}")):
        try:
            facts = json_content(path.read_text())
            if not {"model", "scoring", "modules", "code"} <= facts.keys():
                continue
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"{path}: not an identity of predictions ({error}); delete {path.parent}"
            ) from error
        found.append(CachedIdentity(path.parent, facts, path.stat().st_mtime))
    return found
