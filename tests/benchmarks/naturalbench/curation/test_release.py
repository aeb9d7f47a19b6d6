"""Groups and their release: which questions make a group, its rows, and what other readers make of them."""

import base64
import csv
import io
import json
from itertools import product

import polars as pl
import pytest

from benchc.benchmarks.naturalbench.curation import release
from benchc.benchmarks.naturalbench.curation.content import question_key, read_contents
from benchc.benchmarks.naturalbench.curation.groups import Group, Question, group_id, groups_of
from benchc.benchmarks.naturalbench.curation.release import COLUMNS, check_groups, release_rows
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.tables.overlap import overlap, overlap_rows
from benchc.errors import InputError
from benchc.images import decode, encode_png
from benchc.schemas.parquet import read_table, write_table
from benchc.sources.error import SourceError
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.curation.reviewing import questions
from tests.benchmarks.naturalbench.drawn import (
    drawn_captions,
    embeddings_footer,
    pairs_of,
    sample,
    write_drawn,
)

YES_NO = (Question("Dog?", ("Yes", "No"), 0), Question('"Cat",\t\r?', ("Yes", "No"), 2))
CHOICE = (Question("What?", ("dog", "cat"), 1), Question("Who?", ("cat", "dog"), 0))
SAMPLES = {pair: (sample(f"{a}.png"), sample(f"{b}.png")) for pair, a, b in ("pab", "qbc", "rdd")}
GROUPS = [
    Group("g1", "p", "yes_no", "mined", YES_NO),
    Group("g2", "p", "multiple_choice", "mined", CHOICE),
    Group("g3", "q", "yes_no", "random", YES_NO),
]
FILES = {f"set://{name}.png": data for name, data in zip("abcd", drawn_captions(4)["bytes"], strict=True)}
HASHES = {key: key for key in FILES}


def write_release(path, groups=GROUPS, files=FILES):
    rows = release_rows(groups, SAMPLES, {"set": "Set"}, files.__getitem__)
    path.write_bytes(b"".join(release.as_tsv(rows)))
    return path


def kept(table, *dropped):
    slots = table.select("pair", "type", "q_idx").rows()
    return frame_of(KEPT, [(*slot, slot not in dropped, None) for slot in slots])


def add(table):
    """Return the questions with other texts."""
    return table.with_columns(question=table["question"] + " anew")


def test_a_group_is_a_pair_and_a_type_with_both_questions_from_any_rounds():
    pairs = pairs_of([("x", "y"), ("x", "z")], "random").with_columns(pair=pl.Series(["p0", "p1"]))
    first = questions(*product(("p0", "p1"), ("yes_no", "multiple_choice"), (0, 1)))
    dropped = [("p0", "yes_no", 1), ("p1", "yes_no", 0), ("p1", "yes_no", 1), ("p1", "multiple_choice", 0)]
    second = add(questions(*dropped))
    groups = groups_of(pairs, [(first, kept(first, *dropped)), (second, kept(second, dropped[2]))])
    slots = [(group.pair, group.type) for group in groups]
    assert sorted(slots) == [("p0", "multiple_choice"), ("p0", "yes_no"), ("p1", "multiple_choice")]
    assert [group.id for group in groups] == sorted(group_id(*slot) for slot in slots)
    yes_no, choice = (groups[slots.index(slot)] for slot in (("p0", "yes_no"), ("p1", "multiple_choice")))
    assert yes_no.questions == (
        Question("p0 yes_no 0?", ("Yes", "No"), 0),
        Question("p0 yes_no 1? anew", ("Yes", "No"), 1),
    )
    assert choice.questions[0] == Question("p1 multiple_choice 0? anew", ("dog", "cat"), 1)
    assert yes_no.method == "random"
    # Ids are stable.
    assert group_id("p0", "yes_no") == "bfd1def05a709115" != group_id("p0", "multiple_choice")
    # A question that two rounds kept is that of the first.
    pairs = pairs_of([("x", "y")]).with_columns(pair=pl.Series(["p0"]))
    first = questions(("p0", "yes_no", 0), ("p0", "yes_no", 1))
    (group,) = groups_of(pairs, [(table, kept(table)) for table in (first, add(first))])
    found = [(each.question, each.round) for each in group.questions]
    assert found == [("p0 yes_no 0?", 0), ("p0 yes_no 1?", 0)]


