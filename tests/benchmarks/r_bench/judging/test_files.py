import ast
import csv
import io
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.r_bench.judging.comparisons import (
    Item,
    comparisons,
    read_items,
    replies_of_run,
    wanted_cells,
)
from benchc.benchmarks.r_bench.judging.human import human_judge, read_people
from benchc.benchmarks.r_bench.judging.letter import letter_score
from benchc.benchmarks.r_bench.judging.people import people_comparisons
from benchc.benchmarks.r_bench.judging.released import released_judgements
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.corruptions.suites.r_bench import R_BENCH_INDEX
from benchc.errors import InputError
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.references import REFERENCES
from tests.benchmarks.r_bench.judging.replied import PAIRS, Pair, without_answers, written
from tests.benchmarks.r_bench.scored import released_scores
from tests.footers import footer_of
from tests.shared_data import SHARED, needs_shared
from tests.stages import call_stage

CAP = PAIRS[3]
CSV = "id,corruption,severity,answer\n" + "".join(
    f"s/{pair.name},clean,0,{pair.ref}\ns/{pair.name},{pair.corruption},{pair.severity},{pair.dis}\n"
    for pair in PAIRS
)


def test_each_kind_compares_its_texts(tmp_path: Path) -> None:
    # The second cell of one item: its clean reply is judged once, and before a distortion of an earlier name.
    files = written(tmp_path, [CAP._replace(corruption="brightness")])
    rows = read_table(files["answers"][0], ANSWERS)
    more = rows.filter(corruption="brightness").with_columns(
        severity=pl.lit(3, pl.Int64), reply=pl.lit("third")
    )
    write_table(pl.concat([rows, more]), files["answers"][0], ANSWERS, footer_of({"label": "m"}))
    levels = {"brightness": {"s/d": [2, 3]}}
    items = read_items(files["pool"], files["references"], files["tasks"])
    found = [
        (each.severity, each.kind, each.reference, each.reply, each.against)
        for each in comparisons(replies_of_run(files["answers"], levels), items)
    ]
    dis, captions, ref = ("a dog", "third"), ("A dog runs.", "A dog on grass."), "a cat sleeps"
    expected = [(0, "ref", n, ref, caption) for n, caption in enumerate(captions)]
    for severity, reply in zip((2, 3), dis, strict=True):
        expected += [(severity, "dis", n, reply, caption) for n, caption in enumerate(captions)]
        expected.append((severity, "com", 0, reply, ref))
    assert found == expected


def test_only_a_caption_has_several_truths(tmp_path: Path) -> None:
    files = written(tmp_path)
    # As answers to an open question of a source with lists, and as a list of one caption.
    several = (
        pl.when(id="s/c")
        .then(pl.lit(["on the table", "there"]))
        .when(id="s/d")
        .then(pl.lit([], pl.List(pl.String)))
    )
    rows = read_table(files["references"], REFERENCES).with_columns(
        several.otherwise("answers").alias("answers")
    )
    write_table(rows, files["references"], REFERENCES, footer_of(read_footer(files["references"])))
    items = read_items(files["pool"], files["references"], files["tasks"])
    assert (items["s/c"].truths, items["s/d"].truths) == (("on the table",), ("A dog runs.",))


def judged(folder: Path, **changed: Any) -> pl.DataFrame:
    arguments = written(folder) | {"judge.kind": "rule", "output": folder / "judged.parquet"} | changed
    call_stage("r_bench.judge", **arguments)
    return read_table(folder / "judged.parquet", JUDGE_SCORES)


