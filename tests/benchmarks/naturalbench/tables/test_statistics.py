from itertools import product
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS, CaptionsFooter
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS, QuestionsFooter
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.benchmarks.naturalbench.tables.table3 import table3
from benchc.benchmarks.naturalbench.tables.table8 import table8
from benchc.benchmarks.naturalbench.taxonomy import CLASSES, DEFINITIONS
from benchc.randomness import seed_of
from benchc.rendering.output import Table
from benchc.schemas.parquet import write_table
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.drawn import drawn_captions, pairs_of
from tests.benchmarks.naturalbench.simulated import group_rows

TYPES = ("yes_no", "multiple_choice")
LISTS = ("groups", "captions", "pairs", "kept_pairs", "questions", "kept", "types", "released")


def statistics(folder: Path, groups: pl.DataFrame | None = None, **changes: object) -> Table:
    """Return the table of a run that reads ``groups``; ``changes``: of a run that also makes some."""
    given: dict[str, object] = {**{name: [] for name in LISTS}, "subsets": {}, "vlms": ""}
    if groups is not None:
        write_table(groups, folder / "groups.parquet", GROUPS)
        given["groups"] = [folder / "groups.parquet"]
    return table3(**{**given, **changes})  # type: ignore[arg-type]


def published_groups() -> pl.DataFrame:
    """Return groups of the paper's subsets, as many as Table 4 has."""
    parts = []
    cells = product(("Flickr30K", "DOCCI"), TYPES)
    for (subset, kind), count in zip(cells, (650, 250, 800, 200), strict=True):
        groups = group_rows(count, subsets=[subset], types=[kind])
        name = f"{subset}-{kind}-"
        parts.append(groups.with_columns(id=f"nb/{name}" + pl.col("id"), group=name + pl.col("group")))
    return pl.concat(parts)


def test_the_published_set_has_the_papers_numbers(tmp_path: Path) -> None:
    table = statistics(tmp_path, published_groups())
    assert table.frame.select("source", "question_type", "groups", "samples").rows() == [
        ("DOCCI", "Yes-or-No", 800, 3200),
        ("DOCCI", "Multiple-Choice", 200, 800),
        ("Flickr30K", "Yes-or-No", 650, 2600),
        ("Flickr30K", "Multiple-Choice", 250, 1000),
        ("All", "Yes-or-No, Multiple-Choice", 1900, 7600),
    ]
    assert table.published is not None
    samples = table.published.filter(value="samples")
    assert samples.height == 5 and (samples["difference"] == 0).all()
    # A run that only reads the set knows nothing of its pairs.
    pairs = table.published.filter(pl.col("value") != "samples")
    assert pairs.height == 8 and pairs["here"].null_count() == 8
    assert sorted(set(pairs["published"])) == [1000, 1200, 2000, 3300]
    assert "–: not known of a set that the run reads" in table.markdown
    shared = "the pairs of its rows must not be added"
    assert shared in " ".join(table.markdown.split())
    # Of a set of one's own that the run reads, no pairs are shown.
    own = statistics(tmp_path, published_groups().with_columns(subset=pl.lit("Own")))
    assert shared not in " ".join(own.markdown.split())
    assert "people kept" not in table.markdown and "Paper: VQA samples" in table.markdown


def test_languages_are_apart_and_have_a_sum_of_their_own(tmp_path: Path) -> None:
    parts = []
    for name, count in (("Chinese", 300), ("Hindi", 300), ("English", 2)):
        named = {"id": f"{name}/" + pl.col("id"), "group": name + pl.col("group"), "language": pl.lit(name)}
        parts.append(group_rows(count, subsets=[f"XM3600 ({name})"]).with_columns(**named))
    table = statistics(tmp_path, pl.concat(parts))
    found = table.frame.select("source", "language", "samples").rows()
    assert found[:2] == [("XM3600 (English)", "English", 8), ("All", "English", 8)]
    assert found[2:] == [
        ("XM3600 (Chinese)", "Chinese", 1200),
        ("XM3600 (Hindi)", "Hindi", 1200),
        ("All", "Chinese, Hindi", 2400),
    ]
    assert table.published is not None
    published = table.published.filter(value="samples").select("source", "language", "difference").rows()
    assert published == [("XM3600", "Chinese", 0), ("XM3600", "Hindi", 0), ("All", "Chinese, Hindi", 0)]


