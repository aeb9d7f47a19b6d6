"""The published forms become one TSV, in which each image is once."""

import csv
import json
import lzma
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchc.benchmarks.naturalbench import published_files
from benchc.benchmarks.naturalbench.groups import groups_of_pool
from benchc.benchmarks.naturalbench.places import Source
from benchc.benchmarks.naturalbench.published_files import SUFFIXES, hub_groups, read_split, write_groups
from benchc.sources.error import SourceError
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from scripts.benchc import main
from tests.benchmarks.naturalbench.group_files import OPTIONS, PLACES, pool_of
from tests.shared_data import SHARED, needs_shared
from tests.sources.tsv_files import encoded, image_bytes, write_tsv

ROOT = Path(__file__).resolve().parents[3]
SPLIT = SHARED / "data/real/naturalbench/test_set.json.xz"
IMAGES = [image_bytes((number, 50, 99)) for number in range(4)]
CHOICE = "What is\rit?\nOption: A: a cup; B: a dog;"


def answers_of(*words: str) -> dict[str, object]:
    """Return the answers of a group in the Hub's file."""
    return {f"Image_{i}_Question_{q}": word for (q, i), word in zip(PLACES, words, strict=True)}


def hub_row(index: int, images: tuple[int, int], **values: object) -> dict[str, object]:
    """Return a row of the Hub's file: a yes/no group of two of IMAGES."""
    return {
        "Index": index,
        "Question_0": f"Is it {index}?",
        "Question_1": f"Is it not {index}?",
        "Image_0": {"bytes": IMAGES[images[0]], "path": f"{images[0]}.png"},
        "Image_1": {"bytes": IMAGES[images[1]], "path": None},
        **answers_of("Yes", "No", "No", "Yes"),
        **{"Question_Type": "yes_no", "Source": "Flickr", **values},
    }


LETTERS = answers_of(*"ABBA") | {"Question_Type": "multiple_choice", "Question_1": CHOICE}


def write_hub(path: Path, *rows: dict[str, object]) -> Path:
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path


def test_a_hub_file_becomes_a_tsv_that_the_reader_and_the_groups_take(tmp_path: Path, capsys) -> None:
    first = write_hub(
        tmp_path / "1.parquet", hub_row(7, (0, 1)), hub_row(8, (2, 0), Source="DOCCI", **LETTERS)
    )
    # Another spelling of the type, and an image of the first file.
    row = hub_row(9, (3, 1), Source="COCO")
    row["Question Type"] = row.pop("Question_Type")
    second = write_hub(tmp_path / "2.parquet", row)
    tsv = tmp_path / "groups.tsv"
    main(["naturalbench-tsv", str(first), str(second), "--output", str(tsv)])
    assert capsys.readouterr().out == f"{tsv}: 3 groups, 12 rows\n"
    items, report = read_vlmevalkit(tsv, "nb", OPTIONS)
    assert report.is_empty()
    images = [cell[0]["bytes"] for cell in items["images"]]
    expected = [number for pair in ((0, 1), (2, 0), (3, 1)) for number in pair * 2]
    assert images == [IMAGES[number] for number in expected]
    # One key an image: the name of its file, or a hash.
    keys = [key[0] for key in items["image_keys"]]
    assert len(set(keys)) == 4 and keys[0] == keys[2] == keys[5] == "nb://0.png"
    assert items["options"].to_list() == [["Yes", "No"]] * 4 + [["A", "B"]] * 4 + [["Yes", "No"]] * 4
    assert items["question"].to_list()[6:8] == [CHOICE] * 2
    groups = groups_of_pool(pool_of(tmp_path, nb=items), {"nb": Source(tsv, "NB")})
    assert groups.report.is_empty()
    found = groups.table.select("group", "subset", "type").unique(maintain_order=True).rows()
    yes_no, choice = "yes_no", "multiple_choice"
    assert found == [("nb/7", "Flickr30K", yes_no), ("nb/8", "DOCCI", choice), ("nb/9", "COCO", yes_no)]
    with tsv.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["image"] if len(row["image"]) < 9 else "" for row in rows[:6]] == ["", "", "0", "1", "", "0"]