def test_answers_of_another_program_are_judged_as_those_of_the_run(tmp_path: Path) -> None:
    own = judged(tmp_path)
    (tmp_path / "other.csv").write_text(CSV)
    other = judged(tmp_path, answers=[], imported=tmp_path / "other.csv", label="other")
    assert other.equals(own) and read_footer(tmp_path / "judged.parquet")["label"] == "other"
    # A missing answer is named.
    (tmp_path / "other.csv").write_text(CSV.replace("s/c,clean,0,a table on the left side of it\n", ""))
    with pytest.raises(InputError, match=r"other\.csv: 1 missing answer: \(s/c, clean, 0\); add a row"):
        judged(tmp_path, answers=[], imported=tmp_path / "other.csv")
    files = written(tmp_path)
    rows = read_table(files["answers"][0], ANSWERS)
    rows = rows.filter(~((pl.col("id") == "s/b") & (pl.col("severity") > 0)))
    write_table(rows, files["answers"][0], ANSWERS, footer_of({"label": "m"}))
    levels = read_assignment(files["assignment"], {"jpeg": [1, 2, 3]})
    with pytest.raises(InputError, match=r"/m: 1 missing answer: \(s/b, jpeg, 3\); "):
        replies_of_run(files["answers"], levels)

    # An open question is no MCQ.
    files = written(tmp_path)
    tasks = read_table(files["tasks"], TASK_TABLE)
    tasks = tasks.with_columns(task=pl.lit("mcq").cast(TASK_TABLE.columns["task"]))
    write_table(tasks, files["tasks"], TASK_TABLE, footer_of({}))
    with pytest.raises(InputError, match=r"tasks\.parquet: s/c is mcq, but has no options; correct `tasks`"):
        read_items(files["pool"], files["references"], files["tasks"])
    write_table(tasks[:0], files["tasks"], TASK_TABLE, footer_of({}))
    items = read_items(files["pool"], files["references"], files["tasks"])
    replies = replies_of_run(files["answers"], read_assignment(files["assignment"], {"jpeg": [1, 2, 3]}))
    with pytest.raises(InputError, match=r"^pool/tasks.parquet: item s/a is assigned, but has no task; "):
        list(comparisons(replies, items))


RULE = {"judge.kind": "rule"}
HEADER = "model,id,corruption,severity,kind,reference,score\n"
SCORED = HEADER + "".join(
    f"m,{row}\n"
    for row in (
        *("s/b,jpeg,3,dis,0,1", "s/b,jpeg,3,com,0,1"),
        *("s/c,jpeg,2,dis,0,2", "s/c,jpeg,2,dis,0,1", "s/c,clean,0,ref,0,0", "s/c,jpeg,2,com,0,1"),
        *("s/d,jpeg,2,dis,0,2", "s/d,jpeg,2,dis,1,1", "s/d,clean,0,ref,0,0", "s/d,clean,0,ref,1,0"),
        "s/d,jpeg,2,com,0,1",
    )
)
SCORED += "other,s/a,jpeg,2,dis,0,9\nother,s/b,jpeg,3,dis,0,0\n"


def scored(folder: Path, text: str) -> pl.DataFrame:
    (folder / "scores.csv").write_text(text)
    given = {"judge.kind": "human", "scores": folder / "scores.csv", "output": folder / "judged.parquet"}
    call_stage("r_bench.judge", **written(folder), **given)
    return read_table(folder / "judged.parquet", JUDGE_SCORES)


def test_scores_of_people_are_those_of_their_rows(tmp_path: Path) -> None:
    table = scored(tmp_path, SCORED)
    two = table.filter(id="s/c", kind="dis")
    assert two["score"].to_list() == [2, 1] and two["repeat"].to_list() == [0, 1]
    assert table.filter(id="s/d", kind="dis")["score"].to_list() == [2, 1]
    assert table.filter(judge="human").height == 11 and table.filter(judge="letter").height == 4
    call_stage("r_bench.score", judge_scores=tmp_path / "judged.parquet", output=tmp_path / "s.parquet")
    assert read_table(tmp_path / "s.parquet", SCORES)["s_dis"].to_list() == [1, 1, 0.75, 0.75]


