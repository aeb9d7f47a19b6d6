from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.groups import Groups, Member, groups_of_pool, problem_of
from benchc.benchmarks.naturalbench.places import Place, Source
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.benchmarks.naturalbench.tags import read_tags
from benchc.benchmarks.naturalbench.taxonomy import CLASSES, SKILLS, SPATIAL, class_of, label_of, skill_of
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
CHOICE = "multiple_choice"
RIGHT = "Yes, No, No, Yes or No, Yes, Yes, No"
ALTERNATE = f"has answers that do not alternate (Yes, No, Yes, No); correct them to {RIGHT}"


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
    first = [(f"nb/{4 + n}", "nb/x", *place, *common) for n, place in enumerate(PLACES)]
    assert groups.table.rows()[:4] == first
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
    rows[0]["group"] = " x"
    groups = found(tmp_path, [*rows, *group("y", 8, **{"l2-category": "docci"})])
    assert groups.report.is_empty()
    assert groups.table.select("group", "q_idx", "i_idx").rows()[:4] == [("nb/x", *place) for place in PLACES]
    assert groups.table["subset"].to_list() == ["Flickr30K"] * 4 + ["DOCCI"] * 4
    # The first row of an index is the item.
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
    [("space", {"type": CHOICE}, CHOICE), (CHOICE, {"type": "yes_no"}, "yes_no")],
)
def test_models_are_asked_in_the_form_in_which_replies_are_read(tmp_path, category, columns, kind) -> None:
    """The category of an item decides whether it is asked for Yes or No, the type how a reply is read."""
    rows = [row | columns for row in group("bad", 4, category=category)]
    good = [row | {"type": ""} for row in group("good", 100)]
    report = found(tmp_path, [*rows, *good]).report
    named = f"the category {category!r} and the type {kind}, that of its group; give it the category {kind}"
    reason = f"row 4 has the options Yes and No, {named}"
    assert report.select("group", "reason").rows() == [("bad", reason)]


def no_first(rows: list[dict[str, str]], answers: str) -> list[dict[str, str]]:
    """Return rows that list No first, with these answers."""
    return [row | {"A": "No", "B": "Yes", "answer": each} for row, each in zip(rows, answers, strict=True)]


def test_a_question_that_lists_no_first_alternates_by_its_words(tmp_path: Path) -> None:
    rows = group("x", 4)
    groups = found(tmp_path, [*rows[:2], *no_first(rows[2:], "AB")])
    # Yes, No; No, Yes.
    assert groups.report.is_empty() and groups.table.height == 4
    assert reasons(tmp_path, [*rows[:2], *no_first(rows[2:], "BA")]) == [("x", "left_out", ALTERNATE)]
    # Question 0 has the answer Yes about image 0, whatever its letter.
    groups = found(tmp_path, [*no_first(rows[:2], "BA"), *rows[2:]])
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
        *((f"nb/{8 + n}", "nb/0", *place, "yes_no") for n, place in enumerate(PLACES)),
        # Its first question's answer about image 0 is B.
        *((f"nb/{12 + n}", "nb/1", 1 - q, i, "multiple_choice") for n, (q, i) in enumerate(PLACES)),
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
    expected = "row 5 is no item of the pool; sources/nb.report.csv of the run has the reason, correct it"
    assert (name, reason) == ("0", expected)


def test_questions_are_exchanged_so_that_the_first_has_option_a_about_image_0(tmp_path: Path) -> None:
    groups = found(tmp_path, group("x", 4, answers="BAAB") + group("y", 8))
    placed = dict(zip(groups.table["id"], groups.table.select("q_idx", "i_idx").rows(), strict=True))
    assert [placed[f"nb/{index}"] for index in range(4, 12)] == [(1, 0), (1, 1), (0, 0), (0, 1), *PLACES]
    assert groups.report.select("group", "kind").rows() == [("x", "note")]
    assert "exchanged" in groups.report["reason"][0]
    # Tags name questions as the source does.
    assert [member[2:5] for member in groups.members[:2]] == [(0, 0, "nb/4"), (0, 1, "nb/5")]


