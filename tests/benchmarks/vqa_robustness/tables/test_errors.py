import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.benchmarks.vqa_robustness.tables.class_accuracy import class_accuracy
from benchc.benchmarks.vqa_robustness.tables.errors import errors
from benchc.benchmarks.vqa_robustness.tables.table_a2 import table_a2
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
