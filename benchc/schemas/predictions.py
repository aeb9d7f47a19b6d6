"""`predictions/{subset}/{model}/{part}.parquet`: one row is one prediction of one model."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from benchc.schemas.parquet import AGAIN, TableError, TableType, read_footer
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.shared_facts import add_shared_facts

KEY = ("id", "corruption", "severity")
CLEAN = "clean"  # the corruption of uncorrupted predictions, at severity 0

# Footer: the identity of `models.identity`, predictions, oom_splits; label, the id of the model in the
# catalogue; pool, the digest of the pool's questions; seed and alpha of the images; `adopted`: how many of
# the predictions other code computed, by its digest (`benchc cache adopt`).
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


def check_predictions(paths: Iterable[Path], pool: Path) -> dict[str, object]:
    """Return what {model}/{part}.parquet share: the pool's digest, and the seed and alpha of the images.

    The files are of predictions or of answers. Raises TableError where a file is of another model than its
    folder, of another pool, or of images with another seed or alpha than the files before. The footers
    decide; one without such facts is of a file that no stage wrote. The subset needs no check here: rows of
    items outside it are refused where they are used.
    """
    of_pool = pool_digest(pool, QUESTION_COLUMNS)
    found: dict[str, object] = {"pool": of_pool}
    for path in paths:
        footer, folder = read_footer(path), path.parent.name
        rows = "answers" if "answers" in footer else "predictions"
        if footer.get("label", folder) != folder:
            raise TableError(
                f"{path}: its {rows} are those of {footer['label']}, but its folder is {folder}; {AGAIN}"
            )
        if footer.get("pool", of_pool) != of_pool:
            raise TableError(f"{path}: its {rows} are not on the items of {pool}; {AGAIN}")
        add_shared_facts(found, path, footer, ("seed", "alpha"))
    return found
