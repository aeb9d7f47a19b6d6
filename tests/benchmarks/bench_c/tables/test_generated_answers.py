"""The printed table of answers in the models' own words."""

import polars as pl

from benchc.benchmarks.bench_c.tables.generated_answers import generated_answers
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import write_table
from tests.standings import standings_of


def test_the_first_rows_are_chance(tmp_path):
    cells = [(f"s/{n}", c, level) for n in range(4) for c, level in (("clean", 0), ("fog", 1), ("fog", 2))]
    judged = pl.DataFrame(cells, schema=["id", "corruption", "severity"], orient="row").with_columns(
        *(
            pl.lit(None, dtype).alias(name)
            for name, dtype in JUDGEMENTS.columns.items()
            if name not in ("id", "corruption", "severity")
        )
    )
    judged = judged.with_columns(pl.lit(1, JUDGEMENTS.columns["option"]).alias("option"))
    path = tmp_path / "m.parquet"
    write_table(judged.select(*JUDGEMENTS.columns).cast(dict(JUDGEMENTS.columns)), path, JUDGEMENTS)
    pool = pl.DataFrame({"id": [f"s/{n}" for n in range(4)], "answer": [1, 1, 1, 0]})
    chance = standings_of(["M"], ["M"], guessing=0.25, constant=0.75)
    table = generated_answers([path], [], pool, chance, {"m": "M"}, draws=20, seed=0)
    assert table.frame["label"].to_list() == ["M"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.markdown.splitlines()[2:5]]
    assert [row[0] for row in rows] == ["Guessing", "Always B", "M"]
    assert [row[2:5] for row in rows[:2]] == [["0.250", "0.250", "0.000"], ["0.750", "0.750", "0.000"]]
    assert rows[2][2].startswith("0.750")
    # The marks of other tables are of predictions from logits, and not of these answers.
    assert "†" not in table.markdown and "The first rows are chance" in " ".join(table.markdown.split())