def at(number: int, **changes: str) -> Any:
    """Return a change of a group's rows: one has these cells."""
    return lambda rows: [*rows[:number], rows[number] | changes, *rows[number + 1 :]]


def every(**changes: str) -> Any:
    return lambda rows: [row | changes for row in rows]


ONE, OTHER = (encoded(image_bytes((number, 9, 9))) for number in (8, 9))
TWO = {"image": str([ONE, OTHER]), "image_file": "['a', 'b']"}
FOUR = "give four: two questions about two images"
PLACED = "[(0, 0), (0, 1), (1, 0), (1, 0)]; give each of [(0, 0), (0, 1), (1, 0), (1, 1)] once"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rows: rows[:3], f"has 3 rows; {FOUR}"),
        (lambda rows: [*rows, {**rows[3], "index": "9"}], f"has 5 rows; {FOUR}"),
        (at(3, img_idx="0"), f"has the places (q_idx, img_idx) {PLACED}"),
        (at(3, q_idx="2"), "row 7 has q_idx '2' and img_idx '1'; give 0 or 1"),
        (every(method="found"), "row 4 has the method 'found'; give mined or random"),
        (lambda rows: [row | {"answer": each} for row, each in zip(rows, "ABAB", strict=True)], ALTERNATE),
        (
            every(A="cup", B="Cup ", category="multiple_choice"),
            "row 4 has the option 'cup' twice; give two different ones",
        ),
        (every(question="Is it?"), "has one question twice; give two"),
        (at(3, C="Maybe"), "row 7 has 3 options; give two"),
        (at(3, question="Is it?"), "has two texts of question 1; give its rows the same"),
        (at(3, hint="Look."), "has two hints of question 1; give its rows the same"),
        (at(0, A="yes"), "has two options of question 0; give its rows the same"),
        (at(2, image=OTHER, image_file="other"), "has two images 0; give both questions the same file"),
        (every(image=ONE, image_file="one"), "has one image twice; give two"),
        (at(0, **TWO), "row 4 has 2 images; give one"),
        (at(0, **{"l2-category": "DOCCI"}), "has rows of two subsets; correct them"),
        (at(0, language="Hindi"), "has rows of two languages; correct them"),
        (at(0, method="random"), "has rows of two methods; correct them"),
        (at(0, category="multiple_choice"), "has rows of two types; correct them"),
        (every(A="हाँ", B="नहीं"), "has the type yes_no and the options 'हाँ' and 'नहीं'; give Yes and No"),
    ],
)
def test_what_is_no_group_is_left_out_with_the_reason(tmp_path: Path, change: Any, reason: str) -> None:
    assert reasons(tmp_path, change(group("bad", 4))) == [("bad", "left_out", reason)]


@given(st.lists(st.integers(0, 1), min_size=4, max_size=4))
def test_only_two_of_the_sixteen_ways_to_answer_alternate(answers: list[int]) -> None:
    placed = [(f"s/{q}{i}", Place("g", q, i, "s", None, "English", "mined")) for q, i in PLACES]
    facts = {}
    for (id_, place), answer in zip(placed, answers, strict=True):
        asked = {"question": f"{place.q_idx}?", "hint": None, "images": [bytes([place.i_idx])]}
        facts[id_] = asked | {"options": ["Yes", "No"], "answer": answer, "category": "yes_no"}
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
    limited = groups.report.select("kind", "reason").unique().rows()
    assert limited == [("limit", "groups.limit is 4 for each subset")]
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
    with pytest.raises(InputError, match=r"contains no group .*; the first: group 'x' of .*nb\.tsv has 3"):
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
    questions = read_table(tmp_path / "questions.out", SUBSET)["id"].to_list()
    assert questions == ["nb/4", "nb/6", "nb/12", "nb/14"]
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


PUBLISHED = Path(__file__).resolve().parents[3] / "benchc/benchmarks/naturalbench/published"
MEMBERS = [
    Member(source, group, q, i, f"{source}/{group}{q}{i}", taken=group != "left")
    for source, group in (("s", "g"), ("s", "left"), ("s", "both"), ("t", "both"))
    for q, i in PLACES
]


