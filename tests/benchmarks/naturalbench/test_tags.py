"""Tags name items and skills; what does not is an error with its row."""

from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.naturalbench.groups import Member
from benchc.benchmarks.naturalbench.tags import read_tags
from benchc.benchmarks.naturalbench.taxonomy import CLASSES, SKILLS, SPATIAL, class_of, label_of, skill_of
from benchc.errors import InputError

MEMBERS = [
    Member(source, group, q, i, f"{source}/{group}{q}{i}", taken=group != "left")
    for source, group in (("s", "g"), ("s", "left"), ("s", "both"), ("t", "both"))
    for q in (0, 1)
    for i in (0, 1)
]


def tags(folder: Path, *rows: str) -> list[tuple[str, str]]:
    path = folder / "tags.csv"
    path.write_text("\n".join(["group,q_idx,i_idx,skill", *rows]))
    return read_tags(path, MEMBERS).rows()


def test_tags_are_of_the_items_that_are_taken(tmp_path: Path) -> None:
    rows = ["g,1,0,count", "g,1,0, World  Knowledge", "left,0,0,logic", "t/both,0,1,Spatial (Projective)"]
    assert tags(tmp_path, *rows) == [("s/g10", "count"), ("s/g10", "world"), ("t/both01", "projective")]


def test_columns_may_be_in_any_order_beside_others(tmp_path: Path) -> None:
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
        (["g,0,0"], "row 2: has 3 cells, and the header 4"),
    ],
)
def test_wrong_rows_are_errors(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        tags(tmp_path, *rows)
    assert message in str(caught.value) and str(tmp_path / "tags.csv") in str(caught.value)


def test_a_group_without_the_item_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "tags.csv"
    path.write_text("group,q_idx,i_idx,skill\ng,1,1,food\n")
    with pytest.raises(InputError, match="row 2: group 'g' has no such item"):
        read_tags(path, MEMBERS[:3])


def test_wrong_files_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "tags.csv"
    with pytest.raises(InputError, match=r"tags\.csv: no such file; give a CSV file with group"):
        read_tags(path, MEMBERS)
    path.write_text("group,q_idx,skill\n")
    with pytest.raises(InputError, match="has 0 columns 'i_idx'"):
        read_tags(path, MEMBERS)
    path.write_bytes(b"group,q_idx,i_idx,skill\ng,0,0,\xff\n")
    with pytest.raises(InputError, match="cannot be read as CSV"):
        read_tags(path, MEMBERS)


def test_own_skills_are_kept(tmp_path: Path) -> None:
    assert tags(tmp_path, "g,0,0,Reading") == [("s/g00", "reading")]
    # Less like orientation than a misspelling is.
    assert tags(tmp_path, "g,0,0,relation", "g,0,0,position") == [
        ("s/g00", "relation"),
        ("s/g00", "position"),
    ]
    assert (class_of("reading"), label_of("reading")) == ("own", "reading")


def test_the_27_skills_of_the_paper() -> None:
    assert [len(skills) for skills in SKILLS.values()] == [8, 8, 6, 5]
    assert len(CLASSES) == 27
    assert {class_of(skill) for skill in SPATIAL} == {"relation"}
    for name, skills in SKILLS.items():
        for skill, label in skills.items():
            assert (skill_of(skill), skill_of(label.upper()), class_of(skill)) == (skill, skill, name)
            assert label_of(skill) == label
    assert [skill_of(text) for text in ("Item", "Other", "spatial (topological)")] == [
        *("items", "others", "topological")
    ]


PUBLISHED = Path(__file__).resolve().parents[3] / "benchc/benchmarks/naturalbench/published"


def test_the_published_tables_have_the_same_skills() -> None:
    path = PUBLISHED / "table9_10.csv"
    if not path.exists():
        pytest.skip("the published tables are absent")
    rows = pl.read_csv(path).select("skill", "group").unique().rows()
    assert dict(rows) == CLASSES
