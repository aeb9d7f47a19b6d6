from pathlib import Path

import polars as pl
import pytest

from benchc.errors import InputError
from benchc.schemas.answers import ANSWERS
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import TableError, read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from scripts.judge_options import judge_options
from tests.footers import footer_of

REPLIES = ["B", "The answer is C.", "no idea", "A or B", "red"]


def answers(folder: Path, pool: Path, model: str = "m", replies=REPLIES, finish: str = "stop") -> Path:
    rows = [(f"s/{number}", "clean", 0, reply, finish, 3, "p", "i") for number, reply in enumerate(replies)]
    frame = pl.DataFrame(rows, schema=pl.Schema(ANSWERS.columns), orient="row")
    path = folder / model / "all.parquet"
    footer = {"label": "m", "answers": len(rows), "pool": pool_digest(pool, QUESTION_COLUMNS), "seed": 1}
    write_table(frame, path, ANSWERS, footer_of(footer))
    return path


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    options = [["cat", "dog", "cow"]] * 4 + [["blue", "red"], []]
    columns = {"id": [f"s/{number}" for number in range(6)], "options": options}
    frame = pl.DataFrame(columns, schema={name: POOL.columns[name] for name in columns})
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name not in columns}
    write_table(frame.with_columns(**absent).select(*POOL.columns), tmp_path / "pool.parquet", POOL)
    return tmp_path / "pool.parquet"


def judge(pool: Path, *paths: Path) -> Path:
    output = pool.parent / "judgements.parquet"
    judge_options(pool=pool, answers=[*paths], output=output)
    return output


def test_an_answer_without_text_at_its_limit_is_unfinished(pool, tmp_path):
    replies = ["", "B", "no", "", "red"]
    for finish, without in (("length", "unfinished"), ("stop", "unparsable")):
        judged = read_table(judge(pool, answers(tmp_path, pool, replies=replies, finish=finish)), JUDGEMENTS)
        assert judged["status"].to_list() == [without, "letter", "unparsable", without, "text"]


def test_each_answer_has_its_option_or_the_reason_why_not(pool, tmp_path, capsys):
    output = judge(pool, answers(tmp_path, pool))
    table = read_table(output, JUDGEMENTS)
    assert table["option"].to_list() == [1, 2, None, None, 1]
    assert table["status"].to_list() == ["letter", "letter", "unparsable", "ambiguous", "text"]
    footer = read_footer(output)
    assert (footer["label"], footer["answers"], footer["seed"]) == ("m", 5, 1)
    assert "m: 5 answers, 2 without an option (1 ambiguous, 1 unparsable)" in capsys.readouterr().err


def test_answers_to_open_questions_or_of_another_model_or_pool_are_refused(pool, tmp_path):
    with pytest.raises(InputError, match="item s/5 is an open-ended question"):
        judge(pool, answers(tmp_path, pool, replies=[*REPLIES, "a dog"]))
    with pytest.raises(TableError, match="its answers are those of m, but its folder is other"):
        judge(pool, answers(tmp_path, pool, model="other"))
    path = answers(tmp_path, pool)
    write_table(pl.DataFrame(schema=pl.Schema(POOL.columns)), pool, POOL)
    with pytest.raises(TableError, match="not on the items of"):
        judge(pool, path)


def test_answers_of_two_revisions_are_refused(pool, tmp_path):
    paths = [answers(tmp_path, pool).rename(tmp_path / f"m/{part}.parquet") for part in ("fog", "snow")]
    facts = read_footer(paths[0])
    write_table(read_table(paths[1], ANSWERS), paths[1], ANSWERS, footer_of({**facts, "revision": "2"}))
    with pytest.raises(InputError, match=r"snow\.parquet: its revision is 2, that of .*fog\.parquet is None"):
        judge(pool, *paths)
