import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.benchmarks.vqa_robustness.tables.class_accuracy import class_accuracy
from benchc.benchmarks.vqa_robustness.tables.errors import errors
from benchc.benchmarks.vqa_robustness.tables.table_a2 import table_a2
from benchc.errors import InputError
from benchc.schemas.references import REFERENCES
from tests.benchmarks.printed import text_of
from tests.benchmarks.vqa_robustness.graded import grades, pool_of

IDS = ["s/0", "s/1", "s/2", "s/3"]
CORRUPTIONS = ["snow", "fog"]
LABELS = {"m": "Model M", "n": "N, the other"}


@pytest.fixture
def right() -> np.ndarray:
    """Grades [2 models, 2 corruptions, 6, 4 items] of 0, 0.3 or 1; those of level 0 are of no corruption."""
    values = np.random.default_rng(3).choice([0, 0.3, 1.0], (2, 2, 6, 4))
    values[:, 1, 0] = values[:, 0, 0]
    return values


@pytest.fixture
def graded(right) -> dict[str, pl.DataFrame]:
    return {id_: grades(values, CORRUPTIONS, IDS) for id_, values in zip(LABELS, right, strict=True)}


@pytest.mark.parametrize("grade", ["exact", "normalised", "soft"])
def test_each_cell_counts_its_answers(right, graded, grade, tmp_path):
    table = errors(graded, LABELS, CORRUPTIONS, grade)
    values = {"exact": right == 1, "normalised": right > 0, "soft": right}[grade]
    assert table.frame.height == 2 * 2 * 6
    for row in table.frame.iter_rows(named=True):
        cell = list(LABELS.values()).index(row["model"]), CORRUPTIONS.index(row["corruption"]), row["level"]
        assert row["n"] == 4
        assert row["wrong"] == pytest.approx(sum(1 - values[cell]))
        assert row["error"] == pytest.approx(row["wrong"] / 4)
        # The first item's wrong answers are empty, the second's are cut off.
        assert (row["empty"], row["cut_off"]) == (right[cell][0] == 0, right[cell][1] == 0)
    path = tmp_path / "errors.csv"
    table.frame.write_csv(path)
    read = read_errors(path)
    assert (read.models, read.corruptions) == (tuple(LABELS.values()), tuple(CORRUPTIONS))
    np.testing.assert_allclose(read.values, 1 - values.mean(axis=-1))
    assert "Errors on 4 items, graded " + grade in text_of(table)


def test_counts_are_whole_numbers_unless_grades_are_soft_and_imported_answers_not_cut_off(graded):
    assert errors(graded, LABELS, CORRUPTIONS, "exact").frame["wrong"].dtype == pl.Int64
    assert errors(graded, LABELS, CORRUPTIONS, "soft").frame["wrong"].dtype == pl.Float64
    # This run did not make these answers.
    imported = {id_: each.with_columns(finish=pl.lit(None, pl.String)) for id_, each in graded.items()}
    assert errors(imported, LABELS, CORRUPTIONS, "exact").frame["cut_off"].sum() == 0


def test_accuracy_by_class(right, graded):
    pool = pool_of(IDS, categories=["how many", "is the", "why", "are the"])
    long = class_accuracy(graded, pool, LABELS, CORRUPTIONS, "soft").frame
    assert long.height == 2 * 2 * 2 * 6
    place = {"question_class": "is_are_the", "model": "N, the other", "corruption": "fog", "level": 4}
    found = long.filter(**place).select("n", "accuracy").row(0)
    assert found == (2, pytest.approx(right[1, 1, 4, [1, 3]].mean()))
    truths = {"2": ["2"] * 10, "yes": ["yes"] * 10, "so": ["so"] * 10, "no": ["no"] * 7 + ["yes"] * 3}
    rows = zip(IDS, truths, truths.values(), strict=True)
    references = pl.DataFrame(rows, schema=pl.Schema(REFERENCES.columns), orient="row")
    table = table_a2(graded, pool, references, LABELS, CORRUPTIONS, "soft")
    whole = table_a2(graded, pool, references, LABELS, CORRUPTIONS, "soft", "0..5")
    for found, first in ((table, 1), (whole, 0)):
        cell = found.frame.filter(corruption="snow", question_class="how_many")
        assert cell["accuracy"].item() == pytest.approx(right[:, 0, first:, 0].mean())
    lines = table.markdown.splitlines()
    header, last = ([cell.strip() for cell in lines[row].split("|")[1:-1]] for row in (0, 5))
    assert header == ["Corruption", "Is/are the (n = 2)", "How many (n = 1)"]
    # "yes": 1 of the one question, 3 x min(2/3, 1) + 7 x min(3/3, 1) of 10 of the other.
    chance = [cell.strip() for cell in lines[2].split("|")[1:-1]]
    assert chance == ["chance", "0.950", "1.000"]
    assert "(Is/are the: yes, How many: 2)" in text_of(table)
    means = right[:, :, 1:][..., [1, 3]].mean(), right[:, :, 1:, 0].mean()
    assert last == ["mean", *(f"{value:.3f}" for value in means)]
    assert "1 question of other types have no class" in text_of(table)
    # Values of the paper are beside those under the same names.
    published = table.published
    assert published is not None and published["corruption"].unique().to_list() == ["snow"]
    assert published.filter(question_class="how_many")["published"].item() == 0.431


HEADER = "model,corruption,level,error"
ROWS = [f"{model},{name},{level},0.{level}5" for model in "ab" for name in "xy" for level in range(6)]


