"""Cache predictions between jobs, so that a killed job resumes and a changed one computes only what is new.

The cache of one model under one scorer is a folder. Each job appends to a shard of its own, one JSON line a
unit, and looks up what all jobs before it wrote. Deleting the folder changes no result, only time.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from benchc.models.protocol import OptionScores


class PredictionCache:
    """The predictions of one model under one scorer, found by prompt and pixels.

    ``identity`` holds whatever else decides a prediction (revision, dtype, device, versions, the digest of
    the scorer's sources); each identity has its own folder. ``shard`` names this job's file, and no two jobs
    that run at once may share it.
    """

    def __init__(self, root: str | Path, identity: Mapping[str, str], shard: str) -> None:
        canonical = json.dumps(dict(identity), sort_keys=True, ensure_ascii=False, indent=1)
        scope = hashlib.blake2b(canonical.encode(), digest_size=8).hexdigest()
        self.folder = Path(root) / identity["model"].replace("/", "--") / scope
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "identity.json").write_text(canonical + "\n")
        self._units: dict[str, tuple[OptionScores, bool]] = {}
        for path in sorted(self.folder.glob("*.jsonl")):
            self._load(path)
        path = self.folder / f"{shard}.jsonl"
        _end_torn_line(path)
        self._file = path.open("a", encoding="ascii")

    def get(self, prompt_hash: str, image_hashes: Sequence[str]) -> tuple[OptionScores, bool] | None:
        """Return the scores of a unit (one prompt, V variants in this order), or None where it is new.

        The flag is that of :meth:`put`.
        """
        return self._units.get(_key(prompt_hash, image_hashes))

    def put(self, prompt_hash: str, image_hashes: Sequence[str], scores: OptionScores, split: bool) -> None:
        """Keep the scores of a unit; a kill right after this call does not lose them.

        ``split`` says that its rows did not pass through the model together.
        """
        key = _key(prompt_hash, image_hashes)
        self._units[key] = scores, split
        # A float32 survives the way through a decimal of a float64 unchanged.
        record = {
            "key": key,
            "logits": scores.logits.tolist(),
            "mass": scores.label_mass.tolist(),
            "split": split,
        }
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.fsync(self._file.fileno())
        self._file.close()

    def _load(self, path: Path) -> None:
        with path.open(encoding="ascii", errors="replace") as file:
            for line in file:
                try:
                    record = json.loads(line)
                    scores = OptionScores(
                        np.array(record["logits"], dtype=np.float32),
                        np.array(record["mass"], dtype=np.float32),
                    )
                    self._units[record["key"]] = scores, bool(record["split"])
                except (ValueError, KeyError, TypeError):
                    continue  # the last line of a job that was killed while it wrote


def _key(prompt_hash: str, image_hashes: Sequence[str]) -> str:
    text = "\x1f".join((prompt_hash, *image_hashes))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _end_torn_line(path: Path) -> None:
    if path.exists() and (content := path.read_bytes()) and not content.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
