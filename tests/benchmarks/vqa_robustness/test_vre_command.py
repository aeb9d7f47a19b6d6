"""`benchc vre` on the published table, and on tables that are none."""

import re

import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.pages.weights import weights_page
from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from scripts.benchc import main
from tests.benchmarks.vqa_robustness.published import TABLE_A1

ROWS = [f"{m},{c},{level},0.{2 + level}{n}" for m in "ab" for n, c in enumerate("xyz") for level in range(6)]
HEADER = "model,corruption,level,error"


@pytest.fixture
def table(tmp_path):
    def write(rows=ROWS, header=HEADER):
        path = tmp_path / "errors.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        return str(path)

    return write


def shown(capsys, *arguments) -> list[list[str]]:
    """Return the cells of what `benchc vre` prints."""
    capsys.readouterr()
    main(["vre", *arguments])
    lines = capsys.readouterr().out.splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]


def test_the_published_table_gives_ranks_and_files(capsys, tmp_path):
    rows = shown(capsys, str(TABLE_A1), "--output", str(tmp_path))
    assert [(row[0], row[1], row[-1]) for row in rows[2:8]] == [
        ("ViLT", "0.2297", "1"),
        ("BLIP", "0.2833", "3"),
        ("VLE", "0.3155", "5"),
        ("PNP", "0.7112", "6"),
        ("LLaVA-7B", "0.2569", "2"),
        ("LLaVA-13B", "0.2895", "4"),
    ]
    models = pl.read_csv(tmp_path / "vre_model.csv")
    assert models.filter(model="PNP")["vre"].item() == pytest.approx(0.7112, abs=0.00005)
    assert pl.read_csv(tmp_path / "vre_corruption.csv").height == 14
    metrics = pl.read_csv(tmp_path / "severity_metrics.csv")
    shot = metrics.filter(model="ViLT", corruption="shot")
    assert shot["first_drop"].item() == pytest.approx((0.326 - 0.287) / 0.287)
    assert metrics.height == 6 * 14
    assert (tmp_path / "weights.html").read_text() == weights_page(
        read_errors(TABLE_A1), (1.0,) * 5, "0..5", None
    )
    figures = {"figure_a2", "figure_accuracy", "figure_weightings"}
    assert {path.stem for path in tmp_path.glob("*.png")} == figures
    assert all((tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF") for name in figures)


def test_a_parquet_file_is_read_like_a_csv_file(capsys, table, tmp_path):
    path = tmp_path / "errors.parquet"
    frame = pl.read_csv(table()).with_columns(note=pl.lit(["other"]))
    frame.write_parquet(path)
    assert shown(capsys, str(path)) == shown(capsys, table()) != []
    frame.with_columns(error=pl.when(pl.col("level") == 2).then(2.5).otherwise("error")).write_parquet(path)
    with pytest.raises(SystemExit) as end:
        main(["vre", str(path)])
    assert f"{path}: row 3: error '2.5' is no number from 0 to 1" in f"{end.value}{capsys.readouterr().err}"
    path.write_text("none")
    with pytest.raises(SystemExit) as end:
        main(["vre", str(path)])
    assert "cannot be read as Parquet" in f"{end.value}{capsys.readouterr().err}"


def test_weights_scale_and_levels_are_options(capsys, table, tmp_path):
    whole = str(TABLE_A1)
    first = shown(capsys, whole, "--weights", "6", "1", "1", "1", "1")
    assert first[5][1] == "0.8086"  # PNP
    frozen = shown(capsys, table(), "--scale-of", whole)
    assert frozen != shown(capsys, table())
    shown(capsys, table(), "--scale-of", whole, "--output", str(tmp_path))
    assert '"frozen": true' in (tmp_path / "weights.html").read_text()
    assert shown(capsys, whole, "--levels", "1..5") != shown(capsys, whole)


def test_levels_may_be_written_as_pandas_writes_them(capsys, table):
    rows = [row.split(",") for row in ROWS]
    floats = [",".join([model, corruption, f"{level}.0", error]) for model, corruption, level, error in rows]
    assert shown(capsys, table(floats)) == shown(capsys, table(ROWS))


def test_a_metric_with_one_value_is_named(capsys, table):
    main(["vre", table([f"{row[:6]}0.5" for row in ROWS])])
    notes = capsys.readouterr().out.splitlines()[-9::2]
    assert notes[0] == "First-Drop has one value, so that it is 0 for all when scaled" and len(notes) == 5


def test_rows_may_be_in_any_order_and_have_more_columns(capsys, table):
    expected = shown(capsys, table())
    mixed = [f"{row},{number}" for number, row in enumerate(sorted(ROWS, key=lambda row: row[4]))]
    found = shown(capsys, table(mixed, " Model , corruption,LEVEL,error,n"))
    assert sorted(found) == sorted(expected)


def test_a_model_without_vre_is_named(capsys, table):
    rows = [row.replace("b,y,0,0.21", "b,y,0,0") for row in ROWS]
    main(["vre", table(rows)])
    text = capsys.readouterr().out
    note = "b has no VRE: its First-Drop under y is undefined, since an error there is 0"
    assert note in text.splitlines()
    assert re.search(r"^\| b +\| +– \|.*– \|$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (
            ROWS[:-1],
            HEADER,
            "b has no error under z at level 5; add the row (each model needs the",
        ),
        ([*ROWS, "a,w,0,0.5"], HEADER, "a has no error under w at level 1; add the row"),
        ([*ROWS, ROWS[3]], HEADER, "row 38: a has a second error under x at level 3; remove one"),
        (
            [*ROWS[:5], "a,x,5,1.2"],
            HEADER,
            "row 7: error '1.2' is no number from 0 to 1; give errors, not",
        ),
        ([*ROWS[:5], "a,x,5,nan"], HEADER, "row 7: error 'nan' is no number from 0 to 1"),
        ([*ROWS[:5], "a,x,5,"], HEADER, "row 7: error '' is no number from 0 to 1"),
        ([*ROWS, "a,x,6,0.5"], HEADER, "row 38: level '6' is no level from 0 to 5; correct it"),
        ([*ROWS, "a,x,1.5,0.5"], HEADER, "row 38: level '1.5' is no level from 0 to 5"),
        ([*ROWS, ",x,1,0.5"], HEADER, "row 38: model '' is empty; name the model"),
        (
            ROWS,
            "model,corruption,severity,error",
            "has no column 'level' (it has model, corruption, s",
        ),
        ([], HEADER, "has no rows; add one for each model, corruption and level"),
        ([*ROWS, "a,x,1,0.5,7,8"], HEADER, "cannot be read as CSV ("),
    ],
)
def test_a_table_that_is_none_is_one_sentence(table, rows, header, sentence):
    path = table(rows, header)
    with pytest.raises(SystemExit) as stop:
        main(["vre", path])
    text = str(stop.value.code)
    assert text.startswith(f"error: {path}: {sentence}") and "\n" not in text


def test_a_missing_file_and_wrong_weights_are_one_sentence(tmp_path, table):
    with pytest.raises(SystemExit, match=r"error: .*nowhere.csv: no such file; give a CSV file with model,"):
        main(["vre", str(tmp_path / "nowhere.csv")])
    with pytest.raises(SystemExit, match=r"error: weights 1, 1, 1, 1, -2: must be numbers of at least 0"):
        main(["vre", table(), "--weights", "1", "1", "1", "1", "-2"])


def test_a_model_that_is_mostly_wrong_is_said_to_be(capsys, table):
    rows = [
        f"{m},{c},{level},0.{base + level}"
        for m, base in (("a", 40), ("b", 60))
        for c in "xy"
        for level in range(6)
    ]
    main(["vre", table(rows)])
    lines = [line for line in capsys.readouterr().out.splitlines() if "clean questions" in line]
    assert len(lines) == 1
    assert lines[0].startswith(
        "b is wrong on 60% of the clean questions: its VRE says little about robustness"
    )