def test_scores_that_do_not_count_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = f"note: {tmp_path}/scores.csv:"
    fewer = f"{file} 9 of 10 comparisons of model m have fewer than 2 scores, such as s/b under jpeg at "
    scored(tmp_path, SCORED)
    said = capfd.readouterr().err
    assert fewer in said and "(1)" in said and "not used" not in said
    assert "m: 15 judgements, 4 by letters\n" in said
    scored(tmp_path, SCORED + "m,s/b,jpeg,3,dis,0,1\n" + "m,s/c,jpeg,2,com,0,1\n" * 2)
    assert "fewer than 3 scores, such as s/b under jpeg at severity 3, kind dis, reference 0 (2)" in (
        capfd.readouterr().err
    )
    # Letters may decide all.
    assert human_judge([], {}, tmp_path / "scores.csv", "m", []) == []
    # Of a reply that a letter decides, a score may be there.
    scored(tmp_path, SCORED + "m,s/a,jpeg,2,dis,0,1\n")
    assert "not used" not in capfd.readouterr().err
    missing = (
        r"has no score of model m of s/c under clean at .*; add a row, or correct that of s/C, clean, 0, ref"
    )
    with pytest.raises(InputError, match=f"{missing}, 0, which is not in the run$"):
        scored(tmp_path, SCORED.replace("m,s/c,clean", "m,s/C,clean") + "m,s/e,clean,0,ref,0,0\n")
    with pytest.raises(InputError, match=r"has no score of model m of s/c under clean at .*; add a row$"):
        scored(tmp_path, SCORED.replace("m,s/c,clean", "m,s/C,fog"))
    scored(tmp_path, SCORED + "m,s/0,jpeg,2,dis,0,1\nm,s/c,fog,2,dis,0,1\nother,s/c,jpeg,2,dis,0,1\n")
    said = capfd.readouterr().err
    others = "scores of model m of 2 comparisons that the run does not have, not used, such as of"
    assert f"{file} {others} s/0, jpeg, 2, dis, 0\n" in said
    lines = SCORED.splitlines(keepends=True)
    once = {line.rpartition(",")[0]: line for line in lines}
    scored(tmp_path, "".join(once.values()))
    assert "note:" not in capfd.readouterr().err
    again = [line for line in once.values() if line.startswith("m,")][1:]
    scored(tmp_path, "".join([*once.values(), *again]))
    assert "1 of 10 comparisons of model m has fewer than 2 scores, such as s/b" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "m,s/c,clean,0,ref,0,0\n",
            "",
            "has no score of model m of s/c under clean at severity 0, kind",
        ),
        ("s/b,jpeg,3,dis,0,1", "s/b,jpeg,3,dis,0,2", "the score of s/b .* is '2'; correct it to one of 0, 1"),
        (
            "m,s/c,jpeg,2,dis,0,2\nm,s/c,jpeg,2,dis,0,1",
            "m,s/c,jpeg,2,dis,0,3\nm,s/c,jpeg,2,dis,0,4",
            "the score of s/c .* is '3'; correct it to one of 0, 1, 2",
        ),
        ("reference,score", "reference,points", "has no column 'score'"),
        # Else the second person's score would not count.
        (
            "2,dis,0,1\nm,s/c,clean",
            "2,Dis,0,1\nm,s/c,clean",
            "row 5: kind is 'Dis'; it should be dis, ref",
        ),
        (
            "2,dis,0,1\nm,s/c,clean",
            "2.0,dis,0,1\nm,s/c,clean",
            "row 5: severity is '2.0'; it should be a",
        ),
        ("dis,1,1", "dis,01,1", "row 9: reference is '01'; it should be a whole number, from 0"),
        ("m,s/b,jpeg,3,dis,0,1", "m,s/b,jpeg", "row 2: has fewer cells than the header; complete it"),
    ],
)
def test_scores_that_cannot_be_used_are_one_sentence(tmp_path, old, new, message) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(SCORED.replace(old, new))
    files = written(tmp_path)
    items = read_items(files["pool"], files["references"], files["tasks"])
    replies = replies_of_run(files["answers"], read_assignment(files["assignment"], {"jpeg": [1, 2, 3]}))
    asked = [each for each in comparisons(replies, items) if letter_score(each) is None]
    with pytest.raises(InputError, match=rf"^{tmp_path}/scores\.csv: {message}"):
        human_judge(asked, read_people(path, "m"), path, "m", comparisons(replies, items))


