"""`benchc ras` gives the means of a run from the predictions of a file."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.ras import ras_of_predictions
from scripts.benchc import main

GRID = [("clean", 0), ("fog", 1), ("fog", 3)]
ANSWERS = np.array([2, 0, 1, 1])
CELLS = [(cell, item) for cell in range(len(GRID)) for item in range(len(ANSWERS))]
LOGITS = np.random.default_rng(3).normal(size=(len(GRID), 4, 3))


def table() -> pl.DataFrame:
    frame = pl.DataFrame(
        [
            (f"q{item}", *GRID[cell], "ABC"[ANSWERS[item]], LOGITS[cell, item].tolist())
            for cell, item in CELLS
        ],
        schema=["id", "corruption", "severity", "answer", "logits"],
        orient="row",
    )
    return frame.sample(fraction=1, shuffle=True, seed=1)


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
    answers = pl.DataFrame({"id": [f"q{item}" for item in range(4)], "answer": ANSWERS})
    answers.write_parquet(tmp_path / "items.parquet")
    table().drop("answer").write_parquet(with_answers)
    main(["ras", str(with_answers), "--answers", str(tmp_path / "items.parquet")])
    assert capsys.readouterr().out == expected
    answers.filter(pl.col("id") != "q1").write_parquet(tmp_path / "items.parquet")
    with pytest.raises(
        SystemExit,
        match=rf"row \d+: id is 'q1'; it should be one of {tmp_path}/items.parquet: add the ",
    ):
        main(["ras", str(with_answers), "--answers", str(tmp_path / "items.parquet")])


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("answer", "D", "item q0: the answer is number 3 from 0 (D), but it has 3 options; correct it"),
        ("answer", "26", "answer is '26'; it should be the letter of an option, or its number from 0"),
        ("answer", "-1", "answer is '-1'; it should be the letter of an option, or its number from 0"),
        ("answer", "2", "it should be a letter in all rows, or a number in all"),
        ("answer", "?", "answer is '?'; it should be the letter of an option, or its number from 0"),
        ("id", "", "id is ''; it should be that of the item"),
        ("severity", "x", "severity is 'x'; it should be a whole number"),
        ("severity", "-1", "severity is '-1'; it should be a whole number, 0 for clean"),
        ("logits", "1,5 2,5", "logits is '1,5 2,5'; it should be a number for each option, separated by"),
        ("logits", "1,5;2,5;3", "logits is '1,5;2,5;3'; it should be a number for each option"),
        ("logits", "1 2 x", "logits is '1 2 x'; it should be a number for each option"),
        ("logits", "1 2 nan", "logits is '1 2 nan'; it should be a number for each option"),
        ("logits", "1 2 inf", "logits is '1 2 inf'; it should be a number for each option"),
        (
            "logits",
            "-inf -inf",
            "it should be a number for each option, separated by spaces: two or more, below inf, and",
        ),
        (
            "logits",
            "1",
            "logits is '1'; it should be a number for each option, separated by spaces: two or more",
        ),
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


def test_a_logit_that_is_null_is_no_logit_less(tmp_path: Path) -> None:
    frame = table().with_columns(logits=pl.concat_list(pl.lit(1.0), pl.lit(None, pl.Float64), pl.lit(5.0)))
    with pytest.raises(SystemExit, match="row 1: logits is None; it should be a number for each option"):
        main(["ras", str(written(tmp_path, "mine.parquet", frame))])


def test_numbers_as_large_as_numbers_are_print_no_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    frame = table().with_columns(logits=pl.lit([1e308, -1e308, 0.0]))
    main(["ras", str(written(tmp_path, "mine.csv", frame))])
    assert capsys.readouterr().out.rstrip().endswith("| 0.000 | 0.000 | 0.000 |") and not recwarn.list


def of_rows(tmp_path: Path, logits: list[list[float]], name: str = "mine.csv", answer: str = "A") -> str:
    """Write predictions of items with these logits, the same clean and in fog."""
    cells = [("clean", 0), ("fog", 1)]
    rows = [(f"q{item}", *cell, answer, values) for item, values in enumerate(logits) for cell in cells]
    frame = pl.DataFrame(rows, schema=["id", "corruption", "severity", "answer", "logits"], orient="row")
    return str(written(tmp_path, name, frame))


COSINES = "the logits of no row differ by more than 1, as cosines and sigmoids; if they are these, give the"
PER_CENT = (
    "all numbers are from 0 to 100, and the rows have sums up to 105; if they are per cent, give logits"
)


@pytest.mark.parametrize(
    ("logits", "items", "warning"),
    [
        ([-100.2, -99.5, -99.2], 5, COSINES),
        ([-0.5, 0.5, -math.inf], 5, COSINES),
        ([-0.5, 0.5, 0.3], 4, None),
        ([-0.5, 0.51, 0.3], 5, None),
        ([80.0, 10.0, 0.0], 5, PER_CENT),
        ([80.0, 10.0, -0.1], 5, None),
        ([50.0, 15.0, 0.0], 5, None),
        ([80.0, 15.0, 11.0], 5, None),
    ],
)
def test_what_may_be_no_logits_is_a_warning(
    logits: list[float], items: int, warning: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["ras", path := of_rows(tmp_path, [logits] * items)])
    err = capsys.readouterr().err
    assert err.startswith(f"warning: {path}: {warning}") if warning else err == ""


@pytest.mark.parametrize(
    ("of", "what"),
    [
        (lambda shares: -np.log(shares), "negative logarithms of probabilities; write them with a minus"),
        (np.log10, "logarithms of base 10; give natural ones"),
        (np.log2, "logarithms of base 2; give natural ones"),
        (np.log, None),
    ],
)
def test_logarithms_are_natural_ones(
    of: Callable[[np.ndarray], np.ndarray], what: str | None, tmp_path: Path
) -> None:
    values = of(np.array([0.7, 0.2, 0.1])).round(2).tolist()
    path = of_rows(tmp_path, [values] * 5)
    if what is None:
        main(["ras", path])
        # Nearly certain answers are of any base.
        main(["ras", of_rows(tmp_path, [[-1e-4, -12.0, -13.0]] * 5)])
        return
    with pytest.raises(SystemExit, match=f"{path}: the numbers of each row are {what}"):
        main(["ras", path])


def test_right_options_that_differ_between_files_are_refused(tmp_path: Path) -> None:
    logits = [[1.0, 3.0]] * 3
    one, two = (of_rows(tmp_path, logits, f"{answer}.csv", answer) for answer in "AB")
    with pytest.raises(
        SystemExit, match=f"{two}: item q0 has the answer B, and in {one} it has A; correct one"
    ):
        main(["ras", one, two])
    with pytest.raises(
        SystemExit, match=f"{one}: item q0 has the answer A, and in {two} it has B; correct one"
    ):
        main(["ras", one, "--answers", two])


def test_an_output_is_no_input_and_answers_may_be_elsewhere(tmp_path: Path) -> None:
    path = of_rows(tmp_path, [[1.0, 3.0]])
    with pytest.raises(SystemExit, match=f"--output {path}: is also an input"):
        main(["ras", path, "--output", path])
    bare = written(tmp_path, "bare.csv", table().drop("answer"))
    with pytest.raises(
        SystemExit, match=r"has no column 'answer' .*; or give --answers, a table with id and"
    ):
        main(["ras", str(bare)])


@pytest.mark.parametrize(("items", "least", "warned"), [(10, 1, True), (9, 1, False), (10, 0, False)])
def test_answers_none_of_which_is_0_are_a_warning(
    items: int, least: int, warned: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        (f"q{item}", *cell, str(max(least, item % 3)), [-1.0, 0.5 * item, 2.0])
        for item in range(items)
        for cell in GRID
    ]
    frame = pl.DataFrame(rows, schema=["id", "corruption", "severity", "answer", "logits"], orient="row")
    path = written(tmp_path, "mine.csv", frame)
    main(["ras", str(path)])
    text = f"warning: {path}: no answer is 0; if the answers are counted from 1, subtract 1 from all\n"
    assert capsys.readouterr().err == (text if warned else "")
    letters = frame.with_columns(pl.col("answer").replace({"0": "A", "1": "B", "2": "C"}))
    main(["ras", str(written(tmp_path, "mine.csv", letters))])
    assert capsys.readouterr().err == ""


def test_another_answer_to_an_item_is_named(tmp_path: Path) -> None:
    frame = table().with_row_index()
    other = pl.when(index=frame.height - 1).then(pl.col("answer").replace({"A": "B", "B": "C", "C": "A"}))
    written(tmp_path, "mine.csv", frame.with_columns(answer=other.otherwise("answer")).drop("index"))
    with pytest.raises(SystemExit, match=rf"row {frame.height + 1}: answer is '[ABC]'; it should be the "):
        main(["ras", str(tmp_path / "mine.csv")])


def test_an_answer_beyond_the_options_is_looked_for_where_the_answers_are(tmp_path: Path) -> None:
    path = written(tmp_path, "mine.csv", table().drop("answer"))
    (tmp_path / "items.csv").write_text("id,answer\nq0,2\nq1,0\nq2,3\nq3,1\n")
    with pytest.raises(SystemExit, match=r"items\.csv: item q2: the answer is number 3 from 0 \(D\)"):
        main(["ras", str(path), "--answers", str(tmp_path / "items.csv")])


def test_probabilities_are_no_logits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shares = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=-1, keepdims=True)
    frame = table().drop("logits")

    def of(values: np.ndarray) -> Path:
        rows = [(f"q{item}", *GRID[cell], values[cell, item].round(4).tolist()) for cell, item in CELLS]
        logits = pl.DataFrame(rows, ["id", "corruption", "severity", "logits"], orient="row")
        return written(tmp_path, "mine.csv", frame.join(logits, on=["id", "corruption", "severity"]))

    for values in (shares, shares.round(2), 0.9 * shares, 100 * shares, (100 * shares).round()):
        with pytest.raises(SystemExit, match=r"mine\.csv: no logit is below 0, .* the logarithms of"):
            main(["ras", str(of(values))])
    capsys.readouterr()
    printed = set()
    for values in (np.log(shares), np.log(shares) + 50, np.log(shares) - 100):
        main(["ras", str(of(values))])
        printed.add(capsys.readouterr().out)
    assert len(printed) == 1
    for values in (
        0 * shares,
        shares + np.array([1, -1, 0]),
        np.where(np.arange(4)[:, None] == 3, 0.4, shares),
        np.where(np.arange(4)[:, None] == 3, 36.0, 100 * shares),
    ):
        main(["ras", str(of(values))])


def test_whole_numbers_may_be_written_as_pandas_writes_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = table().with_columns(answer=pl.col("answer").replace_strict({"A": 0, "B": 1, "C": 2}))
    printed = set()
    for type_ in (pl.Int64, pl.Float64):
        numbers = frame.with_columns(pl.col("answer", "severity").cast(type_))
        for name in ("mine.csv", "mine.parquet"):
            main(["ras", str(written(tmp_path, name, numbers))])
            printed.add(capsys.readouterr().out)
    assert len(printed) == 1


def test_numbers_may_be_separated_by_any_one_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = table()
    for mark in (" ", "  ", ", ", " ;", ","):
        texts = pl.col("logits").cast(pl.List(pl.String)).list.join(mark)
        frame.with_columns(logits="[ " + texts + "]").write_csv(tmp_path / "mine.csv")
        main(["ras", str(tmp_path / "mine.csv")])
    *_, first = (lines := capsys.readouterr().out.splitlines())[:3]
    assert lines[2::3] == [first] * 5


def test_models_are_told_apart_and_have_the_same_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    first, other = (written(tmp_path / folder, "mine.csv", table()) for folder in ("a", "b"))
    with pytest.raises(
        SystemExit,
        match=f"^error: {first} and {other} would both be called mine; copy one under another name$",
    ):
        main(["ras", str(first), str(other)])
    same = written(tmp_path, "same.csv", table().sort("id"))
    main(["ras", str(first), str(same)])
    assert capsys.readouterr().err == ""
    fewer = written(tmp_path, "fewer.csv", table().filter(pl.col("id") != "q0"))
    main(["ras", str(first), str(fewer)])
    assert (
        f"warning: {fewer} has other items, corruptions or severities than {first}" in capsys.readouterr().err
    )