def test_it_gives_the_same_items_as_vlmevalkits_form(tmp_path: Path) -> None:
    tsv = tmp_path / "groups.tsv"
    rows = [hub_row(0, (0, 1)), hub_row(1, (2, 0), **LETTERS)]
    write_groups(hub_groups(write_hub(tmp_path / "1.parquet", *rows)), tsv)
    plain = [
        {
            "index": str(4 * number + place),
            "image": encoded(row[f"Image_{i}"]["bytes"]),
            "question": row[f"Question_{q}"],
            "answer": row[f"Image_{i}_Question_{q}"],
            "type": row["Question_Type"],
        }
        for number, row in enumerate(rows)
        for place, (q, i) in enumerate(PLACES)
    ]
    options = ReaderOptions(answer_words=True, category_column="type")
    other = read_vlmevalkit(write_tsv(tmp_path / "other.tsv", plain), "nb", options)[0]
    same = ["id", "question", "options", "answer", "category"]
    assert read_vlmevalkit(tsv, "nb", OPTIONS)[0].select(same).equals(other.select(same))
    # Two images of one name have two names.
    rows = [hub_row(number, (2 * number, 2 * number + 1)) for number in (0, 1)]
    for row in rows:
        row["Image_0"]["path"] = "a/photo.png"
    write_groups(hub_groups(write_hub(tmp_path / "1.parquet", *rows)), tmp_path / "groups.tsv")
    items, report = read_vlmevalkit(tmp_path / "groups.tsv", "nb", OPTIONS)
    assert report.is_empty() and items["image_keys"].explode().n_unique() == 4
    assert items["image_keys"][0].to_list() == ["nb://photo.png"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"Question_Type": "open"}, "row 2: has the type 'open'; give multiple_choice or yes_no"),
        ({"Image_1": {"bytes": None, "path": "x.png"}}, "row 2: has no image bytes"),
        ({"Question_1": None}, "row 2: has no Question_1"),
        ({"Image_0_Question_1": "Maybe"}, "group 1: the answer 'Maybe' is none of Yes, No, A and B"),
        ({"Index": 0}, "two groups are called '0'"),
    ],
)
def test_wrong_rows_are_errors_and_leave_no_file(tmp_path: Path, values, message: str) -> None:
    path = write_hub(tmp_path / "1.parquet", hub_row(0, (0, 1)), hub_row(1, (0, 1), **values))
    with pytest.raises(SourceError) as caught:
        write_groups(hub_groups(path), tmp_path / "groups.tsv")
    assert message in str(caught.value)
    assert not (tmp_path / "groups.tsv").exists()


def test_wrong_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"1\.parquet: no such file"):
        next(hub_groups(tmp_path / "1.parquet"))
    (tmp_path / "1.parquet").write_bytes(b"PAR1")
    with pytest.raises(SourceError, match=r"1\.parquet: is not a complete Parquet file"):
        next(hub_groups(tmp_path / "1.parquet"))
    row = hub_row(0, (0, 1))
    del row["Source"]
    with pytest.raises(SourceError, match="has no column 'Source'"):
        next(hub_groups(write_hub(tmp_path / "1.parquet", row)))


def entries(kind: str = "yes_no", *answers: str) -> list[list[str]]:
    words = answers or ("Yes", "No", "No", "Yes")
    asked = [f"{question}?{SUFFIXES[kind]}" for question in ("One", "One", "Two", "Two")]
    pictures = ["test_00001.jpg", "train_2.jpg"] * 2
    return [list(entry) for entry in zip(asked, pictures, words, [kind] * 4, strict=True)]


def test_the_split_with_images_becomes_a_tsv(tmp_path: Path, capsys) -> None:
    path = tmp_path / "split.json"
    path.write_text(json.dumps(entries() + entries("mcq", "A", "B", "B", "A")))
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "test_00001.jpg").write_bytes(IMAGES[0])
    output = str(tmp_path / "groups.tsv")
    command = ["naturalbench-tsv", str(path), "--images", str(folder), "--output", output]
    with pytest.raises(SystemExit, match=r"^error: .*group 0: image train_2\.jpg: there is no such file"):
        main(command)
    (folder / "train_2.jpg").write_bytes(IMAGES[1])
    main(command)
    items = read_vlmevalkit(tmp_path / "groups.tsv", "nb", OPTIONS)[0]
    assert items["question"].to_list() == ["One?", "One?", "Two?", "Two?"] * 2
    assert items["answer"].to_list() == [0, 1, 1, 0] * 2
    keys = items["image_keys"].explode().unique().sort().to_list()
    assert keys == ["nb://test_00001.jpg", "nb://train_2.jpg"]
    assert set(items["l2_category"]) == {"DOCCI"}


