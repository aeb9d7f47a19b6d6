"""The printed table of answers in the models' own words."""

import polars as pl

from benchc.benchmarks.bench_c.tables.generated_answers import generated_answers
from benchc.schemas.judgements import JUDGEMENTS
from tests.benchmarks.bench_c.outputs import flat, rows_of, write_filled
from tests.standings import standings_of


def test_the_first_rows_are_chance(tmp_path):
    cells = [(f"s/{n}", c, level) for n in range(4) for c, level in (("clean", 0), ("fog", 1), ("fog", 2))]
    columns = dict(zip(("id", "corruption", "severity"), zip(*cells, strict=True), strict=True))
    path = tmp_path / "m.parquet"
    write_filled(columns | {"option": 1}, path, JUDGEMENTS)
    pool = pl.DataFrame({"id": [f"s/{n}" for n in range(4)], "answer": [1, 1, 1, 0]})
    chance = standings_of(["M"], ["M"], guessing=0.25, constant=0.75)
    table = generated_answers([path], [], pool, chance, {"m": "M"}, draws=20, seed=0)
    assert table.frame["label"].to_list() == ["M"]
    rows = rows_of(table.markdown)[2:5]
    assert [row[0] for row in rows] == ["Guessing", "Always B", "M"]
    assert [row[2:5] for row in rows[:2]] == [["0.250", "0.250", "0.000"], ["0.750", "0.750", "0.000"]]
    assert rows[2][2].startswith("0.750")
    # The marks of other tables are of predictions from logits, and not of these answers.
    assert "†" not in table.markdown and "The first rows are chance" in flat(table.markdown)
