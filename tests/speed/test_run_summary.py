"""The summary of a finished run prints the content of its files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.letters import LETTERS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = 11
KAPPAS = [0.0, 0.25, 0.5]


def printed(folder: Path) -> list[str]:
    command = [sys.executable, str(ROOT / "speed/run_summary.py"), "results/small"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with three items, of which one has eleven options."""
    folder = tmp_path_factory.mktemp("run")
    run, logs = folder / "results/small", folder / "logs/small/benchmarks"
    ids = ["a/0", "a/1", "b/0"]
    item = {"question": "?", "hint": None, "answer": 0, "category": "c", "l2_category": None, "images": []}
    pool = [
        {"id": id_, "source": id_[0], "task": "map", "options": list(LETTERS[:count]), **item}
        for id_, count in zip(ids, (2, 3, OPTIONS), strict=True)
    ]
    write_table(pl.DataFrame(pool, schema=dict(POOL.columns)), run / "pool/items.parquet", POOL)
    kappas = [{"id": id_, "kappa": kappa, "gini": []} for id_, kappa in zip(ids, KAPPAS, strict=True)]
    write_table(pl.DataFrame(kappas, schema=dict(KAPPA.columns)), run / "selection/kappa.parquet", KAPPA)
    selected = [
        {"id": id_, "kappa": kappa, "rank": rank, "score": 1.0, "selected": rank == 0}
        for id_, kappa, rank in zip(ids, KAPPAS, (None, 1, 0), strict=True)
    ]
    frame = pl.DataFrame(selected, schema=dict(SELECTED.columns))
    write_table(frame, run / "selection/selected.parquet", SELECTED)
    # Two batches of one model: A, A and B, and the last of eleven options.
    for batch, chosen in (("noise", [(0, 2), (0, 3)]), ("blur", [(1, 2), (OPTIONS - 1, OPTIONS)])):
        predictions = [
            {
                "id": "a/0",
                "corruption": batch,
                "severity": number,
                "logits": [float(k == option) for k in range(count)],
                "label_mass": 1.0,
                "prompt_hash": "",
                "image_hash": "",
            }
            for number, (option, count) in enumerate(chosen)
        ]
        frame = pl.DataFrame(predictions, schema=dict(PREDICTIONS.columns))
        write_table(frame, run / f"predictions/pool/tiny/{batch}.parquet", PREDICTIONS)
    jobs = (("pool", 2.2, None), ("infer/pool/x", 1000, 300.0), ("infer/pool/y", 9, 512.4))
    for name, seconds, memory in jobs:
        path = logs / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        # The last line is that of the last time the job ran.
        lines = [{"s": 5555, "max_rss": 9999}, {"s": seconds, "max_rss": memory}]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


@pytest.fixture(scope="module")
def summary(folder: Path) -> list[str]:
    return printed(folder)


def test_counts(summary: list[str]) -> None:
    assert "Pool: 3 items of 2 sources in 1 task types; κ > 0: 2 (66.7%); selected: 1." in summary, summary


def test_each_options_share_of_the_predictions_whatever_their_number(summary: list[str]) -> None:
    assert f"| model | predictions | {' | '.join('ABCDEFGHIJK')} |" in summary
    assert f"| tiny (pool) | 4 | 50.0% | 25.0% | {'0.0% | ' * 8}25.0% |" in summary


def test_times_are_summed_by_rule(summary: list[str]) -> None:
    assert "| infer | 2 | 1,009 | 1,000 | 512 |" in summary
    assert "| pool | 1 | 2 | 2 | 0 |" in summary


def test_a_run_of_another_benchmark_has_no_selection(folder: Path, tmp_path: Path) -> None:
    ignored = shutil.ignore_patterns("selection", "predictions")
    shutil.copytree(folder, tmp_path, ignore=ignored, dirs_exist_ok=True)
    found = printed(tmp_path)
    assert found[2] == "Pool: 3 items of 2 sources in 1 task types."
    assert not any(line.startswith("| model") for line in found) and "| pool | 1 | 2 | 2 | 0 |" in found


def test_a_missing_folder_prints_the_usage(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "speed/run_summary.py"), str(tmp_path / "none")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.startswith("usage: python speed/run_summary.py results/NAME")
