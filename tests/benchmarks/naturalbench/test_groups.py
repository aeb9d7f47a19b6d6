"""Groups are whole, alternate, and are told from the source's file; others are listed with the reason."""

from collections import Counter
from itertools import permutations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.groups import Groups, groups_of_pool, problem_of
from benchc.benchmarks.naturalbench.places import Place, Source
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.errors import InputError
from benchc.schemas.parquet import read_table
from benchc.schemas.subset import SUBSET
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.benchmarks.naturalbench.group_files import PLACES, group, pool_of, write_pool
from tests.shared_data import SHARED, needs_shared
from tests.sources.tsv_files import encoded, image_bytes, write_tsv
from tests.stages import call_stage

ROOT = Path(__file__).resolve().parents[3]
PAIRED = SHARED / "data/real/paired/NaturalBench_Flickr8k.tsv.xz"


def found(folder: Path, rows: list[dict[str, str]], limit: int | None = None) -> Groups:
    tsv, pool = write_pool(folder, rows)
    return groups_of_pool(pool, {"nb": Source(tsv, "Own photos")}, limit)


def reasons(folder: Path, rows: list[dict[str, str]]) -> list[tuple[str, ...]]:
    """Return the report on rows beside those of a good group, which is kept."""
    groups = found(folder, [*rows, *group("good", 100)])
    assert groups.table["group"].unique().to_list() == ["nb/good"]
    assert set(groups.report["file"]) == {str(folder / "nb.tsv")}
    return groups.report.select("group", "kind", "reason").rows()


def test_a_group_has_four_items_in_pool_order(tmp_path: Path) -> None:
    rows = group("x", 4, options=("a cup", "a dog")) + group("y", 8)
    groups = found(tmp_path, rows[::-1])
    common = ("Own photos", "multiple_choice", "English", "mined")
    assert groups.table.rows()[:4] == [
        ("nb/4", "nb/x", 0, 0, *common),
        ("nb/5", "nb/x", 0, 1, *common),
        ("nb/6", "nb/x", 1, 0, *common),
        ("nb/7", "nb/x", 1, 1, *common),
    ]
    assert groups.table["id"].to_list() == [f"nb/{number}" for number in range(4, 12)]
    assert set(groups.table.filter(group="nb/y")["type"]) == {"yes_no"}
    assert groups.items["id"].to_list() == groups.table["id"].to_list()
    # One item of each question, which is about image 0.
    assert groups.questions["id"].to_list() == ["nb/4", "nb/6", "nb/8", "nb/10"]
    assert groups.report.is_empty()


def test_columns_tell_subset_language_and_method(tmp_path: Path) -> None:
    rows = group("x", 4, **{"l2-category": "flickr", "source": "s"}, language="Hindi", method="random")
    rows += group("y", 8, source="COCO") + group("z", 12, **{"l2-category": "nan"})
    table = found(tmp_path, rows).table
    told = {name: table.filter(group=f"nb/{name}").select("subset", "language", "method") for name in "xyz"}
    assert {name: set(rows.rows()) for name, rows in told.items()} == {
        "x": {("Flickr30K", "Hindi", "random")},
        "y": {("COCO", "English", "mined")},
        "z": {("Own photos", "English", "mined")},
    }


def test_spaces_around_cells_and_the_case_of_a_subset_do_not_matter(tmp_path: Path) -> None:
    rows = [
        row | {"q_idx": f" {row['q_idx']} ", "img_idx": f"{row['img_idx']} "}
        for row in group("x", 4, **{"l2-category": " Flickr30k"})
    ]
    groups = found(
        tmp_path, [rows[0] | {"group": " x"}, *rows[1:], *group("y", 8, **{"l2-category": "docci"})]
    )
    assert groups.report.is_empty()
    assert groups.table.select("group", "q_idx", "i_idx").rows()[:4] == [("nb/x", *place) for place in PLACES]
    assert groups.table["subset"].to_list() == ["Flickr30K"] * 4 + ["DOCCI"] * 4


def test_the_first_row_of_an_index_is_the_item(tmp_path: Path) -> None:
    rows = group("x", 4)
    groups = found(tmp_path, [*rows, rows[0] | {"group": "y", "language": "Hindi"}])
    assert groups.table.select("group", "language").rows() == [("nb/x", "English")] * 4


def test_the_type_is_that_of_a_column_or_else_of_all_options(tmp_path: Path) -> None:
    rows = group("a", 8, options=("Yes", "No"), category="multiple_choice")
    rows += group("b", 12, options=("left", "right"), category="space")
    rows += group("c", 16, options=("yes", "NO"), category="space")
    mixed = group("d", 20, category="multiple_choice")
    rows += mixed[:2] + [row | {"A": "left", "B": "right"} for row in mixed[2:]]
    table = found(tmp_path, rows).table
    types = {name[3:]: kind for name, kind in table.select("group", "type").unique().rows()}
    choice = "multiple_choice"
    assert types == {"a": choice, "b": choice, "c": "yes_no", "d": choice}