def test_a_release_is_of_the_files_of_all_rounds_in_their_order(tmp_path):
    captions, pairs = write_drawn(tmp_path, 3)
    used = read_table(pairs, PAIRS)
    slots = [(used["pair"][1], "yes_no", q_idx) for q_idx in (0, 1)]
    first, second = questions(*slots), add(questions(slots[1]))
    rounds = [(first, kept(first, slots[1])), (second, kept(second))]
    files = [[tmp_path / f"{kind}-{number}.parquet" for number in (0, 1)] for kind in ("questions", "kept")]
    for paths, tables, kind in zip(files, zip(*rounds, strict=True), (QUESTIONS, KEPT), strict=True):
        for path, table in zip(paths, tables, strict=True):
            write_table(table, path, kind)
    found = release.read_release(pairs, captions, *files)
    assert found.pairs.equals(used) and list(found.samples) == used["pair"].to_list()
    assert [sample.id for sample in found.samples[slots[0][0]]] == [*used.select("a", "b").row(1)]
    (group,) = found.groups
    assert (group.pair, [each.round for each in group.questions]) == (slots[0][0], [0, 1])


def test_a_group_is_four_rows_with_alternating_answers(tmp_path):
    text = write_release(tmp_path / "groups.tsv").read_bytes().decode()
    header = (
        "index image question A B answer category l2-category group q_idx img_idx image_file language method "
        "pair sample round"
    )
    assert text.partition("\n")[0].replace('"', "").split("\t") == header.split()
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t"))
    assert list(rows[0]) == list(COLUMNS) and [row["index"] for row in rows] == [str(n) for n in range(12)]
    places = [(row["q_idx"], row["img_idx"], row["answer"]) for row in rows]
    assert places == [*zip("0011", "0101", "ABBA", strict=True)] * 3
    assert [row["group"] for row in rows[::4]] == ["g1", "g2", "g3"]
    assert rows[2]["question"] == '"Cat",\t\r?' and rows[2]["round"] == "2"
    assert [rows[n]["A"] + rows[n]["B"] for n in (0, 4, 6)] == ["YesNo", "dogcat", "catdog"]
    assert [rows[n]["category"] for n in (0, 4)] == ["yes_no", "multiple_choice"]
    names = ("l2-category", "image_file", "sample", "language")
    assert [rows[1][name] for name in names] == ["Set", "set/b.png", "set/b.png", "English"]
    assert {row["method"] for row in rows[8:]} == {"random"} and {row["pair"] for row in rows[8:]} == {"q"}
    # Each image once; the other rows refer to its row.
    images = [row["image"] for row in rows]
    assert [image for image in images if len(image) <= 64] == ["0", "1", "0", "1", "0", "1", "1", "1", "9"]
    assert base64.b64decode(images[9]) == FILES["set://c.png"]
    # A pair of two data sets has the subset of both.
    samples = {"p": (SAMPLES["p"][0], SAMPLES["p"][1]._replace(dataset="other"))}
    _, *rows = release_rows(GROUPS[:1], samples, {"set": "Set", "other": "Other"}, FILES.__getitem__)
    column = COLUMNS.index("l2-category")
    assert {row[column] for row in rows} == {"Set + Other"}


def test_the_release_is_read_as_a_source(tmp_path):
    options = ReaderOptions(image_column="image_file")
    items, report = read_vlmevalkit(write_release(tmp_path / "groups.tsv"), "new", options)
    assert report.height == 0 and items.height == 12
    by_id = {item["id"]: item for item in items.iter_rows(named=True)}
    assert by_id["new/2"]["question"] == YES_NO[1].question and by_id["new/2"]["options"] == ["Yes", "No"]
    assert [by_id[f"new/{n}"]["answer"] for n in range(4)] == [0, 1, 1, 0]
    assert by_id["new/0"]["image_keys"] == ["new://set/a.png"] == by_id["new/6"]["image_keys"]
    assert by_id["new/10"]["images"][0]["bytes"] == FILES["set://b.png"]


def test_counts_are_of_groups_and_images():
    assert release.image_keys(GROUPS, SAMPLES) == ["set://a.png", "set://b.png", "set://c.png"]
    samples = {**SAMPLES, "q": (SAMPLES["q"][0], SAMPLES["q"][1]._replace(dataset="other"))}
    # In an order of names, as the record has them.
    assert json.dumps(release.counts_of(GROUPS[::-1], samples, {"set": "Set", "other": "A"})) == (
        '{"groups": 3, "items": 12, "images": 3, "groups_by_type": {"multiple_choice": 1, "yes_no": 2}, '
        '"groups_by_subset": {"Set": 2, "Set + A": 1}, "groups_by_method": {"mined": 2, "random": 1}}'
    )


