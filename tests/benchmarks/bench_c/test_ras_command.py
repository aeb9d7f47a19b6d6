"""`benchc ras` gives the means of a run from the predictions of a file."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.ras import ras_of_predictions
from scripts.benchc import main

GRID = [("clean", 0), ("fog", 1), ("fog", 3)]
ANSWERS = np.array([2, 0, 1, 1])
LOGITS = np.random.default_rng(3).normal(size=(len(GRID), 4, 3))


def table() -> pl.DataFrame:
    rows = [
        {
            "id": f"q{item}",
            "corruption": name,
            "severity": level,
            "answer": "ABC"[ANSWERS[item]],
            "logits": row,
        }
        for cell, (name, level) in enumerate(GRID)
        for item, row in enumerate(LOGITS[cell].tolist())
    ]
    return pl.DataFrame(rows).sample(fraction=1, shuffle=True, seed=1)


def written(folder: Path, name: str, frame: pl.DataFrame) -> Path:
    path = folder / name
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.with_columns(pl.col("logits").cast(pl.List(pl.String)).list.join(" ")).write_csv(path)
    return path


@pytest.mark.parametrize("name", ["mine.csv", "mine.parquet"])
def test_means_are_those_of_the_single_predictions(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ras", str(written(tmp_path, name, table())), "--output", str(tmp_path / "cells.csv")])
    printed = capsys.readouterr().out
    expected = [ras_of_predictions(LOGITS[cell], LOGITS[0], ANSWERS).mean() for cell in (1, 2)]
    right = LOGITS.argmax(axis=-1) == ANSWERS
    cells = pl.read_csv(tmp_path / "cells.csv")
    assert cells["ras"].to_list() == pytest.approx(expected)
    assert cells["accuracy"].to_list() == pytest.approx(right[1:].mean(axis=1).tolist())
    line = [cell.strip() for cell in printed.splitlines()[-1].strip("| \n").split("|")]
    assert line[:4] == ["mine", "4", f"{right[0].mean():.3f}", f"{right[1:].mean():.3f}"]
    assert line[-1] == f"{np.mean(expected):+.3f}"


def test_answers_may_be_in_a_file_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_answers = written(tmp_path, "mine.parquet", table())
    main(["ras", str(with_answers)])
    expected = capsys.readouterr().out
    pl.DataFrame({"id": [f"q{item}" for item in range(4)], "answer": ANSWERS}).write_parquet(
        tmp_path / "items.parquet"
    )
    table().drop("answer").write_parquet(with_answers)
    main(["ras", str(with_answers), "--answers", str(tmp_path / "items.parquet")])
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("answer", "D", "item q0: answer 3 is not one of its 3 options"),
        ("answer", "?", "answer is '?'; it should be the letter of an option, or its number from 0"),
        ("severity", "x", "severity is 'x'; it should be a whole number"),
        ("logits", "1 2 x", "logits is '1 2 x'; it should be a number for each option"),
    ],
)
def test_an_invalid_value_is_one_line(column: str, value: str, sentence: str, tmp_path: Path) -> None:
    frame = table().with_columns(pl.col("logits").cast(pl.List(pl.String)).list.join(" "))
    frame = frame.with_columns(pl.col(pl.Int64).cast(pl.String))
    chosen = pl.col("id") == "q0"
    frame = frame.with_columns(pl.when(chosen).then(pl.lit(value)).otherwise(pl.col(column)).alias(column))
    frame.write_csv(tmp_path / "mine.csv")
    with pytest.raises(SystemExit, match=r"^error: ") as stopped:
        main(["ras", str(tmp_path / "mine.csv")])
    assert sentence in str(stopped.value) and "\n" not in str(stopped.value)
