"""Measure scoring, aggregation and bootstrap at the paper's size and others, against a loop in pandas.

    python speed/metrics.py [--models 13] [--items 849] [--peer-models 13]

The paper's run has 13 models and 849 items under 19 corruptions at 5 severities: 80,655 corrupted predictions
per model, and a clean one for each item. Logits are random. The baseline is a straightforward pandas loop
over rows that computes softmax, entropy, calibration error, RAS and transition against the clean prediction,
then groupby. The benchmark fails where the numbers differ. The baseline's bootstrap, a merge and a groupby
per resample, is measured on a few resamples and scaled.

Prints Markdown for docs/benchmarks.md. On a loaded machine only ratios are meaningful.
"""

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from statistics import median
from typing import TypeVar

os.environ["OPENBLAS_NUM_THREADS"] = (
    "1"  # before numpy loads it: its idle threads spin, polars keeps both cores
)
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import polars as pl
from machine import peak_bytes, processor, usable_cores

from benchc.benchmarks.bench_c.metrics.aggregate import DELTA_ACCURACY, cell_means, corrective, destructive
from benchc.benchmarks.bench_c.metrics.bootstrap import DRAWS, bootstrap
from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.rank_swaps import rank_swaps
from benchc.benchmarks.bench_c.metrics.scoring import score
from benchc.benchmarks.bench_c.metrics.table1 import table1
from benchc.schemas.models import Model

CORRUPTIONS, SEVERITIES = 19, 5
CELLS = [("clean", 0)] + [
    (f"corruption_{number}", severity)
    for number in range(1, 1 + CORRUPTIONS)
    for severity in range(1, 1 + SEVERITIES)
]
OPTIONS, SHARES = (2, 3, 4, 5), (0.1, 0.1, 0.7, 0.1)
PEER_DRAWS, REPEATS = 5, 3
SWAP_DRAWS = 20_000  # as in the default configuration
VALUES = [DELTA_ACCURACY, pl.col("ras"), pl.col("delta_entropy"), pl.col("delta_calibration")]