def test_a_split_of_another_form_or_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "split.json"
    for content, message in (
        (entries()[:3], "must be a list of"),
        ({"a": 1}, "must be a list of"),
        ([[1, 2, 3, 4]] * 4, "must be a list of"),
        (entries()[::2] + entries()[1::2], "entries 0 to 3 are not two questions about two images"),
        (entries()[:2] + entries("mcq", "A", "B", "B", "A")[2:], "entries 0 to 3 are not two questions"),
    ):
        path.write_text(json.dumps(content))
        with pytest.raises(SourceError, match=message):
            read_split(path)
    # A split that cannot be read.
    path.unlink()
    with pytest.raises(SourceError, match="no such file"):
        read_split(path)
    large = lzma.compress(b" " * (published_files.LARGEST_SPLIT + 1), preset=0)
    for name, data in (
        ("split.json", b"["),
        ("split.json", b"[" * 100_000),
        ("split.json.xz", lzma.compress(b"[]")[:-9]),
        ("split.json.xz", large),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(SourceError, match="cannot be read as JSON"):
            read_split(tmp_path / name)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (["a.json", "b.parquet"], "a JSON file is given among others; give it alone"),
        (["a.json.xz"], "a.json.xz only names its images; give --images, the folder or zip that has them"),
        (["a.parquet", "--images", "x"], "leave it out, since Parquet files contain their images"),
        (["a.json", "--images", "x"], "x is neither a folder nor a zip; give one with the images of a.json"),
    ],
)
def test_images_are_for_the_split_alone(files: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["naturalbench-tsv", *files, "--output", "o.tsv"])
    assert str(stop.value.code).startswith("error: ") and message in str(stop.value.code)


@needs_shared
def test_the_public_split() -> None:
    groups = read_split(SPLIT)
    assert len(groups) == 950
    assert {group.answers for group in groups} == {("Yes", "No", "No", "Yes"), ("A", "B", "B", "A")}
    assert Counter((group.subset, group.type) for group in groups) == {
        ("Flickr30K", "yes_no"): 464,
        ("Flickr30K", "multiple_choice"): 69,
        ("DOCCI", "yes_no"): 379,
        ("DOCCI", "multiple_choice"): 38,
    }
    # 11 % are multiple choice. Two pictures are in two groups.
    assert len({name for group in groups for name in group.images}) == 1898
    assert all(group.images[0] != group.images[1] for group in groups)
    questions = [question for group in groups for question in group.questions]
    assert not any(suffix in question for question in questions for suffix in SUFFIXES.values())
    kinds = {("\nOption: " in text, group.type) for group in groups for text in group.questions}
    assert kinds == {(True, "multiple_choice"), (False, "yes_no")}


def written(folder: Path, groups: dict[str, str]) -> str:
    """Write groups, whose right answers to q0 i0, q0 i1, q1 i0 and q1 i1 are digits."""
    rows = [
        f"{name},{question},{image},{right}"
        for name, rights in groups.items()
        for (question, image), right in zip(PLACES, rights, strict=False)
    ]
    path = folder / "mine.csv"
    path.write_text("\n".join(["group,question,image,right", *reversed(rows)]) + "\n")
    return str(path)


def test_accuracies_of_groups(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # All right; question 0 right on both images; image 0 with both questions right; each answer to half.
    main(["group-accuracy", written(tmp_path, {"a": "1111", "b": "1100", "c": "1010", "d": "1001"})])
    *_, line = capsys.readouterr().out.splitlines()
    assert [cell.strip() for cell in line.strip("|").split("|")] == [
        "mine", "4", "0.625", "0.375", "0.375", "0.250",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "sentence"),
    [
        ({"a": "111"}, "group 'a' has 3 rows; each group needs one row for each question and image"),
        ({"a": "1121"}, "right is '2'; it should be 0 or 1"),
        ({"a": "1111", "": "1111"}, "row 2: group is ''; it should be that of the group"),
        ({}, "there are no rows"),
    ],
)
def test_an_invalid_file_is_one_line(groups: dict[str, str], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"^error: ") as stopped:
        main(["group-accuracy", written(tmp_path, groups)])
    assert sentence in str(stopped.value) and "\n" not in str(stopped.value)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": "1111"})
    with pytest.raises(SystemExit, match=f"^error: {path} is given twice; give it once$"):
        main(["group-accuracy", path, path])
