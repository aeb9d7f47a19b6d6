import re
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.pages.weights import weights_page
from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.benchmarks.vqa_robustness.tables.frames import beyond_scale
from benchc.schemas.printed import csv_text
from scripts.benchc import main
from tests.benchmarks.vqa_robustness.published import TABLE_A1

PLACES = product("ab", enumerate("xyz"), range(6))
ROWS = [f"{m},{c},{level},0.{2 + level}{n if level else 0}" for m, (n, c), level in PLACES]
HEADER = "model,corruption,level,error"


@pytest.fixture
def table(tmp_path):
    def write(rows=ROWS, header=HEADER, name="errors.csv"):
        path = tmp_path / name
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
        *(("ViLT", "0.2297", "1"), ("BLIP", "0.2833", "3"), ("VLE", "0.3155", "5"), ("PNP", "0.7112", "6")),
        *(("LLaVA-7B", "0.2569", "2"), ("LLaVA-13B", "0.2895", "4")),
    ]
    models = pl.read_csv(tmp_path / "vre_model.csv")
    assert models.filter(model="PNP")["vre"].item() == pytest.approx(0.7112, abs=0.00005)
    assert pl.read_csv(tmp_path / "vre_corruption.csv").height == 14
    metrics = pl.read_csv(tmp_path / "severity_metrics.csv")
    shot = metrics.filter(model="ViLT", corruption="shot")
    assert shot["first_drop"].item() == pytest.approx((0.326 - 0.287) / 0.287)
    assert metrics.height == 6 * 14
    page = weights_page(read_errors(TABLE_A1), (1.0,) * 5, "0..5", None)
    assert (tmp_path / "weights.html").read_text() == page
    figures = {"figure_a2", "figure_accuracy", "figure_weightings"}
    assert {path.stem for path in tmp_path.glob("*.png")} == figures
    assert all((tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF") for name in figures)


def test_a_parquet_file_is_read_like_a_csv_file(capsys, table, tmp_path):
    path = tmp_path / "errors.parquet"
    frame = pl.read_csv(table()).with_columns(note=pl.lit(["other"]))
    frame.write_parquet(path)
    assert shown(capsys, str(path)) == shown(capsys, table()) != []
    frame.with_columns(error=pl.when(pl.col("level") == 2).then(2.5).otherwise("error")).write_parquet(path)
    with pytest.raises(SystemExit, match=f"{path}: row 3: error '2.5' is no number from 0 to 1"):
        main(["vre", str(path)])
    path.write_text("none")
    with pytest.raises(SystemExit, match="is not a complete Parquet file"):
        main(["vre", str(path)])


def test_weights_scale_and_levels_are_options(capsys, table, tmp_path):
    whole = str(TABLE_A1)
    first = shown(capsys, whole, "--weights", "6", "1", "1", "1", "1")
    assert first[5][1] == "0.8086"  # PNP
    frozen = shown(capsys, table(), "--scale-of", whole)
    assert frozen != shown(capsys, table())
    shown(capsys, table(), "--scale-of", whole, "--output", str(tmp_path))
    assert '"frozen": true' in (tmp_path / "weights.html").read_text()
    assert shown(capsys, whole, "--levels", "1..5") != shown(capsys, whole)


def test_rows_and_columns_may_be_in_any_order_and_levels_as_pandas_writes_them(capsys, table):
    expected = sorted(shown(capsys, table()))
    rows = [row.split(",") for row in ROWS]
    floats = [",".join([model, corruption, f"{level}.0", error]) for model, corruption, level, error in rows]
    assert sorted(shown(capsys, table(floats))) == expected
    mixed = [f"{row},{number}" for number, row in enumerate(sorted(ROWS, key=lambda row: row[4]))]
    assert sorted(shown(capsys, table(mixed, " Model , corruption,LEVEL,error,n"))) == expected


def test_what_says_little_is_named(capsys, table):
    def printed(rows: list[str]) -> list[str]:
        main(["vre", table(rows)])
        return capsys.readouterr().out.splitlines()

    lines = printed([re.sub("^b,(.),0,.*", r"b,\1,0,0", row) for row in ROWS])
    assert "b has no VRE: its First-Drop under x is undefined, since an error there is 0" in lines
    assert any(re.search(r"^\| b +\| +– \|.*– \|$", line) for line in lines)
    alone = "The metrics are scaled over a alone, so that its VRE is comparable with no other model's; scale "
    assert any(line.startswith(alone) for line in lines)
    assert not any("alone" in line for line in printed(ROWS))
    main(["vre", table([row for row in ROWS if row[0] == "a"]), "--scale-of", str(TABLE_A1)])
    assert "alone" not in capsys.readouterr().out
    # b, which has no VRE there, gives the scale nothing.
    part = table([re.sub("^b,(.),0,.*", r"b,\1,0,0", row) for row in ROWS], name="part.csv")
    main(["vre", table(ROWS), "--scale-of", part])
    cause = "its First-Drop under x is undefined, since an error there is 0"
    assert f"b is no part of the scale of part.csv: {cause}\n" in capsys.readouterr().out
    # One model's scale is narrow.
    alone = table([row for row in ROWS if row[0] == "a"], name="alone.csv")
    main(["vre", str(TABLE_A1), "--scale-of", alone])
    text = capsys.readouterr().out
    assert "The scale of alone.csv is of a alone; scale by a table of the errors of several models" in text
    assert re.search(r"\w are beyond the scale, so that VRE is outside of 0 to 1\n", text)
    assert beyond_scale(pl.DataFrame({"model": ["a", "b"], "vre": [1 + 1e-12, -1e-12]})) == []
    # A table of errors that never change is no scale.
    same = table([f"{row[:6]}0.5" for row in ROWS])
    with pytest.raises(SystemExit, match=f"^error: {same}: First-Drop has one value only, which is no scale"):
        main(["vre", str(TABLE_A1), "--scale-of", same])
    none = table([re.sub("^(.),(.),0,.*", r"\1,\2,0,0", row) for row in ROWS])
    with pytest.raises(SystemExit, match=f"^error: {none}: no model has all metrics of severity"):
        main(["vre", str(TABLE_A1), "--scale-of", none])
    notes = printed([f"{row[:6]}0.5" for row in ROWS])[-9::2]
    assert notes[0] == "First-Drop has one value, so that it is 0 for all when scaled" and len(notes) == 5
    bases = {"a": 40, "b": 60}
    rows = [f"{m},{c},{n},0.{base + n}" for m, base in bases.items() for c in "xy" for n in range(6)]
    (line,) = (line for line in printed(rows) if "clean questions" in line)
    assert line.startswith("b is wrong on 60% of the clean questions: its VRE says little about robustness")


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (
            *(ROWS[:-1], HEADER),
            "b has no error under z at level 5; add the row (each model needs the levels 0 to 5 of each",
        ),
        ([*ROWS, "a,w,0,0.2"], HEADER, "a has no error under w at level 1; add the row"),
        ([*ROWS, ROWS[3], ROWS[5]], HEADER, "row 38: a has a second error under x at level 3; remove one"),
        ([*ROWS[:5], "a,x,5,1.2"], HEADER, "row 7: error '1.2' is no number from 0 to 1; give errors, not"),
        ([*ROWS[:5], "a,x,5,-0.1"], HEADER, "row 7: error '-0.1' is no number from 0 to 1"),
        ([*ROWS[:5], "a,x,5,high"], HEADER, "row 7: error 'high' is no number from 0 to 1"),
        ([*ROWS[:5], "a,x,5,nan"], HEADER, "row 7: error 'nan' is no number from 0 to 1"),
        ([*ROWS[:5], "a,x,5,"], HEADER, "row 7: error '' is no number from 0 to 1"),
        ([*ROWS, "a,x,6,0.5", "a,x,7,0.5"], HEADER, "row 38: level '6' is no level from 0 to 5; correct it"),
        ([*ROWS, "a,x,-1,0.5"], HEADER, "row 38: level '-1' is no level from 0 to 5"),
        ([*ROWS, "a,x,1.5,0.5"], HEADER, "row 38: level '1.5' is no level from 0 to 5"),
        ([*ROWS, ",x,1,0.5"], HEADER, "row 38: model '' is no name; name the model"),
        ([*ROWS, " ,x,1,0.5"], HEADER, "row 38: model '' is no name; name the model"),
        ([*ROWS, "a\0,x,1,0.5"], HEADER, "row 38: model 'a\\x00' is no name; name the model"),
        (
            *([*ROWS[:6], "a,y,0,0.21", *ROWS[7:12], "a,z,0,0.22", *ROWS[13:]], HEADER),
            "row 8: the error of a at level 0 is 0.21 under y, but 0.2 in an earlier row; level 0 is of the",
        ),
        (
            [f"{row},10,{10 * float(row[6:]):g}" for row in ROWS[:-1]] + ["b,z,5,0.72,10,7.3"],
            f"{HEADER},n, Wrong",
            "row 37: wrong '7.3' is not error * n; correct one of them",
        ),
        (
            [f"{row},1,1,1" for row in ROWS],
            f"{HEADER},Error,n,N",
            "has two columns 'error'; remove one",
        ),
        ([f"{row},1,1" for row in ROWS], f"{HEADER},wrong,wrong", "has two columns 'wrong'; remove one"),
        (
            *(ROWS, "model,corruption,severity,share"),
            "has no column 'level' (it has model, corruption, severity, share); it needs model, corruption, "
            "level, error, separated by commas",
        ),
        ([], HEADER, "has no rows; add one for each model, corruption and level"),
        ([*ROWS, "a,x,1,0.5,7,8"], HEADER, "cannot be read as CSV (found more fields than"),
    ],
)
def test_a_table_that_is_none_is_one_sentence(table, rows, header, sentence):
    path = table(rows, header)
    with pytest.raises(SystemExit) as stop:
        main(["vre", path])
    text = str(stop.value.code)
    assert text.startswith(f"error: {path}: {sentence}") and "\n" not in text