def curation(folder: Path, *, reviewed: bool = True) -> dict[str, object]:
    """Write a curation of five pairs, one of them random, and of two groups of one mined pair."""
    captions = drawn_captions(10)
    ids = captions["id"].to_list()
    pairs = pl.concat(
        [pairs_of([*zip(ids[:8:2], ids[1:8:2], strict=True)]), pairs_of([(ids[8], ids[9])], "random")]
    )
    names = pairs["pair"].to_list()
    used = pairs.filter(pl.col("pair") != names[3]) if reviewed else pairs
    write_table(captions, folder / "captions.parquet", CAPTIONS, CaptionsFooter(captions="first"))
    write_table(pairs, folder / "pairs.parquet", PAIRS)
    write_table(used, folder / "kept_pairs.parquet", PAIRS)
    slots = [(pair, kind, q) for pair in used["pair"] for kind in TYPES for q in (0, 1)]
    texts = [(pair, kind, q, "?", "Yes", "No", True, None, "r", "t") for pair, kind, q in slots]
    footer = QuestionsFooter(round=0, model="w", temperature=1.0, templates={}, mode="live", url=None)
    write_table(frame_of(QUESTIONS, texts), folder / "questions.parquet", QUESTIONS, footer)
    # Of pair 0 both types, of pair 1 one question alone, of pair 2 none, of the random one all.
    whole = {(names[0], kind, q) for kind in TYPES for q in (0, 1)} | {(names[1], "yes_no", 0)}
    whole |= {(names[4], kind, q) for kind in TYPES for q in (0, 1)}
    rows = [(*slot, slot in whole, None if slot in whole else "disagreement") for slot in slots]
    write_table(frame_of(KEPT, rows), folder / "kept.parquet", KEPT)
    files = {name: [folder / f"{name}.parquet"] for name in ("captions", "pairs", "questions", "kept")}
    files["kept_pairs"] = [folder / "kept_pairs.parquet"] if reviewed else []
    return files | {"subsets": {"drawn": "Drawings"}, "types": [*TYPES], "vlms": "CLIP, writer"}


def test_a_run_that_makes_groups_knows_its_pairs(tmp_path: Path) -> None:
    # Its own groups in the pool are not counted a second time, others with the same name are apart.
    own = group_rows(2, subsets=["Drawings"]).with_columns(id=pl.lit("made/") + pl.col("id"))
    other = group_rows(3, subsets=["Drawings"]).with_columns(
        id=pl.lit("other/") + pl.col("id"), group=pl.lit("other") + pl.col("group")
    )
    given = curation(tmp_path)
    table = statistics(tmp_path, pl.concat([own, other]), released=["made"], **given)
    assert table.frame.drop("language").rows() == [
        ("Drawings", "Yes-or-No", 1, 4, "CLIP, writer", 4, 3),
        ("Drawings", "Multiple-Choice", 1, 4, "CLIP, writer", 4, 3),
        ("Drawings (read)", "Yes-or-No", 3, 12, None, None, None),
        ("All", "Yes-or-No, Multiple-Choice", 5, 20, None, None, None),
    ]
    assert "those that people kept" in table.markdown and "Paper" not in table.markdown
    # Without models there is no pool.
    alone = statistics(tmp_path, **given)
    assert alone.frame.rows() == [*table.frame.rows()[:2], ("All", *alone.frame.row(2)[1:])]
    assert "not known" not in alone.markdown
    # Pairs that nobody reviews are not verified.
    table = statistics(tmp_path, **curation(tmp_path, reviewed=False))
    assert set(table.frame["verified_pairs"]) == {None}
    assert table.frame["mismatched_pairs"].to_list() == [4, 4, None]


def skills(tags: list[tuple[str, str]], seed: int = 1) -> Table:
    groups = group_rows(3, methods=["mined", "mined", "random"])
    questions = groups.select("id", question=pl.format("Question of {}?", "id"))
    return table8(groups, frame_of(TAGS, tags), questions, seed)


def test_the_definitions_are_of_all_skills_in_the_papers_ten_rows() -> None:
    assert sorted(skill for _, skills, _ in DEFINITIONS for skill in skills) == sorted(CLASSES)
    table = skills([])
    assert table.frame["skill"].to_list() == [
        "Object", "Attribute", "Spatial relation", "Action relation", "Part relation", "Counting",
        "Differentiation", "Comparison", "Logic", "World knowledge",
    ]  # fmt: skip
    assert table.frame.select("samples", "groups", "example").null_count().row(0) == (10, 10, 10)
    assert "the run has no tags" in table.markdown and "Example:" not in table.markdown
    # Samples and groups with a skill are counted once.
    # s/200 is of a group from a random pair.
    tags = [("s/000", "animal"), ("s/000", "food"), ("s/011", "food"), ("s/100", "count")]
    tags += [("s/200", "animal"), ("s/110", "reading")]
    table = skills(tags)
    rows = {row["skill"]: row for row in table.frame.iter_rows(named=True)}
    assert (rows["Object"]["samples"], rows["Object"]["groups"]) == (2, 1)
    assert (rows["Counting"]["samples"], rows["Counting"]["example"]) == (1, "Question of s/100?")
    assert (rows["Logic"]["samples"], rows["Logic"]["groups"], rows["Logic"]["example"]) == (0, 0, None)
    assert rows["Reading"]["definition"] is None and rows["Reading"]["samples"] == 1
    assert "4 samples of 8 have tags" in table.markdown
    drawn = {skills(tags, seed).frame["example"][0] for seed in range(9)}
    assert drawn == {"Question of s/000?", "Question of s/011?"}
    first = min(("s/000", "s/011"), key=lambda id_: seed_of(5, "skill", "Object", id_))
    assert skills(tags, 5).frame["example"][0] == f"Question of {first}?"