Result = TypeVar("Result")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/metrics.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--models", type=int, default=13)
    parser.add_argument("--items", type=int, default=849)
    parser.add_argument(
        "--peer-models",
        type=int,
        default=13,
        help="number of models for the pandas loop; default: %(default)s",
    )
    arguments = parser.parse_args()
    peer_models = min(arguments.peer_models, arguments.models)
    warm_up()
    items, kappa = random_items(arguments.items)
    predictions = [random_predictions(items, model) for model in range(arguments.models)]
    print(
        f"{date.today()}, {usable_cores()} of {processor()}, "
        f"{pl.thread_pool_size()} threads of polars, Python {platform.python_version()}, numpy "
        f"{np.__version__}, polars {pl.__version__}, pandas {pd.__version__}\n"
    )
    before = peak_gib()
    seconds, table = measured(predictions, items, kappa)
    peak = peak_gib()
    total = seconds["scoring"] + seconds["aggregation"] + seconds["bootstrap"]
    print(f"{arguments.models} models x {arguments.items * (len(CELLS) - 1):,} corrupted predictions:\n")
    print("| step | seconds |\n|---|---:|")
    for step, value in seconds.items():
        print(f"| {step} | {value:.2f} |")
    print(f"| scoring + aggregation + bootstrap | {total:.2f} |")
    print(f"\nPeak memory {peak:.2f} GiB, of which {before:.2f} GiB before: libraries, predictions.\n")

    here, there = [], []
    for number, frame in enumerate(predictions[:peer_models]):
        # Alternating, so that other load slows both.
        spent, ours = timed(lambda frame=frame: aggregated([score(frame, items)], kappa))
        here.append(spent)
        spent, (theirs, scores) = timed(lambda frame=frame: loop(frame, items, kappa))
        there.append(spent)
        np.testing.assert_allclose(ours.row(0), theirs, rtol=0, atol=1e-9)
        np.testing.assert_allclose(table.row(number), theirs, rtol=0, atol=1e-9)
    print(f"Against a pandas loop over the rows of {peer_models} models, alternating; equal within 1e-9:\n")
    print("| per model, median | loop | here | ratio |\n|---|---:|---:|---:|")
    ratio = median(slow / fast for slow, fast in zip(there, here, strict=True))
    print(f"| scoring + aggregation | {median(there):.2f} s | {median(here):.3f} s | {ratio:.0f} |")
    draw, _ = timed(lambda: [resampled(scores, number) for number in range(PEER_DRAWS)])
    scaled = draw / PEER_DRAWS * DRAWS
    spent = seconds["bootstrap"] / arguments.models
    step = f"bootstrap (loop: eq. 11 only, scaled from {PEER_DRAWS} draws)"
    print(f"| {step} | {scaled:.0f} s | {spent:.3f} s | {scaled / spent:.0f} |")
    slow, fast = median(there) + scaled, median(here) + spent
    print(f"| all | {slow:.1f} s | {fast:.3f} s | {slow / fast:.0f} |")
    print()
    print(f"Scoring, aggregation and bootstrap of other sizes, best of {REPEATS}:\n")
    print(
        "| items | corrupted predictions | seconds | seconds per million predictions |\n|---:|---:|---:|---:|"
    )
    for count in (arguments.items // 3, arguments.items, arguments.items * 3):
        some_items, some_kappa = random_items(count)
        some_predictions = [random_predictions(some_items, model) for model in range(arguments.models)]
        spent = min(
            sum(measured(some_predictions, some_items, some_kappa, swaps=False)[0].values())
            for _ in range(REPEATS)
        )
        rows = arguments.models * count * (len(CELLS) - 1)
        print(f"| {count:,} | {rows:,} | {spent:.2f} | {spent / rows * 1e6:.2f} |")


def measured(
    predictions: Sequence[pl.DataFrame], items: pl.DataFrame, kappa: pl.DataFrame, *, swaps: bool = True
) -> tuple[dict[str, float], pl.DataFrame]:
    """Return the seconds of each step, and each model's (delta_acc, ras) by eq. 11."""
    seconds = {}
    seconds["scoring"], scores = timed(lambda: [score(frame, items) for frame in predictions])
    seconds["aggregation"], table = timed(lambda: aggregated(scores, kappa))
    named = {str(number): frame for number, frame in enumerate(scores)}

    def intervals() -> None:
        cube = cube_of(named)
        bootstrap(cube, cube.kappa(kappa), DRAWS, seed=1)

    def swap_tests() -> None:
        cube = cube_of(named)
        rank_swaps(cube, cube.kappa(kappa), SWAP_DRAWS, seed=1)

    seconds["bootstrap"], _ = timed(intervals)
    if swaps:
        seconds[f"rank swaps, {SWAP_DRAWS:,} draws"], _ = timed(swap_tests)
    return seconds, table


def aggregated(scores: Sequence[pl.DataFrame], kappa: pl.DataFrame) -> pl.DataFrame:
    targets = [Model(str(number), str(number)) for number in range(len(scores))]
    for frame in scores:
        cell_means(frame, VALUES)
        destructive(frame)
        corrective(frame)
    table = table1(targets, scores, kappa)
    return table.sort(pl.col("model").cast(pl.Int64)).select("delta_acc", "ras")


def loop(
    predictions: pl.DataFrame, items: pl.DataFrame, kappa: pl.DataFrame
) -> tuple[tuple[float, float], pd.DataFrame]:
    """Score and aggregate one model row by row; return its (delta_acc, ras) by eq. 11, and its scores."""
    answer_of = dict(items.select("id", "answer").iter_rows())
    kappa_of = dict(kappa.iter_rows())
    table = pd.DataFrame(predictions.to_dict(as_series=False))
    clean = {}
    for _, row in table[table["corruption"] == "clean"].iterrows():
        clean[row["id"]] = score_row(row["logits"], answer_of[row["id"]])
    rows = []
    for _, row in table[table["corruption"] != "clean"].iterrows():
        correct, uncertainty, calibration = score_row(row["logits"], answer_of[row["id"]])
        correct_clean, uncertainty_clean, calibration_clean = clean[row["id"]]
        shift_s, shift_c = uncertainty - uncertainty_clean, calibration - calibration_clean
        rows.append(
            {
                "id": row["id"],
                "corruption": row["corruption"],
                "severity": row["severity"],
                "kappa": kappa_of[row["id"]],
                "delta_acc": float(correct) - float(correct_clean),
                "ras": -shift_c - max(shift_c, 0) * max(-shift_s, 0) - max(shift_s, 0) * max(-shift_c, 0),
                "transition": "WR"[correct_clean] + "WR"[correct],
            }
        )
    scores = pd.DataFrame(rows)
    scores.groupby(["corruption", "severity"])[["delta_acc", "ras"]].mean()
    for subset in (("RR", "RW"), ("WW", "WR")):
        scores[scores["transition"].isin(subset)].groupby("corruption")["ras"].mean()
    for metric in ("delta_acc", "ras"):
        scores[metric] *= scores["kappa"]
    return eq_11(scores), scores


def eq_11(weighted: pd.DataFrame) -> tuple[float, float]:
    sums = weighted.groupby(["corruption", "severity"])[["delta_acc", "ras", "kappa"]].sum()
    return tuple((sums[metric] / sums["kappa"]).mean() for metric in ("delta_acc", "ras"))


def resampled(weighted: pd.DataFrame, number: int) -> tuple[float, float]:
    """Return eq. 11 of one resample of the items."""
    ids = weighted["id"].unique()
    chosen = np.random.default_rng(number).choice(ids, len(ids))
    return eq_11(pd.DataFrame({"id": chosen}).merge(weighted, on="id"))


def score_row(logits: Sequence[float], answer: int) -> tuple[bool, float, float]:
    """Return whether the prediction is right, its entropy (eq. 6) and its calibration error (eq. 8)."""
    values = np.asarray(logits, dtype=np.float64)
    weights = np.exp(values - values.max())
    chances = weights / weights.sum()
    uncertainty = -(chances * np.log(chances)).sum() / np.log(len(chances))
    correct = bool(chances.argmax() == answer)
    return correct, uncertainty, abs(float(correct) - chances.max())


def random_items(count: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    generator = np.random.default_rng(0)
    options = generator.choice(OPTIONS, count, p=SHARES)
    ids = [f"source/{number}" for number in range(count)]
    items = pl.DataFrame({"id": ids, "answer": generator.integers(0, options), "options": options})
    return items, pl.DataFrame({"id": ids, "kappa": generator.uniform(0.05, 0.6, count)})


def random_predictions(items: pl.DataFrame, model: int) -> pl.DataFrame:
    generator = np.random.default_rng(1 + model)
    cells = pl.DataFrame(
        CELLS, schema={"corruption": pl.String, "severity": pl.Int64}, orient="row"
    ).with_row_index("cell")
    # The order of a run's files: by cell, then item.
    rows = cells.join(items, how="cross", maintain_order="left_right")
    counts = rows["options"].to_numpy()
    values = pl.Series("logits", generator.normal(0, 2, int(counts.sum())), dtype=pl.Float32)
    owner = np.repeat(np.arange(rows.height), counts)
    logits = pl.DataFrame({"row": owner, "logits": values}).group_by("row", maintain_order=True).agg("logits")
    return rows.select("id", "corruption", "severity").with_columns(logits["logits"])


def warm_up() -> None:
    items, kappa = random_items(8)
    measured([random_predictions(items, model) for model in range(2)], items, kappa)


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def peak_gib() -> float:
    return peak_bytes() / 2**30


if __name__ == "__main__":
    main()