def tags(folder: Path, *rows: str) -> list[tuple[str, str]]:
    path = folder / "tags.csv"
    path.write_text("\n".join(["group,q_idx,i_idx,skill", *rows]))
    return read_tags(path, MEMBERS).rows()


def test_tags_are_of_the_items_that_are_taken(tmp_path: Path) -> None:
    rows = ["g,1,0,count", "g,1,0, World  Knowledge", "left,0,0,logic", "t/both,0,1,Spatial (Projective)"]
    assert tags(tmp_path, *rows) == [("s/g10", "count"), ("s/g10", "world"), ("t/both01", "projective")]
    # Columns may be in any order beside others.
    path = tmp_path / "tags.csv"
    path.write_text("\ufeffskill,note,i_idx,q_idx,group\r\nfood,,1,0,g\r\n\r\n", encoding="utf-8")
    assert read_tags(path, MEMBERS).rows() == [("s/g01", "food")]
    assert read_tags(path, MEMBERS).schema == {"id": pl.String, "skill": pl.String}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["g,0,0,food", "h,0,0,food"], "row 3: there is no group 'h' in the sources"),
        (["both,0,0,food"], "row 2: group 'both' is in two sources; write s/both or t/both"),
        (["g,2,0,food"], "row 2: q_idx is '2' and i_idx is '0'; give 0 or 1"),
        (["g,0,,food"], "row 2: q_idx is '0' and i_idx is ''; give 0 or 1"),
        (["g,0,0,"], "row 2: has no skill"),
        (["g,0,0,anmal"], "row 2: the skill 'anmal' is not one of the paper's; did you mean 'animal'"),
        (["g,0,0,Proximty"], "did you mean 'proximity'"),
        (["g,0,0,animla"], "did you mean 'animal'"),
        (["g,0,0,count", "g,0,0,Counting"], "row 3: repeats the tag 'count' of row 2"),
        (["g,0,0"], "row 2: has fewer cells than the header"),
    ],
)
def test_wrong_rows_are_errors(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        tags(tmp_path, *rows)
    assert message in str(caught.value) and str(tmp_path / "tags.csv") in str(caught.value)

    path = tmp_path / "tags.csv"
    path.write_text("group,q_idx,i_idx,skill\ng,1,1,food\n")
    with pytest.raises(InputError, match="row 2: group 'g' has no such item"):
        read_tags(path, MEMBERS[:3])
    path.unlink()
    with pytest.raises(InputError, match=r"tags\.csv: cannot be read \(No such file"):
        read_tags(path, MEMBERS)
    path.write_text("group,q_idx,skill\n")
    with pytest.raises(InputError, match="has no column 'i_idx'"):
        read_tags(path, MEMBERS)
    path.write_text('group,q_idx,i_idx,skill\n"g,0,0,food\n')
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_tags(path, MEMBERS)


def test_the_skills_are_the_27_of_the_paper_and_own_ones(tmp_path: Path) -> None:
    assert tags(tmp_path, "g,0,0,Reading") == [("s/g00", "reading")]
    # Less like orientation than a misspelling is.
    found = tags(tmp_path, "g,0,0,relation", "g,0,0,position")
    assert found == [("s/g00", "relation"), ("s/g00", "position")]
    assert (class_of("reading"), label_of("reading")) == ("own", "reading")
    assert [len(skills) for skills in SKILLS.values()] == [8, 8, 6, 5]
    assert len(CLASSES) == 27
    assert {class_of(skill) for skill in SPATIAL} == {"relation"}
    for name, skills in SKILLS.items():
        for skill, label in skills.items():
            assert (skill_of(skill), skill_of(label.upper()), class_of(skill)) == (skill, skill, name)
            assert label_of(skill) == label
    found = [skill_of(text) for text in ("Item", "Other", "spatial (topological)")]
    assert found == ["items", "others", "topological"]
    # The published tables have the same skills.
    rows = pl.read_csv(PUBLISHED / "table9_10.csv").select("skill", "group").unique().rows()
    assert dict(rows) == CLASSES
