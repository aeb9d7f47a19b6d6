"""Released pairs become items and imported images as published; what cannot is refused with its row."""

import csv
import io
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchc.benchmarks.r_bench.released import released_pairs, write_pairs
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import read_table
from benchc.sources.error import SourceError
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.references import AnswerFile, read_references
from benchc.sources.vlmevalkit import read_vlmevalkit
from tests.shared_data import SHARED, needs_shared
from tests.sources.test_references import write_pool
from tests.sources.tsv_files import BLUE, RED, image_bytes

READER = ReaderOptions(task_column="category", open_ended=True, answer_lists=True)
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
TEXTS = ("name", "question", "choice", "answer", "type")
CHOICE = "A.Ground; B.Pole;C:It can't move；D.Net; a fine one"
CAPTIONS = "['A row of cars. ', \"It's a street\"]"
ROWS: list[dict[str, Any]] = [
    dict(zip((*TEXTS, "distortion", "strength"), values, strict=True))
    for values in (
        ("QBench_1.jpg", "Which part is\rthe brightest?", CHOICE, "C", "MCQ", 1, 2),
        ("OKVQA_2.jpg", "What type of bike?", "N", "bmx", "VQA", 33, 1),
        ("WildCAP_6.jpg", "Please describe this image.", "N", CAPTIONS, "CAP", 8, 3),
    )
]