def answered(folder: Path, *answers: dict[str, str], **more: Any) -> pl.DataFrame:
    files = []
    for number, one in enumerate(answers):
        files.append(folder / f"p{number}.csv")
        files[-1].write_text("id,answer\n" + "".join(f"s/{id_},{text}\n" for id_, text in one.items()))
    arguments = written(folder, PAIRS[:3])
    del arguments["answers"], arguments["label"]
    call_stage(
        "r_bench.judge_people", **arguments, **RULE, people=files, output=folder / "people.parquet", **more
    )
    return read_table(folder / "people.parquet", SCORES)


# Scores of a, b, c: 1 1 1, 0 0 0, 1 0 .5 and 0 1 1.
BEST = {"a": "B", "b": "A", "c": "on the table"}
WORST = {"a": "A", "b": "", "c": "no"}
MIDDLE = {"a": "B", "b": "B", "c": "the table"}
OTHER = {"a": "a dog", "b": "red", "c": "on the table"}


def test_the_best_and_the_worst_person_are_left_out(tmp_path: Path) -> None:
    scores = answered(tmp_path, OTHER, WORST, BEST, MIDDLE)
    assert scores["id"].to_list() == ["s/a", "s/b", "s/c"]
    assert scores["absolute"].to_list() == [0.5, 0.5, 0.75]
    assert scores["relative"].null_count() == 3
    footer = read_footer(tmp_path / "people.parquet")
    assert footer["label"] == "people" and footer["judge"] == "rule" and footer["judgements"] == 4 * 3 - 5
    # Of two best people, the first one counts as the best.
    other = {"a": "B", "b": "B", "c": "on the table"}
    assert answered(tmp_path, OTHER, other, WORST)["absolute"].to_list() == [1, 0, 1]
    # Two people are too few.
    with pytest.raises(InputError, match=r"^people: 2 given, .*; give at least 3$"):
        answered(tmp_path, BEST, WORST)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"a": "B", "b": "A"}, "has no answer to s/c; add a row"),
        ({**BEST, "z": "B"}, "row 5: 's/z' is no assigned item; remove the row"),
    ],
)
def test_ids_that_differ_are_one_sentence(tmp_path: Path, answers: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}/p1\.csv: {message}"):
        answered(tmp_path, BEST, answers, WORST)


