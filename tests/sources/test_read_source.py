"""The command line of the reader writes items and report, and fails in one line."""

import subprocess
from pathlib import Path

import polars as pl
import pytest

from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table
from benchc.sources.item_images import pixel_digest
from benchc.sources.reader_options import ReaderOptions
from benchc.workflow.stage import options
from tests.sources.tsv_files import RED, encoded, image_bytes, row, write_tsv
from tests.stages import run_stage

pytestmark = pytest.mark.usefixtures("preloaded_stages")


def run(tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    files = {"parquet": tmp_path / "s.parquet", "report": tmp_path / "s.report.csv"}
    return run_stage("read_source", "--source=s", *arguments, tsv=tmp_path / "s.tsv", **files)


def test_items_and_report(tmp_path: Path) -> None:
    write_tsv(
        tmp_path / "s.tsv",
        [
            row(1, kind="choice"),
            row(2, kind="sort"),
            row(3, kind="choice", answer="Z"),
            row(9, kind="choice"),
        ],
    )
    result = run(tmp_path, "--reader.exclude", '{"kind": "sort"}', "--reader.index-below", 9)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "s: 1 item"
    assert result.stdout.splitlines()[4:] == [
        "  options of an item: 1 with 2",
        "  images: 24 to 24 pixels width, 16 to 16 pixels height; 0 with the pixels of an earlier image",
    ]
    assert read_table(tmp_path / "s.parquet", ITEMS)["id"].to_list() == ["s/1"]
    assert (tmp_path / "s.report.csv").read_text().splitlines() == [
        "id,line,kind,reason",
        "s/2,3,excluded,kind is sort",
        's/3,4,rejected,"the answer is Z, an option without text"',
        "s/9,5,excluded,index is 9 or larger",
    ]


def test_rows_are_left_out_by_several_columns(tmp_path: Path) -> None:
    rows = [row(1, kind="sort"), row(2, kind="choice", split="test"), row(3, kind="choice", split="dev")]
    write_tsv(tmp_path / "s.tsv", [{"split": "dev", **values} for values in rows])
    result = run(tmp_path, '--reader.exclude={"kind": "sort", "split": "test"}')
    assert result.returncode == 0, result.stderr
    assert read_table(tmp_path / "s.parquet", ITEMS)["id"].to_list() == ["s/3"]
    assert [line.split(",")[3] for line in (tmp_path / "s.report.csv").read_text().splitlines()[1:]] == [
        "kind is sort",
        "split is test",
    ]


def test_rows_are_left_out_by_several_values_and_counted_beside_the_published_number(tmp_path: Path) -> None:
    write_tsv(tmp_path / "s.tsv", [row(1, kind="sort"), row(2, kind="choice"), row(3, kind="a, b")])
    result = run(tmp_path, '--reader.exclude={"kind": ["sort", "a, b"]}', "--published=17,023")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[0] == "s: 1 item (published: 17,023)"
    assert read_table(tmp_path / "s.parquet", ITEMS)["id"].to_list() == ["s/2"]


def test_the_options_of_a_rule_are_read_as_they_were_given(tmp_path: Path) -> None:
    picture = encoded(image_bytes(form="BMP"))  # the pixels of the other rows
    rows = [
        row(1),
        row(2, image=picture),
        row(3, image=f"['{picture}', '{picture}']"),
        row(4, kind='a "b", c'),
    ]
    write_tsv(tmp_path / "s.tsv", [{"kind": "", **values} for values in rows])
    reader = ReaderOptions(pixel_keys=True, one_image=True, exclude={"kind": ["x", 'a "b", c']})
    result = run(tmp_path, *options("reader", reader))
    assert result.returncode == 0, result.stderr
    items = read_table(tmp_path / "s.parquet", ITEMS)
    assert items["id"].to_list() == ["s/1", "s/2"] and items["image_keys"].n_unique() == 1
    report = (tmp_path / "s.report.csv").read_text()
    assert 's/3,4,rejected,"has 2 images, ' in report and "s/4,5,excluded," in report


@pytest.mark.parametrize("values", ["[1]", "1", '{"a": "b"}', "null"])
def test_excluded_values_that_are_no_texts_are_refused(tmp_path: Path, values: str) -> None:
    write_tsv(tmp_path / "s.tsv", [row(1)])
    result = run(tmp_path, f'--reader.exclude={{"category": {values}}}')
    assert result.returncode == 2
    assert result.stderr.startswith("error: Invalid value for --reader.exclude: category")
    assert result.stderr.count("\n") == 1


def test_images_are_named_by_a_column(tmp_path: Path) -> None:
    write_tsv(tmp_path / "s.tsv", [row(1, photo="7"), row(2, photo="7")])
    result = run(tmp_path, "--reader.image-column", "photo")
    assert result.returncode == 0, result.stderr
    assert read_table(tmp_path / "s.parquet", ITEMS)["image_keys"].to_list() == [["s://7"], ["s://7"]]


def test_an_invalid_file_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "s.tsv").write_text("index\tquestion\n")
    result = run(tmp_path)
    assert result.returncode == 1
    assert "has no column 'image'" in result.stderr and "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["s.tsv"]


