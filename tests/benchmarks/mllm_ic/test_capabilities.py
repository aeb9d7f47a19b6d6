from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.benchmarks.mllm_ic.categories import groups_of, read_categories
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.errors import InputError
from benchc.schemas.parquet import read_table
from benchc.schemas.subset import SUBSET
from scripts.mllm_ic.capabilities import capabilities as find_capabilities
from scripts.mllm_ic.choose_questions import choose_questions
from tests.benchmarks.mllm_ic.pools import Row, write_pool

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "benchc/benchmarks/mllm_ic/categories.csv"
MAP = """source,category,capability,reason
a,Text Reading,ocr,
a,styles,image_style,
a,several,,shows two pictures
b,Text_reading,text_recognition,
"""
POOL: list[Row] = [
    *[(f"a/{number}", "text-reading") for number in range(4)],
    *[(f"a/{number}", "text-reading") for number in (1_000_000, 1_000_001, 2_000_001, 1_000_002, 1_000_003)],
    *[(f"a/{number}", "STYLES") for number in (10, 11)],
    ("a/20", "several"),
    *[(f"b/{name}", "Text Reading") for name in ("x", "y")],
]


class Run:
    """The files of a run, whose two stages are called with the parameters of its rules."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.map = folder, folder / "map.csv"
        self.pool, self.subset = folder / "items.parquet", folder / "questions.parquet"
        self.table, self.report = folder / "capabilities.parquet", folder / "report.csv"

    def ask(self, rows=POOL, text: str = MAP, mini: int | None = None, **settings: Any) -> list[str]:
        """Return the ids that are asked."""
        self.map.write_text(text)
        write_pool(self.pool, rows, **settings.pop("columns", {}))
        sources = {id_.partition("/")[0] for id_, _ in rows}
        groups = groups_of(read_categories(self.map, sources), mini)
        given = {"circular": ["a"]} | settings
        choose_questions(pool=self.pool, groups=groups, mini=mini, output=self.subset, **given)
        return read_table(self.subset, SUBSET)["id"].to_list()

    def map_questions(self, mini: int | None = None, **published: int) -> pl.DataFrame:
        """Return the capabilities of what was asked."""
        files = {"pool": self.pool, "categories": self.map, "table": self.table, "report": self.report}
        find_capabilities(**files, circular=["a"], mini=mini, published=published)
        return read_table(self.table, CAPABILITIES)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_rows_like_copies_in_a_source_without_copies_are_warned_of(run, capsys):
    run.ask([*POOL, *((f"b/{number}", "Text Reading") for number in (1000007, 7, 1000008))])
    assert "warning: b: 1 row with the index of a circular copy" in capsys.readouterr().err
    run.ask()
    assert "of a circular copy" not in capsys.readouterr().err


def test_the_hierarchy_has_the_papers_counts_and_two_data_sets_have_all_capabilities():
    found = capabilities()
    mids = Counter(each.mid for each in found)
    assert (len(found), [*mids.values()]) == (34, [6, 8, 5, 7, 8])
    assert sum(each.high == "perception" for each in found) == 19
    known = read_categories(SHIPPED, ["mmbench-dev-en", "seed-bench-2"]).values()
    mmbench, seed = (
        {each.capability for each in known if each.source == source}
        for source in ("mmbench-dev-en", "seed-bench-2")
    )
    assert (len(mmbench), len(seed)) == (20, 16)
    assert mmbench & seed == {"spatial_relation", "celebrity_recognition"}
    assert mmbench | seed == {each.name for each in found}


def test_all_but_excluded_categories_are_asked_however_they_are_spelled(run):
    rows = [*POOL, ("b/1000000", "text reading")]
    asked = [id_ for id_, _ in rows if id_ != "a/20"]
    assert sorted(run.ask(rows)) == sorted(asked)
    found = run.map_questions()
    assert sorted(found["id"]) == sorted(asked)
    places = found.unique(["source", "capability"]).sort("capability")
    assert places.select("source", "capability", "mid", "high").rows() == [
        ("a", "image_style", "global_context_sensing", "perception"),
        ("a", "ocr", "logic_reasoning", "reasoning"),
        ("b", "text_recognition", "logic_reasoning", "reasoning"),
    ]
    # Copies belong to their original, in sources that have some.
    copies = found.filter(circular_group="a/1").sort("rotation")
    assert copies.select("id", "rotation").rows() == [("a/1", 0), ("a/1000001", 1), ("a/2000001", 2)]
    assert found.filter(id="b/1000000").select("circular_group", "rotation").rows() == [("b/1000000", 0)]


def test_pictures_are_image_keys_and_equal_files_are_one(run):
    images = [[{"bytes": data, "path": None}] for data in (b"1", b"2", b"1", b"3", b"3")]
    keys = [["a#p"], ["a#q"], ["a#r"], ["sha256://s"], ["sha256://t"]]
    rows = [(f"a/{number}", "reading") for number in range(1, 6)]
    text = "source,category,capability,reason\na,reading,ocr,\n"
    run.ask(rows, text, columns={"image_keys": keys, "images": images})
    assert run.map_questions()["picture"].to_list() == ["a#p", "a#q", "a#p", "sha256://s", "sha256://t"]


def test_another_capability_changes_no_question_but_a_mini_may(run):
    def groups(text: str, mini: int | None) -> object:
        run.map.write_text(text)
        return groups_of(read_categories(run.map, ["a", "b"]), mini)

    moved = MAP.replace("image_style", "image_topic")
    assert groups(MAP, None) == groups(moved, None)
    assert groups(MAP, 2) != groups(moved, 2)


def test_a_mini_has_questions_of_each_capability_with_all_their_copies(run):
    whole = {*run.ask()}
    chosen = run.ask(mini=2)
    assert {*chosen} < whole
    found = run.map_questions(mini=2)
    assert found["id"].to_list() == chosen
    counts = found.group_by("capability").agg(pl.col("circular_group").n_unique())
    assert sorted(counts.rows()) == [("image_style", 2), ("ocr", 2), ("text_recognition", 2)]
    copies = pl.Series([id_ for id_, _ in POOL if id_.endswith("000001")])
    assert copies.is_in(chosen).n_unique() == 1  # all or none
    # A larger one keeps what a smaller one has.
    assert {*run.ask(mini=1)} < {*chosen} < {*run.ask(mini=3)}
    # Of categories without capability, it has questions of each.
    chosen = run.ask([*POOL, ("a/30", "new"), ("a/31", "new"), ("a/32", "newer")], mini=1, unmapped="keep")
    assert len({"a/30", "a/31"} & {*chosen}) == 1 and "a/32" in chosen


def test_the_report_counts_categories_beside_what_is_published(run):
    assert "a/30" in run.ask([*POOL, ("a/30", "new")], unmapped="keep")
    found = run.map_questions(a=17).filter(id="a/30")
    assert found.select("capability", "mid", "high").rows() == [(None, None, None)]
    assert pl.read_csv(run.report).rows() == [
        ("a", "STYLES", "image_style", "mapped", None, 2, 2, None),
        ("a", "new", None, "unmapped", None, 1, 1, None),
        ("a", "several", None, "excluded", "shows two pictures", 1, 0, None),
        ("a", "text-reading", "ocr", "mapped", None, 9, 9, None),
        ("b", "Text Reading", "text_recognition", "mapped", None, 2, 2, None),
        ("a", None, None, "total", None, 13, 12, 17),
        ("b", None, None, "total", None, 2, 2, None),
    ]


TWO_PICTURES = {"image_keys": [[f"{id_}#{n}" for n in range(2 if id_ == "a/20" else 1)] for id_, _ in POOL]}
BAD: dict[str, tuple[list[Row], dict[str, Any], str]] = {
    "unmapped": (
        [*POOL, ("a/30", "new"), ("a/31", "new"), ("b/z", "odd")],
        {},
        "no capability is given to new of a (2), odd of b (1); add these categories to the file "
        "capabilities.categories, with a capability, or a reason to leave them out, or set "
        "capabilities.unmapped to keep",
    ),
    "without its original": (
        [row for row in POOL if row[0] != "a/1"],
        {},
        "a/1000001: is a circular copy of a/1, which the pool lacks, one of 2 such rows; set pool.per_task "
        "and pool.total to null, or look for that item in the report of the source (sources/*.report.csv)",
    ),
    "an index that is no number": (
        [*POOL, ("a/one", "styles")],
        {},
        "a/one: its index is no number, but a is one of capabilities.circular; remove the source there",
    ),
    "an index that begins with a number": (
        [*POOL, ("a/1000001/x", "styles")],
        {},
        "a/1000001/x: its index is no number, but a is one of capabilities.circular; remove the source there",
    ),
    "several pictures": (
        POOL,
        {"text": MAP.replace("several,,shows two pictures", "several,ocr,"), "columns": TWO_PICTURES},
        "a/20: has 2 pictures, but each question is about one; leave out several of a in the file "
        "capabilities.categories, with a reason",
    ),
    "none left": ([("a/20", "several")], {}, "so there is no question to ask; keep one"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_sentence(run, what):
    rows, settings, message = BAD[what]
    with pytest.raises(InputError) as caught:
        run.ask(rows, **settings)
    assert str(caught.value).endswith(message)


def test_a_capability_without_a_question_is_an_error_of_the_mapping_alone(run):
    run.ask([row for row in POOL if row[1] != "STYLES"])
    message = "no item of the pool is of image_style, to which it maps styles of a; correct the category"
    with pytest.raises(InputError, match=message):
        run.map_questions()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,x,ocrs,", "there is no capability 'ocrs' (did you mean ocr?)"),
        ("a,x,,", "x of a needs a capability, or a reason to leave it out; give one of them"),
        ("a,x,ocr,no", "x of a needs a capability, or a reason to leave it out; give one of them"),
        ("a,TEXT reading,ocr,", "TEXT reading of a is there twice; remove one"),
    ],
)
def test_a_wrong_row_of_the_mapping_is_named(tmp_path, row, message):
    path = tmp_path / "map.csv"
    path.write_text(f"{MAP}{row}\n")
    with pytest.raises(InputError) as caught:
        read_categories(path, ["a"])
    assert str(caught.value) == f"{path}: row 6: {message}"


def test_a_question_without_a_copy_for_each_option_is_warned_of(run, capsys):
    rows = [(f"a/{number}", "styles") for number in (0, 1_000_000, 1, 1_000_001, 2)] + [
        ("b/x", "Text Reading")
    ]
    options = [["x", "y"]] * 2 + [["x", "y", "z"]] * 2 + [["x", "y"]] * 2
    run.ask(rows, columns={"options": options})
    assert "warning: a: 2 questions without a circular copy for each option, " in capsys.readouterr().err
    run.ask(rows[:2] + rows[5:], columns={"options": options[:2] + options[5:]})
    assert "warning" not in capsys.readouterr().err