@pytest.mark.parametrize(
    ("category", "columns", "kind"),
    [
        ("space", {"type": "multiple_choice"}, "multiple_choice"),
        ("multiple_choice", {"type": "yes_no"}, "yes_no"),
    ],
)
def test_models_are_asked_in_the_form_in_which_replies_are_read(tmp_path, category, columns, kind) -> None:
    """The category of an item decides whether it is asked for Yes or No, the type how a reply is read."""
    rows = [row | columns for row in group("bad", 4, category=category)]
    good = [row | {"type": ""} for row in group("good", 100)]
    report = found(tmp_path, [*rows, *good]).report
    assert report.select("group", "reason").rows() == [
        (
            "bad",
            f"row 4 has the options Yes and No, the category {category!r} and the type {kind}, that of its "
            f"group; give it the category {kind}",
        )
    ]


def test_a_question_that_lists_no_first_alternates_by_its_words(tmp_path: Path) -> None:
    rows = group("x", 4)
    swapped = [
        row | {"A": "No", "B": "Yes", "answer": answer} for row, answer in zip(rows[2:], "AB", strict=True)
    ]
    groups = found(tmp_path, [*rows[:2], *swapped])
    # Yes, No; No, Yes.
    assert groups.report.is_empty() and groups.table.height == 4
    same = [
        row | {"A": "No", "B": "Yes", "answer": answer} for row, answer in zip(rows[2:], "BA", strict=True)
    ]
    assert reasons(tmp_path, [*rows[:2], *same]) == [
        (
            "x",
            "left_out",
            "has answers that do not alternate (Yes, No, Yes, No); correct them to Yes, No, No, Yes or No, "
            "Yes, Yes, No",
        )
    ]
    # Question 0 has the answer Yes about image 0, whatever its letter.
    first = [
        row | {"A": "No", "B": "Yes", "answer": answer} for row, answer in zip(rows[:2], "BA", strict=True)
    ]
    groups = found(tmp_path, [*first, *rows[2:]])
    assert groups.report.is_empty() and groups.table["q_idx"].to_list() == [0, 0, 1, 1]


def test_without_columns_four_rows_by_index_are_a_group(tmp_path: Path) -> None:
    names = ("group", "q_idx", "img_idx", "image_file", "A", "B")
    words = [*["Yes", "No", "No", "Yes"], *["B", "A", "A", "B"]]
    rows = [
        {name: value for name, value in row.items() if name not in names}
        | {"answer": word, "category": "", "type": "yes_no" if word in ("Yes", "No") else "multiple_choice"}
        for row, word in zip([*group("x", 8), *group("y", 12)], words, strict=True)
    ]
    options = ReaderOptions(answer_words=True, category_column="type")
    # 8 and 9 come before 10 as numbers, whatever the order of the file.
    tsv, pool = write_pool(tmp_path, rows[::-1], options=options)
    groups = groups_of_pool(pool, {"nb": Source(tsv, "NB")})
    assert groups.table.select("id", "group", "q_idx", "i_idx", "type").rows() == [
        ("nb/8", "nb/0", 0, 0, "yes_no"),
        ("nb/9", "nb/0", 0, 1, "yes_no"),
        ("nb/10", "nb/0", 1, 0, "yes_no"),
        ("nb/11", "nb/0", 1, 1, "yes_no"),
        # Its first question's answer about image 0 is B.
        ("nb/12", "nb/1", 1, 0, "multiple_choice"),
        ("nb/13", "nb/1", 1, 1, "multiple_choice"),
        ("nb/14", "nb/1", 0, 0, "multiple_choice"),
        ("nb/15", "nb/1", 0, 1, "multiple_choice"),
    ]
    write_tsv(tsv, rows[:7])
    with pytest.raises(InputError, match=r"nb\.tsv: has 7 rows, which is no multiple of four"):
        groups_of_pool(pool, {"nb": Source(tsv, "NB")})


def test_a_rejected_row_does_not_move_the_groups_behind_it(tmp_path: Path) -> None:
    names = ("group", "q_idx", "img_idx")
    rows = [
        {name: value for name, value in row.items() if name not in names}
        for row in [*group("x", 4), *group("y", 8)]
    ]
    rows[1]["question"] = ""
    groups = found(tmp_path, rows)
    assert groups.table["id"].to_list() == ["nb/8", "nb/9", "nb/10", "nb/11"]
    ((name, reason),) = groups.report.select("group", "reason").rows()
    assert name == "0"
    assert reason == (
        "row 5 is no item of the pool; sources/nb.report.csv of the run has the reason, correct it"
    )


