"""Score one target: entropy, calibration error and RAS of each corrupted prediction against the clean one."""

import sys
from pathlib import Path

from benchc.benchmarks.bench_c.metrics.scored_items import read_scored_items
from benchc.benchmarks.bench_c.metrics.scoring import Grid, complete
from benchc.benchmarks.bench_c.metrics.scoring import score as score_of
from benchc.benchmarks.bench_c.schemas.scores import SCORES, ScoresFooter
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.logits import first_names
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import check_predictions
from benchc.schemas.predictions_of_model import read_predictions


def score(
    *,
    predictions: list[Path],
    pool: Path,
    subset: Path,
    corruptions: list[str],
    severities: list[int],
    allow_missing: bool = False,
    output: Path,
) -> None:
    """Score one target: entropy, calibration error and RAS of each corrupted prediction against the clean.

    Args:
        predictions: predictions/{subset}/{model}/{part}.parquet: all files of one target, clean among them
        pool: pool/items.parquet
        subset: subsets/{subset}.parquet: the items to score
        corruptions: those under which every item is required
        severities: of each corruption
        allow_missing: leave out items with missing predictions instead of failing
        output: table of scores to write
    """
    label, *others = sorted({path.parent.name for path in predictions})
    if others:
        named = ", ".join([label, *others])
        raise InputError(f"--predictions: the files are of several models: {named}; give those of one")
    facts = check_predictions(predictions, pool)
    files = track(predictions, label="predictions", unit="files")
    rows = read_predictions(files, ["id", "corruption", "severity", "logits"])
    items = read_scored_items(pool, subset)
    selected = items.height
    grid = Grid(corruptions, severities)
    try:
        if allow_missing:
            rows, items, missing = complete(rows, items, grid)
            if missing.height:
                excluded = selected - items.height
                facts |= {"missing_items": excluded, "missing_predictions": missing.height}
                print(
                    f"{label}: {excluded:,} of {selected:,} items excluded, "
                    f"{pluralize(missing.height, 'prediction')} missing: {first_names(missing)}",
                    file=sys.stderr,
                )
        table = score_of(rows, items, grid)
    except InputError as error:
        raise InputError(
            f"{label}: {error}; delete {predictions[0].parent} and run snakemake again"
        ) from error
    write_table(table, output, SCORES, ScoresFooter(label=label, items=items.height, **facts))
    print(
        f"{label}: {table.height:,} corrupted predictions of {items.height:,} items scored", file=sys.stderr
    )
