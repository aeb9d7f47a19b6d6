"""Marks, notes and rows of chance, and intervals of one value."""

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.rendering.chance import Standings, printed_standings, read_standings
from benchc.rendering.printing import Column, printed
from tests.rendering.latex import check_latex
from tests.standings import standings_of

MODELS = ["One", "Two", "Three"]


def test_models_have_marks_and_a_note_explains_those_that_occur():
    found = standings_of(MODELS, below=["Two"], low_mass=["Two", "Three"])
    assert found.marked(pl.Series([*MODELS, "Guessing"])).to_list() == [
        "One", "Two †‡", "Three ‡", "Guessing",
    ]  # fmt: skip
    assert found.note == (
        " †: Acc(o) is not above chance. ‡: low label mass, so the model would mostly answer with other "
        "words. Models with a mark have no rank."
    )
    assert found.ranked == ["One"] and found.not_ranked == ["Two", "Three"]
    assert found.left_out == " Without Two, Three: not above chance, or of low label mass (table chance)."
    only = standings_of(MODELS, below=["Two"])
    assert "‡" not in only.note and "†" in only.note
    assert only.left_out == " Without Two: not above chance (table chance)."
    none = found.frame.with_columns(accuracy=None, above_chance=None, low_label_mass=pl.lit(value=False))
    assert Standings(none).left_out == " Without Two, Three: without an accuracy (table chance)."
    # The setting that ranks them leaves the marks.
    every = standings_of(MODELS, below=["Two"], ranked=MODELS)
    assert every.note == " †: Acc(o) is not above chance." and every.left_out == ""
    plain = standings_of(MODELS)
    assert (plain.note, plain.left_out) == ("", "") and plain.marked(pl.Series(MODELS)).to_list() == MODELS


def test_the_rows_of_chance():
    rows = standings_of(MODELS).references("label", "acc", ras=0.0).to_dicts()
    assert rows == [
        {"label": "Guessing", "acc": 0.25, "ras": None},
        {"label": "Always B", "acc": 0.3, "ras": 0.0},
    ]
    opened = standings_of(MODELS, guessing=None, answer="red")
    assert opened.references("label", "acc").to_dicts() == [{"label": "Always red", "acc": 0.3}]
    assert opened.rows_note == " The first row is chance: the best answer that is always the same."
    assert standings_of(MODELS).rows_note.startswith(" The first rows are chance: the expected value of")
    with pytest.raises(InputError, match="the table chance has no models"):
        standings_of([]).references("label", "acc")


def test_the_table_can_be_read_back(tmp_path):
    # Labels of checkpoints may be numbers.
    for models in (MODELS, ["000100", "1.10", "1e3"]):
        found = standings_of(models, below=[models[1]])
        found.frame.write_csv(tmp_path / "chance.csv")
        assert read_standings(tmp_path / "chance.csv").frame.equals(found.frame)
        assert read_standings(tmp_path / "chance.csv").ranked == [models[0], models[2]]
    found.frame.drop("ranked").write_csv(tmp_path / "old.csv")
    with pytest.raises(InputError, match=r"old.csv: has no column ranked; delete it"):
        read_standings(tmp_path / "old.csv")


def test_the_table_says_what_the_setting_does():
    frame = standings_of(MODELS, below=["Two"]).frame
    table = printed_standings(frame, "9 resamples", rank_below_chance=False, least_label_mass=0.4)
    text = " ".join(table.markdown.split())
    assert "| Two | 0.500 [0.200, 0.800] | 0.250 | B: 0.300 | – | no | no |" in text
    assert "below 0.4, a model" in text and "have no rank" in text and "lies above both" in text
    assert check_latex(table.latex) == ([], {"booktabs"})
    every = printed_standings(frame, "9 resamples", rank_below_chance=True)
    text = " ".join(every.markdown.split())
    assert "tables.ranking.below_chance" in text and "have no rank" not in text and "abel mass" not in text


def test_an_interval_of_one_value_is_a_dash_with_a_sentence():
    columns = [Column("model", "Model"), Column("acc", "Acc", interval=True, digits=1)]
    rows = {"model": ["a", "b"], "acc": [0.0, 50.0], "acc_low": [0.0, 40.0], "acc_high": [0.0, 60.0]}
    table = printed(pl.DataFrame(rows), columns, caption="C.", label="l")
    text = " ".join(table.markdown.split())
    assert "| a | 0.0 [–] |" in text and "50.0 [40.0, 60.0]" in text and "[0.0, 0.0]" not in text
    assert text.endswith("C. Where all resamples give one value, which shows no spread, the interval is [–].")
    assert r"$0.0\ [\textrm{--}]$" in table.latex and "shows no spread" in table.latex
    assert table.frame["acc_low"].to_list() == [0.0, 40.0]  # the csv file keeps them
    other = printed(pl.DataFrame(rows).tail(1), columns, caption="C.", label="l")
    assert "resamples" not in other.markdown


def test_a_rank_may_be_certain():
    columns = [Column("model", "Model"), Column("rank", "Rank", interval=True, digits=0)]
    rows = {"model": ["a"], "rank": [1.0], "rank_low": [1.0], "rank_high": [1.0]}
    assert "1 [1, 1]" in printed(pl.DataFrame(rows), columns, caption="C.", label="l").markdown


def test_references_have_no_intervals():
    columns = [Column("model", "Model"), Column("acc", "Acc", interval=True)]
    none = [None, None]
    frame = pl.DataFrame({"model": ["Chance", "a"], "acc": [0.25, 0.5], "acc_low": none, "acc_high": none})
    text = printed(frame, columns, caption="C.", label="l", references=1).markdown
    assert "0.250 |" in text and "0.500 [–]" in text and "0.250 [" not in text


def test_a_rank_that_is_null_is_not_printed():
    columns = [Column("model", "Model"), Column("ras", "RAS", signed=True, rank=True)]
    frame = pl.DataFrame({"model": ["a", "b"], "ras": [0.1, -0.1], "rank_ras": [None, 1]})
    table = printed(frame, columns, caption="C.", label="l")
    assert "+0.100 |" in table.markdown and "-0.100 (1)" in table.markdown and "None" not in table.latex


def test_readings_have_standings_of_their_own():
    parts = [
        standings_of(MODELS, below=[below]).frame.with_columns(reading=pl.lit(below))
        for below in ("One", "Two")
    ]
    assert Standings(pl.concat(parts)).of("Two").ranked == ["One", "Three"]