def test_a_missing_file_and_wrong_weights_are_one_sentence(tmp_path, table):
    for name in ("folder", "folder.parquet"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "errors.csv").write_text("\n".join([HEADER, *ROWS]))
    for arguments, message in (
        ([str(tmp_path / "nowhere.txt")], ".*nowhere.txt: no such file; give a CSV file with model,"),
        ([str(tmp_path / "folder")], ".*folder: cannot be read as CSV .*Is a dir"),
        ([str(tmp_path / "folder.parquet")], ".*folder.parquet: is a folder"),
        ([table(), "--weights", *("1" * 4), "-2"], "weights 1, 1, 1, 1, -2: must be numbers of at least 0"),
    ):
        with pytest.raises(SystemExit, match=f"error: {message}"):
            main(["vre", *arguments])


def test_counts_that_agree_with_the_errors_are_read(table):
    """Errors may have three digits, and a count may be missing."""
    plain = read_errors(Path(table()))
    rounded = [f"{row[:6]}0.062,16,1" for row in ROWS[:-1]] + [f"{ROWS[-1][:6]}0.062,16,"]
    assert (read_errors(Path(table(rounded, f"{HEADER},n,wrong"))).values == 0.062).all()
    found = read_errors(Path(table([f"{row},x" for row in ROWS], f"{HEADER},wrong")))
    assert (found.values == plain.values).all()


def test_a_label_that_looks_like_a_formula_is_read_as_it_was(tmp_path):
    rows = [("=1+1", "snow", level, level / 10) for level in range(6)]
    text = csv_text(pl.DataFrame(rows, schema=HEADER.split(","), orient="row"))
    (tmp_path / "errors.csv").write_text(text)
    assert "'=1+1,snow" in text and read_errors(tmp_path / "errors.csv").models == ("=1+1",)