def write_parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as the Hub has them: texts, numbers, and images as structs."""
    ref, dis = {"bytes": RED, "path": "ref.png"}, {"bytes": BLUE, "path": "dis.png"}
    full = [{"score": 3.5, "ref_image": ref, "dis_image": dis, **row} for row in rows]
    types = {
        **dict.fromkeys(TEXTS, pa.string()),
        **{"score": pa.float64(), "distortion": pa.int64(), "strength": pa.int64()},
        **{"ref_image": IMAGE, "dis_image": IMAGE},
    }
    pq.write_table(pa.Table.from_pylist(full, schema=pa.schema(types)), path)
    return path


def convert(tmp_path: Path, rows: list[dict[str, Any]]) -> tuple[Path, pl.DataFrame, list[str]]:
    """Return the TSV, the images, and the reasons of rows that cannot become items."""
    tsv, images = tmp_path / "r.tsv", tmp_path / "r.parquet"
    pairs = write_pairs(released_pairs([write_parquet(tmp_path / "0.parquet", rows)]), "r", tsv, images)
    return tsv, read_table(images, IMPORTED_IMAGES), [pair.refused for pair in pairs if pair.refused]


def test_items_and_images_are_as_published(tmp_path: Path) -> None:
    tsv, images, refused = convert(tmp_path, ROWS)
    assert refused == []
    items, report = read_vlmevalkit(tsv, "r", READER)
    assert report.is_empty()
    found = {item["id"]: item for item in items.iter_rows(named=True)}
    mcq = found["r/QBench_1.jpg"]
    assert mcq["options"] == ["Ground", "Pole", "It can't move", "Net; a fine one"] and mcq["answer"] == 2
    assert [(id_, item["category"], item["l2_category"]) for id_, item in sorted(found.items())] == [
        ("r/OKVQA_2.jpg", "vqa", "OKVQA"),
        ("r/QBench_1.jpg", "mcq", "QBench"),
        ("r/WildCAP_6.jpg", "cap", "WildCAP"),
    ]
    assert {item["images"][0]["bytes"] for item in found.values()} == {RED}
    references = read_references(write_pool(tmp_path, r=items), {"r": AnswerFile(tsv, lists=True)})
    assert {id_: (truth, answers) for id_, truth, answers in references.iter_rows()} == {
        "r/QBench_1.jpg": ("It can't move", []),
        "r/OKVQA_2.jpg": ("bmx", []),
        "r/WildCAP_6.jpg": ("A row of cars.", ["A row of cars.", "It's a street"]),
    }
    assert images.select("id", "corruption", "severity").rows() == [
        ("r/QBench_1.jpg", "motion_blur", 2),
        ("r/OKVQA_2.jpg", "contrast_change", 1),
        ("r/WildCAP_6.jpg", "lens_shaking", 3),
    ]
    assert images["image"].to_list() == [{"bytes": BLUE, "path": "dis.png"}] * 3
    # As RealWorldQA_74.jpg of the release.
    rows = [{**ROWS[0], "choice": "A.Ground; B.Pole"}, ROWS[1]]
    tsv, images, refused = convert(tmp_path, rows)
    assert refused == ["the answer is C, an option without text"]
    items, report = read_vlmevalkit(tsv, "r", READER)
    assert items["id"].to_list() == images["id"].to_list() == ["r/OKVQA_2.jpg"]
    assert report["reason"].to_list() == refused


LARGER = {"bytes": image_bytes(size=(25, 16)), "path": None}
WRONG = {
    "dimension": (1, {"distortion": 34}, r"row 2: distortion is '34', not a number from 1 to 33"),
    "strength": (1, {"strength": 0}, r"row 2: strength is '0', not a number from 1 to 3"),
    "no name": (0, {"name": " "}, "row 1: has no name"),
    "type": (0, {"type": "OCR"}, r"row 1: has the type 'OCR', which is none of MCQ, VQA, CAP"),
    "captions": (2, {"answer": "A row of cars."}, r"row 3: the answer 'A row of cars.' is no list of texts"),
    "options": (0, {"choice": "A.x; C.y"}, r"row 1: has the choice 'A.x; C.y', which is not A.text; B.text"),
    "size": (1, {"dis_image": LARGER}, r"row 2: .* OKVQA_2.jpg has 25 x 16 pixels, its reference 24 x 16"),
    "image": (2, {"ref_image": None}, r"row 3: ref_image: has no image bytes"),
    "broken image": (1, {"dis_image": {"bytes": RED[:20], "path": None}}, r"row 2 \(OKVQA_2.jpg\): "),
    "name": (1, {"name": "QBench_1.jpg"}, r"row 2: has the name 'QBench_1.jpg' of an earlier row"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_row_is_named(tmp_path: Path, what: str) -> None:
    number, changes, message = WRONG[what]
    rows = [{**row, **(changes if place == number else {})} for place, row in enumerate(ROWS)]
    with pytest.raises(SourceError, match=rf"0\.parquet: {message}"):
        convert(tmp_path, rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.parquet"]

    # Photographs of one scene may have two sizes.


def test_photographs_of_one_scene_may_have_two_sizes(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "0.parquet", [ROWS[0], {**ROWS[2], "dis_image": LARGER}])
    assert [pair.resized for pair in released_pairs([path])] == [False, True]


def released_csv() -> list[Mapping[str, str]]:
    data = (SHARED / "data/real/r-bench/Ref_Release.csv").read_bytes()
    return [*csv.DictReader(io.StringIO(data.decode("gb18030"), newline=""))]


@needs_shared
def test_all_published_rows_but_one_become_items(tmp_path: Path) -> None:
    rows = [
        {**row, **{name: int(row[name]) for name in ("distortion", "strength")}, "score": float(row["score"])}
        for row in released_csv()
    ]
    tsv, images, refused = convert(tmp_path, rows)
    assert refused == ["the answer is C, an option without text"]
    items, _ = read_vlmevalkit(tsv, "r", READER)
    assert items.height == images.height == 1484
    assert Counter(items["category"]) == {"mcq": 494, "vqa": 495, "cap": 495}
    # Of 87 items that have four options by ASCII semicolons, three have the fifth after a Chinese one.
    assert Counter(items.filter(category="mcq")["options"].list.len()) == {3: 292, 2: 91, 4: 84, 5: 27}
    assert Counter(items["l2_category"])["COCO"] == 420
    references = read_references(write_pool(tmp_path, r=items), {"r": AnswerFile(tsv, lists=True)})
    captions = references.join(items.filter(category="cap"), on="id", how="semi")["answers"].list.len()
    # A list of one caption is one reference.
    assert Counter(captions) == {5: 492, 6: 2, 4: 1}
    published = {f"r/{row['name']}": row["answer"].strip() for row in rows if row["type"] == "VQA"}
    truths = dict(references.select("id", "truth").iter_rows())
    assert {id_: truths[id_] for id_ in published} == published
