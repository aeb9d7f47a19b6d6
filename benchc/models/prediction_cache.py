"""Cache predictions between jobs: a killed job resumes, and a changed one computes only what is new.

The cache of a model under a scoring is a folder. Each job appends to its own shard, one JSON line per unit,
and looks up what earlier jobs wrote. Deleting the folder costs time but changes no result.
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
    """The predictions of a model under a scoring, by prompt and pixels.

    ``identity``: all else that decides a prediction (revision, dtype, device, versions, digest of the
    scorer's sources); each identity has its own folder. ``shard``: name of this job's file, unique among
    running jobs.
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
        _end_incomplete_line(path)
        self._file = path.open("a", encoding="ascii")

    def get(self, prompt_hash: str, image_hashes: Sequence[str]) -> tuple[OptionScores, bool] | None:
        """Return the scores and ``split`` of a unit (one prompt, V variants in order), or None."""
        return self._units.get(_key(prompt_hash, image_hashes))

    def put(self, prompt_hash: str, image_hashes: Sequence[str], scores: OptionScores, split: bool) -> None:
        """Store the scores of a unit; they survive a kill right after this call.

        ``split``: the unit was split to fit into the device's memory.
        """
        key = _key(prompt_hash, image_hashes)
        self._units[key] = scores, split
        # A float32 written as the decimal of a float64 is read back unchanged.
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
                    continue  # a line that a killed job left incomplete


def _key(prompt_hash: str, image_hashes: Sequence[str]) -> str:
    text = "\x1f".join((prompt_hash, *image_hashes))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _end_incomplete_line(path: Path) -> None:
    if path.exists() and (content := path.read_bytes()) and not content.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
