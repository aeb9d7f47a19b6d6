"""Judgements in the authors' format: the released ones of LLaVA-1.5, and files that cannot be used."""

import ast
import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.corruptions.suites.r_bench import R_BENCH_INDEX
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.r_bench.judging.replied import PAIRS, Pair, without_answers, written
from tests.benchmarks.r_bench.scored import released_scores
from tests.shared_data import SHARED, needs_shared
from tests.stages import call_stage

FOLDER = SHARED / "data/real/r-bench"
NAMES = {index: name.removesuffix("_stand_in") for name, index in R_BENCH_INDEX.items()}
GOOD = "name,result\na.jpg,1.0\nb.png,0\nc.jpg,.3\nd,0.625\n"


def released_pairs() -> list[Pair]:
    text = (FOLDER / "Ref_Release.csv").read_bytes().decode("gb18030")
    found = []
    for row in csv.DictReader(io.StringIO(text, newline="")):
        task = row["type"].lower()
        options = list("ABCDE") if task == "mcq" else []  # their texts are not judged
        truths = ast.literal_eval(row["answer"]) if task == "cap" else [row["answer"]]
        corruption, severity = NAMES[int(row["distortion"])], int(row["strength"])
        pair = Pair(row["name"], task, row["question"], options, truths, "", "", corruption, severity)
        found.append(pair)
    return found


@needs_shared
def test_the_released_judgements_of_llava_are_the_released_scores(tmp_path: Path) -> None:
    files = {kind: FOLDER / f"Result_{kind}_llava15.csv" for kind in ("dis", "ref", "com")}
    arguments = without_answers(written(tmp_path, released_pairs()))
    call_stage("r_bench.import_judgements", **arguments, **files, output=tmp_path / "judged.parquet")
    call_stage("r_bench.score", judge_scores=tmp_path / "judged.parquet", output=tmp_path / "s.parquet")
    scores = read_table(tmp_path / "s.parquet", SCORES)
    # Ids are those of the pool; without them, rows are compared as a multiset.
    found, expected = (
        frame.select(
            pl.col("task", "dimension").cast(pl.String), "severity", pl.col(pl.Float64).round(9)
        ).sort(pl.all())
        for frame in (scores, released_scores())
    )
    assert found.rows() == expected.rows()


def imported(folder: Path, pairs: list[Pair] = PAIRS, **texts: str | bytes) -> pl.DataFrame:
    files: dict[str, Any] = {}
    for kind in ("dis", "ref", "com"):
        files[kind] = folder / f"{kind}.csv"
        text = texts.get(kind, GOOD)
        files[kind].write_bytes(text if isinstance(text, bytes) else text.encode())
    arguments = without_answers(written(folder, pairs))
    call_stage("r_bench.import_judgements", **arguments, **files, output=folder / "judged.parquet")
    return read_table(folder / "judged.parquet", JUDGE_SCORES)


def test_results_are_scores_of_their_items(tmp_path: Path) -> None:
    table = imported(tmp_path, ref=GOOD.replace("a.jpg,1.0", "a.jpg,0"))
    assert table.filter(kind="dis")["score"].to_list() == [1, 0, 0.6, 1.25]
    assert table.filter(kind="ref").select("corruption", "severity", "score").row(0) == ("clean", 0, 0)
    assert table["judge"].unique().to_list() == ["published"]
    assert read_footer(tmp_path / "judged.parquet")["judge"] == "published"
    call_stage("r_bench.score", judge_scores=tmp_path / "judged.parquet", output=tmp_path / "s.parquet")
    scores = read_table(tmp_path / "s.parquet", SCORES)
    assert scores["absolute"].to_list() == [1, 0, 0.3, 0.625] and scores["relative"][0] == 0
    assert scores["relative"].to_list()[2:] == pytest.approx([0.09, 0.390625])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name,score\n", r"has no column 'result' \(it has name, score\)"),
        (GOOD.replace("b.png,0\n", ""), "has no result of item s/b; add a row with the name b"),
        (GOOD + "a.jpg,0\n", "row 6: 'a.jpg' is there twice; remove one"),
        (GOOD.replace("1.0", "5"), r"row 2: 'a.jpg' has the result '5', no number in 0..1"),
        (GOOD.replace("b.png", "b.jpg") + "b.bmp,1\n", "'b.jpg' and 'b.bmp' may be item s/b; remove one row"),
        (
            GOOD.replace("1.0", "0.6"),
            "'a.jpg' has the result 0.6, but it is a multiple-choice item; give its",
        ),
        (GOOD.replace("1.0", "good"), r"row 2: 'a.jpg' has the result 'good', no number in 0..1"),
        (GOOD.replace("1.0", "nan"), r"row 2: 'a.jpg' has the result 'nan', no number in 0..1"),
        (b"name,result\na,1\n\x81\x20,0\n", "row 3: the byte 0x81 is neither of UTF-8, GB 18030 nor"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, text: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}/com\.csv: {message}"):
        imported(tmp_path, com=text)


def test_results_without_an_item_are_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert imported(tmp_path, com=GOOD + "e.jpg,1\nf.jpg,0\n").equals(imported(tmp_path))
    line = f"note: {tmp_path}/com.csv: 2 results of no item of the run, such as that of 'e.jpg', not used"
    assert capfd.readouterr().err.splitlines() == [line]


def test_items_under_several_dimensions_have_no_judgements_by_name(tmp_path: Path) -> None:
    arguments = without_answers(written(tmp_path, PAIRS))
    twice = [*PAIRS, PAIRS[0]._replace(severity=1)]
    (tmp_path / "other").mkdir()
    arguments["assignment"] = written(tmp_path / "other", twice)["assignment"]
    (tmp_path / "x.csv").write_text(GOOD)
    files = dict.fromkeys(("dis", "ref", "com"), tmp_path / "x.csv")
    with pytest.raises(InputError, match=r"^item s/a is shown under several dimensions, but judgements name"):
        call_stage("r_bench.import_judgements", **arguments, **files, output=tmp_path / "judged.parquet")