def test_the_record_names_each_encoder_with_the_hashes_of_its_files(tmp_path):
    file = tmp_path / "weights.bin"
    file.write_bytes(b"abc")
    paths = []
    for name in ("tiny", "other"):
        paths.append(tmp_path / f"{name}.parquet")
        nothing = pl.DataFrame(schema=pl.Schema(EMBEDDINGS.columns))
        write_table(nothing, paths[-1], EMBEDDINGS, embeddings_footer(name))
    facts = {"library": "open_clip", "name": "E", "pretrained": "tag", "commit": "c" * 40, "device": "cpu"}
    # The digest of FIPS 180-4's example.
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert release.encoder_facts(paths, {"tiny": [file]}) == {
        "tiny": facts | {"batch": 32, "sha256": {str(file): digest}},
        "other": facts | {"batch": 32, "sha256": {}},
    }
    for questions_, kept_ in (([file], []), ([], [file])):
        with pytest.raises(InputError, match="--questions and --kept are not of the same rounds; give one"):
            release.read_release(file, file, questions_, kept_)


def test_equal_images_and_equal_groups_are_refused():
    check_groups(GROUPS, SAMPLES, HASHES)
    with pytest.raises(InputError, match=r"^pair p: its images set://a.png and set://b.png are equal"):
        check_groups(GROUPS, SAMPLES, {**HASHES, "set://b.png": "set://a.png"})
    # Another file with the same pixels, in the other order.
    with pytest.raises(InputError, match=r"^pairs p and q: have the same images and the same yes_no"):
        check_groups(GROUPS, SAMPLES, {**HASHES, "set://c.png": "set://a.png"})
    other = [GROUPS[0], GROUPS[2]._replace(questions=CHOICE, type="multiple_choice")]
    check_groups(other, SAMPLES, {**HASHES, "set://c.png": "set://a.png"})
    # Questions are equal by words and options.
    assert question_key("Is it  RED?", ("Yes", "No")) == question_key("is it red?", ("no", "yes"))
    assert question_key("Which?", ("a", "b")) != question_key("Which?", ("a", "c"))


def test_overlap_counts_images_questions_and_groups(tmp_path):
    new = write_release(tmp_path / "new.tsv")
    contents = read_contents(new)
    assert (len(contents.images), len(contents.questions), len(contents.groups)) == (3, 4, 3)
    # The same group with its images saved anew, and another question about known images.
    files = {key: encode_png(decode(data)) for key, data in FILES.items()}
    changed = GROUPS[1]._replace(questions=(CHOICE[0], Question("Where?", ("left", "right"), 0)))
    old = write_release(tmp_path / "old.tsv", [GROUPS[0], changed], files)
    table = overlap(new, [old, new])
    assert table.frame.rows() == [
        (str(old), "images", 3, 2, 2, 2 / 3),
        (str(old), "questions", 4, 4, 3, 3 / 4),
        (str(old), "groups", 3, 2, 1, 1 / 3),
        (str(new), "images", 3, 3, 3, 1.0),
        (str(new), "questions", 4, 4, 4, 1.0),
        (str(new), "groups", 3, 3, 3, 1.0),
    ]
    assert "| images" in table.markdown and table.latex
    alone = write_release(tmp_path / "x.tsv", [Group("g", "r", "yes_no", "mined", CHOICE)])
    nothing = overlap_rows(contents, "x", read_contents(alone))
    assert nothing["shared"].to_list() == [0, 2, 0]


NAMES = '"B"\t"answer"\t"category"\t"l2-category"\t"group"\t'


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            NAMES,
            NAMES.replace("B", "b").replace("group", "g"),
            "has no column 'B' .*; give a release of groups",
        ),
        ('\n"2"\t"0"\t', '\n"2"\t"77"\t', "line 4: its image '77' is neither base64 nor the index"),
        ('\n"2"\t"0"\t', '\n"1"\t"0"\t', "line 4: index 1 is that of an earlier row; correct the row"),
        ('\n"2"\t"0"\t', '\n"2"\t""\t', "line 4: has no image; correct the row"),
    ],
)
def test_a_bad_older_release_is_one_line(tmp_path, old, new, message):
    file = write_release(tmp_path / "old.tsv")
    text = file.read_bytes().decode().replace("\r", "")  # which a text editor may count as a line
    assert text.count(old) == 1
    file.write_text(text.replace(old, new))
    with pytest.raises(SourceError, match=f"^{file}: {message}"):
        read_contents(file)
