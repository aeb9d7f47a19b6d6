"""`predictions/{subset}/{model}/{part}.parquet`: one row is one prediction of one model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from benchc.schemas.footer import Footer, ImageFooter
from benchc.schemas.parquet import REMAKE, TableError, TableType, read_footer
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.shared_facts import add_shared_facts

KEY = ("id", "corruption", "severity")
CLEAN = "clean"  # the corruption of uncorrupted predictions, at severity 0


@dataclass(frozen=True, kw_only=True)
class ModelFooter(ImageFooter):
    """Of rows that a model was asked for. ``pool``: of the pool's questions.

    Attributes:
        identity: what decides the rows besides prompt and pixels, fact by fact: model, revision, scoring,
            dtype, device, processor, chat template, attention, threads, tf32, deterministic settings,
            versions of libraries, modules, and the digest of their code (``benchc/models/identity.py``);
            ``variants`` where each passed through the model alone, since others changed its numbers
        label: id of the model in the catalogue
        predictions, answers: number of rows, by what they are
        oom_splits: units that were split to fit into the device's memory
        items: how many were sampled
        units_together: whether units passed through the model together; absent for a server
        adopted: how many of the rows other code computed, by its digest (`benchc cache adopt`)
    """

    identity: Mapping[str, str]
    label: str
    predictions: int | None = None
    answers: int | None = None
    oom_splits: int
    items: int | None = None
    units_together: str | None = None
    adopted: Mapping[str, int] = field(default_factory=dict)

    def content(self) -> dict[str, object]:
        """Return the facts as they are written, those of the identity among them."""
        facts = super().content()
        del facts["identity"]
        return {**self.identity, **facts}


@dataclass(frozen=True, kw_only=True)
class UnavailableFooter(Footer):
    """Of a table without rows: the label of the model, and why it has none."""

    label: str
    unavailable: str


PREDICTIONS = TableType(
    "predictions",
    1,
    {
        "id": pl.String,
        "corruption": pl.String,  # `clean` for the uncorrupted prediction
        "severity": pl.Int64,  # 1..5; 0 for clean
        "logits": pl.List(pl.Float32),  # one per option, in the order of the item's options
        "label_mass": pl.Float32,  # total probability of the options' letters or texts, in [0, 1]
        "prompt_hash": pl.String,  # of the rendered prompt
        "image_hash": pl.String,  # of the decoded pixels of all images
    },
    minus_inf=("logits",),  # an option that the model rules out
)


def check_predictions(paths: Iterable[Path], pool: Path) -> dict[str, Any]:
    """Return what {model}/{part}.parquet share: the pool's digest, and the seed and alpha of the images.

    The files are of predictions or of answers. Raises TableError where a file is of another model than its
    folder, of another pool, or of images with another seed or alpha than the files before. The footers
    decide; one without such facts is of a file that no stage wrote. The subset needs no check here: rows of
    items outside it are refused where they are used.
    """
    of_pool = pool_digest(pool, QUESTION_COLUMNS)
    found: dict[str, Any] = {"pool": of_pool}
    for path in paths:
        footer, folder = read_footer(path), path.parent.name
        rows = "answers" if "answers" in footer else "predictions"
        if footer.get("label", folder) != folder:
            raise TableError(
                f"{path}: its {rows} are those of {footer['label']}, but its folder is {folder}; {REMAKE}"
            )
        if footer.get("pool", of_pool) != of_pool:
            raise TableError(f"{path}: its {rows} are not on the items of {pool}; {REMAKE}")
        add_shared_facts(found, path, footer, ("seed", "alpha"))
    return found