def test_questions_are_exchanged_so_that_the_first_has_option_a_about_image_0(tmp_path: Path) -> None:
    groups = found(tmp_path, group("x", 4, answers="BAAB") + group("y", 8))
    placed = dict(zip(groups.table["id"], groups.table.select("q_idx", "i_idx").rows(), strict=True))
    assert [placed[f"nb/{index}"] for index in range(4, 12)] == [
        *[(1, 0), (1, 1), (0, 0), (0, 1)],
        *PLACES,
    ]
    assert groups.report.select("group", "kind").rows() == [("x", "note")]
    assert "exchanged" in groups.report["reason"][0]
    # Tags name questions as the source does.
    assert [member[2:5] for member in groups.members[:2]] == [(0, 0, "nb/4"), (0, 1, "nb/5")]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[:3], "has 3 rows; give four: two questions about two images"),
        (
            lambda rows: [*rows, rows[3] | {"index": "50"}],
            "has 5 rows; give four: two questions about two images",
        ),
        (
            lambda rows: [*rows[:3], rows[3] | {"img_idx": "0"}],
            "has the places (q_idx, img_idx) [(0, 0), (0, 1), (1, 0), (1, 0)]; give each of [(0, 0), (0, 1), "
            "(1, 0), (1, 1)] once",
        ),
        (
            lambda rows: [*rows[:3], rows[3] | {"q_idx": "2"}],
            "row 7 has q_idx '2' and img_idx '1'; give 0 or 1",
        ),
        (
            lambda rows: [row | {"method": "found"} for row in rows],
            "row 4 has the method 'found'; give mined or random",
        ),
        (
            lambda rows: [row | {"answer": letter} for row, letter in zip(rows, "ABAB", strict=True)],
            "has answers that do not alternate (Yes, No, Yes, No); correct them to Yes, No, No, Yes or No, "
            "Yes, Yes, No",
        ),
        (
            lambda rows: [row | {"A": "cup", "B": "Cup ", "category": "multiple_choice"} for row in rows],
            "row 4 has the option 'cup' twice; give two different ones",
        ),
        (
            lambda rows: [row | {"question": "Is it?"} for row in rows],
            "has one question twice; give two",
        ),
        (lambda rows: [*rows[:3], rows[3] | {"C": "Maybe"}], "row 7 has 3 options; give two"),
        (
            lambda rows: [*rows[:3], rows[3] | {"question": "Is it?"}],
            "has two texts of question 1; give its rows the same",
        ),
        (
            lambda rows: [*rows[:3], rows[3] | {"hint": "Look."}],
            "has two hints of question 1; give its rows the same",
        ),
        (
            lambda rows: [rows[0] | {"A": "yes"}, *rows[1:]],
            "has two options of question 0; give its rows the same",
        ),
        (
            lambda rows: [
                *rows[:2],
                rows[2] | {"image": encoded(image_bytes((9, 9, 9))), "image_file": "other"},
                rows[3],
            ],
            "has two images 0; give both questions the same file",
        ),
        (
            lambda rows: [row | {"image": rows[0]["image"], "image_file": "one"} for row in rows],
            "has one image twice; give two",
        ),
        (
            lambda rows: [rows[0] | {"l2-category": "DOCCI"}, *rows[1:]],
            "has rows of two subsets; correct them",
        ),
        (
            lambda rows: [rows[0] | {"language": "Hindi"}, *rows[1:]],
            "has rows of two languages; correct them",
        ),
        (
            lambda rows: [rows[0] | {"method": "random"}, *rows[1:]],
            "has rows of two methods; correct them",
        ),
        (
            lambda rows: [rows[0] | {"category": "multiple_choice"}, *rows[1:]],
            "has rows of two types; correct them",
        ),
        (
            lambda rows: [row | {"A": "हाँ", "B": "नहीं"} for row in rows],
            "has the type yes_no and the options 'हाँ' and 'नहीं'; give Yes and No",
        ),
    ],
)
def test_what_is_no_group_is_left_out_with_the_reason(tmp_path: Path, change, reason: str) -> None:
    assert reasons(tmp_path, change(group("bad", 4))) == [("bad", "left_out", reason)]


def test_an_item_with_two_images_is_no_part_of_a_group(tmp_path: Path) -> None:
    two = str([encoded(image_bytes((1, 1, 1))), encoded(image_bytes((2, 2, 2)))])
    rows = group("bad", 4)
    rows[0] |= {"image": two, "image_file": "['a', 'b']"}
    assert reasons(tmp_path, rows) == [("bad", "left_out", "row 4 has 2 images; give one")]