def read_rows(folder, rows, header=HEADER):
    (folder / "own.csv").write_text("\n".join([header, *rows]) + "\n")
    return read_errors(folder / "own.csv")


def test_rows_may_be_in_any_order_with_other_columns_and_levels_as_pandas_writes_them(tmp_path):
    found = read_rows(tmp_path, ROWS)
    assert (found.models, found.corruptions) == (("a", "b"), ("x", "y"))
    np.testing.assert_allclose(found.values, np.tile(np.arange(6) / 10 + 0.05, (2, 2, 1)))
    floats = [f"1,{row[:4]}{row[4]}.0 , {row[6:]}" for row in ROWS]
    again = read_rows(tmp_path, floats[:1] + floats[:0:-1], " N ,Model,corruption,LEVEL,error")
    assert again.models == ("a", "b") and again.corruptions == ("x", "y")
    np.testing.assert_array_equal(again.values, found.values)
    # 0 and 1 are errors, and those of level 0 may differ by what a computer rounds.
    whole = ["a,x,0,0", "a,x,1,1", *(f"a,x,{level},1" for level in range(2, 6)), "a,y,0,1e-9", *ROWS[7:12]]
    assert read_rows(tmp_path, whole).values[0, 0].tolist() == [0, 1, 1, 1, 1, 1]
    # Errors have three digits at least. Counts of a row may be left out.
    counts = [f"{row},2000,{2000 * float(row[6:]) - 1:g}" for row in ROWS[1:]] + [f"{ROWS[0]},,"]
    table = read_rows(tmp_path, counts, f"{HEADER},n,wrong")
    np.testing.assert_array_equal(table.values, found.values)


@pytest.mark.parametrize(
    ("rows", "header", "sentence"),
    [
        (
            ROWS[:-2],
            HEADER,
            r"b has no error under y at level 4; add the row \(each model needs the levels 0 to 5",
        ),
        (
            [*(row for row in ROWS if ",0," not in row), "a,Clean,0,0.1", "b,Clean,0,0.2"],
            HEADER,
            "Clean is no corruption; write the clean error of a model as level 0 of each of its corruptions",
        ),
        ([*ROWS, ROWS[3], ROWS[2]], HEADER, "row 26: a has a second error under x at level 3; remove one"),
        *(
            (
                [ROWS[0], f"a,x,1,{error}", *ROWS[2:]],
                HEADER,
                f"row 3: error '{error}' is no number from 0 to 1",
            )
            for error in ("1.001", "-0.001", "nan", "", "x")
        ),
        *(
            ([*ROWS, f"a,x,{level},0.5"], HEADER, f"row 26: level '{level}' is no level from 0 to 5; correct")
            for level in ("6", "-1", "1.5", "")
        ),
        ([*ROWS, ",x,1,0.5"], HEADER, "row 26: model '' is no name; name the model"),
        ([*ROWS, " ,x,1,0.5"], HEADER, "row 26: model '' is no name"),
        ([*ROWS, "a\0,x,1,0.5"], HEADER, r"row 26: model 'a.x00' is no name"),
        ([*ROWS, "a,,1,0.5"], HEADER, "row 26: corruption '' is no name; name the corruption"),
        (
            [*ROWS[:6], "a,y,0,0.0501", *ROWS[7:18], "b,y,0,0.06", *ROWS[19:]],
            HEADER,
            "row 8: the error of a at level 0 is 0.0501 under y, but 0.05 in an earlier row; level 0 is of",
        ),
        (
            [f"{row},1000,{1000 * float(row[6:]) - (number == 4):g}" for number, row in enumerate(ROWS)],
            f"{HEADER},n,wrong",
            "row 6: wrong '449' is not error . n; correct one of them",
        ),
        ([f"{row},1,1" for row in ROWS], f"{HEADER},Error,Model", "has two columns 'model'; remove one"),
        (
            ROWS,
            "model,corruption,severity,mistake",
            r"has no column 'level' \(it has model, corruption, sev.*commas",
        ),
        ([], HEADER, "has no rows; add one for each model, corruption and level"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_row(tmp_path, rows, header, sentence):
    with pytest.raises(InputError, match=rf"own\.csv: {sentence}"):
        read_rows(tmp_path, rows, header)


def test_rows_of_a_parquet_file_are_counted_from_the_first(tmp_path):
    rows = [(*row.split(",")[:2], int(row[4]), float(row[6:])) for row in ROWS]
    frame = pl.DataFrame(rows, schema=HEADER.split(","), orient="row")
    frame.write_parquet(tmp_path / "own.parquet")
    assert read_errors(tmp_path / "own.parquet").values[1, 1].tolist() == [0.05, 0.15, 0.25, 0.35, 0.45, 0.55]
    frame.with_columns(error=pl.lit(2.0)).write_parquet(tmp_path / "own.parquet")
    with pytest.raises(InputError, match=r"own\.parquet: row 1: error '2.0' is no number from 0 to 1"):
        read_errors(tmp_path / "own.parquet")
    frame.drop("level").write_parquet(tmp_path / "own.parquet")
    with pytest.raises(
        InputError, match=r"has no column 'level' .* it needs model, corruption, level, error$"
    ):
        read_errors(tmp_path / "own.parquet")
    with pytest.raises(InputError, match=r"none\.txt: no such file; give a CSV file with model, corruption"):
        read_errors(tmp_path / "none.txt")
    (tmp_path / "own.csv").write_text(f"{HEADER}\na,b,c,d,e,f\n")
    with pytest.raises(
        InputError, match=r"own\.csv: cannot be read as CSV \(found more .*\); correct the file"
    ):
        read_errors(tmp_path / "own.csv")