def test_a_person_answers_an_item_once(tmp_path: Path) -> None:
    shown = wanted_cells({"brightness": {"s/a": [2]}, "jpeg": {"s/b": [3]}})
    files = written(tmp_path, PAIRS[:2])
    items = read_items(files["pool"], files["references"], files["tasks"])
    path = tmp_path / "person.csv"
    path.write_text("id,answer\ns/b,A\ns/a,B\ns/b,B\n")
    with pytest.raises(InputError, match=r"person\.csv: row 4: 's/b' has a second answer; remove one$"):
        people_comparisons(path, shown, items)
    path.write_text("id,answer\ns/b,A\ns/a,B\n")
    found = [(each.item.id, each.severity, each.reply) for each in people_comparisons(path, shown, items)]
    assert found == [("s/a", 2, "B"), ("s/b", 3, "A")]
    levels = {"snow": {"s/b": [1]}, "jpeg": {"s/b": [3], "s/a": [3, 2]}, "brightness": {"s/a": [1]}}
    twice = wanted_cells(levels)
    cells = [("s/a", "clean", 0), ("s/a", "brightness", 1), ("s/a", "jpeg", 2), ("s/a", "jpeg", 3)]
    cells += [("s/b", "clean", 0), ("s/b", "jpeg", 3), ("s/b", "snow", 1)]
    assert twice.rows() == cells
    with pytest.raises(
        InputError, match=r"^item s/a is shown under several dimensions, but answers of people"
    ):
        people_comparisons(path, twice, items)


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
    columns = (pl.col("task", "dimension").cast(pl.String), "severity", pl.col(pl.Float64).round(9))
    found, expected = (each.select(columns).sort(pl.all()) for each in (scores, released_scores()))
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
    assert table.select("reference", "repeat", "judge").unique().rows() == [(0, 0, "published")]
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
        (GOOD.replace("1.0", "1.5"), r"row 2: 'a.jpg' has the result '1.5', no number in 0..1"),
        (GOOD.replace("b.png", "b.jpg") + "b.bmp,1\n", "'b.jpg' and 'b.bmp' may be item s/b; remove one row"),
        (GOOD.replace("1.0", "0.6"), "'a.jpg' has the result 0.6, but it is a multiple-choice item"),
        (GOOD.replace("1.0", "good"), r"row 2: 'a.jpg' has the result 'good', no number in 0..1"),
        (GOOD.replace("1.0", "nan"), r"row 2: 'a.jpg' has the result 'nan', no number in 0..1"),
        (b"name,result\na,1\n\x81\x20,0\n", "row 3: the byte 0x81 is not of UTF-8 or GB 18030"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(tmp_path: Path, text: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"^{tmp_path}/com\.csv: {message}"):
        imported(tmp_path, com=text)


def test_results_without_an_item_are_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert imported(tmp_path, com=GOOD + "e.jpg,1\nf.jpg,0\n").equals(imported(tmp_path))
    line = f"note: {tmp_path}/com.csv: 2 results of no item of the run, such as that of 'e.jpg', not used"
    assert capfd.readouterr().err.splitlines() == [line]
    # Items under several dimensions have no judgements by name.
    arguments = without_answers(written(tmp_path, PAIRS))
    twice = [*PAIRS, *(pair._replace(severity=1) for pair in PAIRS[:2])]
    (tmp_path / "other").mkdir()
    arguments["assignment"] = written(tmp_path / "other", twice)["assignment"]
    (tmp_path / "x.csv").write_text(GOOD)
    files = dict.fromkeys(("dis", "ref", "com"), tmp_path / "x.csv")
    with pytest.raises(InputError, match=r"^item s/a is shown under several dimensions, but judgements name"):
        call_stage("r_bench.import_judgements", **arguments, **files, output=tmp_path / "judged.parquet")


def test_a_result_is_of_one_item_though_ids_have_dots(tmp_path: Path) -> None:
    pairs = [PAIRS[2]._replace(name=name) for name in ("12", "12.1", "13.png")]
    text = "name,result\n12.jpg,0\n12.1.jpg,1\n13,1\n"
    table = imported(tmp_path, pairs, dis=text, ref=text, com=text)
    assert table.filter(kind="dis").select("id", "score").rows() == [
        ("s/12", 0),
        ("s/12.1", 2),
        ("s/13.png", 2),
    ]
    with pytest.raises(InputError, match=r"com\.csv: '12' may be item s/12 or s/12\.1; give each a row with"):
        imported(tmp_path, pairs, dis=text, ref=text, com="name,result\n12,0\n13,1\n")
    # Cells may come in any order.
    cells = pl.DataFrame(
        [("s/12.1", "jpeg", 2), ("s/12", "jpeg", 2)], ["id", "corruption", "severity"], orient="row"
    )
    items = {id_: Item(id_, "vqa", "", (), ("",)) for id_ in cells["id"]}
    (tmp_path / "dis.csv").write_text("name,result\n12,0\n")
    with pytest.raises(InputError, match=r"dis\.csv: '12' may be item s/12\.1 or s/12; give each a row with"):
        released_judgements(cells, items, {"dis": tmp_path / "dis.csv"})