def test_rows_without_a_task_type_are_in_the_report(tmp_path: Path) -> None:
    write_tsv(tmp_path / "s.tsv", [row(1), row(2, category="")])
    result = run(tmp_path, "--reader.task-column", "category")
    assert result.returncode == 0, result.stderr
    assert read_table(tmp_path / "s.parquet", ITEMS)["id"].to_list() == ["s/1"]
    assert 's/2,3,rejected,"has no category, the task type' in (tmp_path / "s.report.csv").read_text()


@pytest.mark.parametrize("source", ["a/b", "../s", "s:", "", "S"])
def test_a_source_that_is_no_id_is_refused(tmp_path: Path, source: str) -> None:
    write_tsv(tmp_path / "s.tsv", [row(1)])
    files = {"tsv": tmp_path / "s.tsv", "parquet": tmp_path / "s.parquet", "report": tmp_path / "s.csv"}
    result = run_stage("read_source", source=source, **files)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ") and "--source" in result.stderr
    assert "an id has lower-case letters, digits, dots and dashes" in result.stderr


def facts(tmp_path: Path) -> list[tuple[str, ...]]:
    return pl.read_csv(tmp_path / "s.summary.csv", infer_schema=False).rows()


def test_the_summary_says_what_was_read_kept_and_refused(tmp_path: Path) -> None:
    same = encoded(image_bytes(form="BMP"))  # the pixels of the other rows
    both = f"['{same}', '{encoded(image_bytes((1, 2, 3), (50, 8)))}']"
    rows = [
        row(1, kind="a"),
        row(2, kind="a", C="green", image=both, category="shape"),
        row(3, kind="a", answer="Q"),
        row(4, kind="a", answer="yes"),
        row(5, kind="a", answer="no"),
        row(6, kind="sort"),
        row(7, kind="a", B="red"),
    ]
    write_tsv(tmp_path / "s.tsv", rows)
    files = [f"--summary={tmp_path / 's.summary.csv'}", f"--images={tmp_path / 's.images.csv'}"]
    result = run(tmp_path, '--reader.exclude={"kind": "sort"}', *files)
    assert result.returncode == 0, result.stderr
    assert facts(tmp_path) == [
        ("rows", "read", "7"),
        ("rows", "kept", "3"),
        ("rows", "rejected", "3"),
        ("rows", "excluded", "1"),
        # Reasons that differ in what they quote are one.
        ("rejected", "the answer … is not one option letter", "2"),
        ("rejected", "the answer is Q, an option without text", "1"),
        ("excluded", "kind is sort", "1"),
        ("note", "two options have the same text", "1"),
        ("options", "2", "2"),
        ("options", "3", "1"),
        ("images", "1", "2"),
        ("images", "2", "1"),
        ("category", "colour", "2"),
        ("category", "shape", "1"),
        ("l2_category", "look", "3"),
        ("width", "min", "24"),
        ("width", "median", "24"),
        ("width", "max", "50"),
        ("height", "min", "8"),
        ("height", "median", "16"),
        ("height", "max", "16"),
        ("megapixels", "min", "0.000384"),
        ("megapixels", "median", "0.000384"),
        ("megapixels", "max", "0.0004"),
        ("pixels", "different", "2"),
        ("pixels", "of an earlier image", "2"),
    ]
    images = pl.read_csv(tmp_path / "s.images.csv")
    assert images.select("id", "image", "image_key", "width", "height").rows() == [
        ("s/1", 0, "s/1#0", 24, 16),
        ("s/2", 0, "s/2#0", 24, 16),
        ("s/2", 1, "s/2#1", 50, 8),
        ("s/7", 0, "s/7#0", 24, 16),
    ]
    digests = images["pixels"].to_list()
    assert digests[0] == digests[1] == digests[3] == pixel_digest(RED) != digests[2]


@pytest.mark.parametrize(("share", "stops"), [(None, True), (0.5, True), (0.6, False), (0.59, True)])
def test_more_rejected_rows_than_a_share_stop_the_stage(
    tmp_path: Path, share: float | None, stops: bool
) -> None:
    rejected = [row(2, answer="yes"), row(3, answer="no"), row(4, image="")]
    # Excluded rows do not count.
    excluded = [row(number, kind="sort") for number in range(10, 30)]
    write_tsv(tmp_path / "s.tsv", [row(1, kind="a"), row(9, kind="a"), *rejected, *excluded])
    result = run(
        tmp_path, '--reader.exclude={"kind": "sort"}', *([] if share is None else [f"--max-rejected={share}"])
    )
    failed = tmp_path / "s.report.failed.csv"
    if not stops:
        assert result.returncode == 0 and not failed.exists()
        return
    assert result.returncode == 1
    assert result.stderr == (
        f"error: {tmp_path / 's.tsv'}: 3 of 5 rows are rejected, 2 like this: the answer 'yes' is not one "
        f"option letter; {failed} lists them; mend the file or the keys of reader, or raise max_rejected "
        f"({share or 0.5:g})\n"
    )
    # A workflow removes the outputs of a job that fails.
    assert {path.name for path in tmp_path.iterdir()} == {"s.tsv", failed.name}
    assert failed.read_text().count("rejected") == 3
    write_tsv(tmp_path / "s.tsv", [row(1)])
    assert run(tmp_path).returncode == 0
    assert not failed.exists()