@given(st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_only_two_of_the_sixteen_ways_to_answer_alternate(answers: list[int]) -> None:
    placed = [(f"s/{q}{i}", Place("g", q, i, "s", None, "English", "mined")) for q, i in PLACES]
    facts = {
        id_: {
            "question": f"{place.q_idx}?",
            "hint": None,
            "options": ["Yes", "No"],
            "answer": answer,
            "category": "yes_no",
            "images": [bytes([place.i_idx])],
        }
        for (id_, place), answer in zip(placed, answers, strict=True)
    }
    right = answers[0] != answers[1] and answers[2] != answers[3] and answers[0] != answers[2]
    for order in permutations(placed):
        assert (problem_of(order, facts) is None) == right


def test_a_limit_keeps_some_of_what_a_larger_one_keeps(tmp_path: Path) -> None:
    rows = [row for number in range(9) for row in group(f"f{number}", 4 * number, **{"l2-category": "DOCCI"})]
    rows += [row for number in range(3) for row in group(f"d{number}", 200 + 4 * number, language="Hindi")]
    kept = {limit: set(found(tmp_path, rows, limit).table["group"]) for limit in (1, 2, 4, None)}
    assert {limit: len(names) for limit, names in kept.items()} == {1: 2, 2: 4, 4: 7, None: 12}
    assert kept[1] < kept[2] < kept[4] < kept[None]
    # Not the first ones.
    assert kept[4] != {f"nb/f{number}" for number in range(4)} | {f"nb/d{number}" for number in range(3)}
    groups = found(tmp_path, rows, 4)
    assert groups.report.select("kind", "reason").unique().rows() == [
        ("limit", "groups.limit is 4 for each subset")
    ]
    assert groups.report.height == 5 and groups.table.height == 4 * 7
    assert Counter(member.taken for member in groups.members) == {True: 28, False: 20}


def test_groups_of_two_sources_keep_their_names_apart(tmp_path: Path) -> None:
    tables = {}
    for name in ("b", "a"):
        write_tsv(tmp_path / f"{name}.tsv", group("x", 4))
        tables[name] = read_vlmevalkit(tmp_path / f"{name}.tsv", name)[0]
    pool = pool_of(tmp_path, **tables)
    sources = {name: Source(tmp_path / f"{name}.tsv", name.upper()) for name in ("b", "a")}
    table = groups_of_pool(pool, sources).table
    assert table["group"].to_list() == ["a/x"] * 4 + ["b/x"] * 4
    assert table["subset"].to_list() == ["A"] * 4 + ["B"] * 4


def test_no_group_and_odd_columns_are_errors(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"contains no group .*; the first: group 'x' of .*nb\.tsv has 3 rows"
    ):
        found(tmp_path, group("x", 4)[:3])
    rows = [{name: value for name, value in row.items() if name != "q_idx"} for row in group("x", 4)]
    with pytest.raises(InputError, match=r"has some of the columns group, q_idx and img_idx, but no q_idx"):
        found(tmp_path, rows)


def test_the_stage_writes_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tsv, pool = write_pool(tmp_path, group("x", 4) + group("y", 8)[:3] + group("z", 12))
    tags = tmp_path / "tags.csv"
    tags.write_text("group,q_idx,i_idx,skill\nz,1,0,Counting\n")
    given = {"pool": pool, "files": [tsv], "labels": {"nb": "A = b"}, "tag_file": tags}
    names = ("groups", "tags", "subset", "questions", "report")
    outputs = {name: tmp_path / f"{name}.out" for name in names}
    call_stage("naturalbench.read_groups", **given, **outputs)
    printed = capsys.readouterr()
    assert printed.out == "A = b, yes_no: 2 groups\ntags: 1\n"
    assert printed.err == f"warning: 1 group left out, with reasons in {tmp_path}/report.out\n"
    assert read_table(tmp_path / "groups.out", GROUPS).height == 8
    assert read_table(tmp_path / "tags.out", TAGS).rows() == [("nb/14", "count")]
    assert read_table(tmp_path / "subset.out", SUBSET).height == 8
    assert read_table(tmp_path / "questions.out", SUBSET)["id"].to_list() == [
        "nb/4",
        "nb/6",
        "nb/12",
        "nb/14",
    ]
    assert pl.read_csv(tmp_path / "report.out")["group"].to_list() == ["y"]
    with pytest.raises(InputError, match="--files has 1 files, --labels 2 sources; give one file for each"):
        call_stage("naturalbench.read_groups", **{**given, "labels": {"a": "A", "b": "B"}}, **outputs)


@needs_shared
def test_the_120_real_groups(tmp_path: Path) -> None:
    items = read_vlmevalkit(PAIRED, "nb", ReaderOptions(image_column="image_file"))[0]
    groups = groups_of_pool(pool_of(tmp_path, nb=items), {"nb": Source(PAIRED, "Flickr8k")})
    assert groups.report.is_empty()
    assert groups.table.height == 480 and groups.table["group"].n_unique() == 120
    assert Counter(groups.table["type"]) == {"yes_no": 352, "multiple_choice": 128}
