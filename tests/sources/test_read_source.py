from pathlib import Path

import polars as pl
import pytest

from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table
from benchc.sources.error import SourceError
from benchc.sources.item_images import pixel_digest
from benchc.sources.reader_options import ReaderOptions
from benchc.workflow.stage import options
from tests.sources.tsv_files import RED, encoded, image_bytes, row, write_tsv
from tests.stages import call_stage


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs the stage in the folder of s.tsv, and returns the lines that it prints."""
    monkeypatch.chdir(tmp_path)

    def called(*arguments: object, source: str = "s") -> list[str]:
        files = {"tsv": "s.tsv", "parquet": "s.parquet", "report": "s.report.csv"}
        call_stage("read_source", *arguments, source=source, **files)
        return capsys.readouterr().out.splitlines()

    return called


NO_TEXTS = "Invalid value for --reader.exclude: category"
WITHOUT = "an option without text"


def ids() -> list[str]:
    return read_table(Path("s.parquet"), ITEMS)["id"].to_list()


def test_items_and_report(run):
    kinds = {1: "choice", 2: "sort", 3: "choice", 9: "choice", 10: "choice"}
    rows = [row(index, kind=kind, answer="Z" if index == 3 else "A") for index, kind in kinds.items()]
    write_tsv(Path("s.tsv"), rows)
    lines = run("--reader.exclude", '{"kind": "sort"}', "--reader.index-below", 9, "--published=17,023")
    assert lines == [
        "s: 1 item (published: 17,023)",
        "  2 excluded: index is 9 or larger",
        "  1 excluded: kind is sort",
        "  1 rejected: the answer is Z, an option without text",
        "  options of an item: 1 with 2",
        "  images: 24 to 24 pixels width, 16 to 16 pixels height; 0 with the pixels of an earlier image",
    ]
    assert ids() == ["s/1"]
    assert Path("s.report.csv").read_text().splitlines() == [
        "id,line,kind,reason",
        "s/2,3,excluded,kind is sort",
        's/3,4,rejected,"the answer is Z, an option without text"',
        *(f"s/{index},{line},excluded,index is 9 or larger" for index, line in ((9, 5), (10, 6))),
    ]


def test_the_options_of_a_rule_are_read_as_they_were_given(run):
    picture = encoded(image_bytes(form="BMP"))  # the pixels of the other rows
    rows = [row(1), row(2, image=picture), row(3, image=f"['{picture}', '{picture}']")]
    rows.append(row(4, kind='a "b", c'))
    write_tsv(Path("s.tsv"), [{"kind": "", **values} for values in [*rows, row(5, category="")]])
    excluded = {"kind": ["x", 'a "b", c']}
    reader = ReaderOptions(pixel_keys=True, one_image=True, exclude=excluded, task_column="category")
    run(*options("reader", reader))
    assert ids() == ["s/1", "s/2"]
    assert read_table(Path("s.parquet"), ITEMS)["image_keys"].n_unique() == 1
    report = Path("s.report.csv").read_text()
    assert 's/3,4,rejected,"has 2 images, ' in report and "s/4,5,excluded," in report
    assert 's/5,6,rejected,"has no category, the task type' in report


@pytest.mark.parametrize(
    ("arguments", "source", "sentence"),
    [
        *(
            ([f'--reader.exclude={{"category": {values}}}'], "s", NO_TEXTS)
            for values in ("[1]", "1", "{}", "null")
        ),
        *(([], id_, "an id has lower-case letters, digits, dots") for id_ in ("a/b", "../s", "s:", "", "S")),
    ],
)
def test_arguments_that_are_none_are_refused(run, capsys, arguments, source, sentence):
    write_tsv(Path("s.tsv"), [row(1)])
    with pytest.raises(SystemExit):
        run(*arguments, source=source)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ") and sentence in line


def test_an_invalid_file_writes_nothing(run):
    Path("s.tsv").write_text("index\tquestion\n")
    with pytest.raises(SourceError, match="has no column 'image'"):
        run()
    assert [path.name for path in Path().iterdir()] == ["s.tsv"]


def test_the_summary_says_what_was_read_kept_and_refused(run):
    same = encoded(image_bytes(form="BMP"))  # the pixels of the other rows
    both = f"['{same}', '{encoded(image_bytes((1, 2, 3), (27_027, 37)))}']"
    rows = [row(1), row(2, C="green", image=both, category="shape")]
    rows += [row(number, answer=answer) for number, answer in ((3, "Q"), (4, "yes"), (5, "no"))]
    rows += [row(6, kind="sort"), row(7, B="red"), row(1), row(2)]
    write_tsv(Path("s.tsv"), [{"kind": "a"} | values for values in rows])
    files = ("--summary=s.summary.csv", "--images=s.images.csv")
    run('--reader.exclude={"kind": "sort"}', "--max-rejected=0.7", *files)
    expected = {
        "rows": {"read": 9, "kept": 3, "rejected": 5, "excluded": 1},
        # Reasons that differ in what they quote are one.
        "rejected": {
            "the answer … is not one option letter": 2,
            "index … is that of an earlier row": 2,
            f"the answer is Q, {WITHOUT}": 1,
        },
        "excluded": {"kind is sort": 1},
        "note": {"two options have the same text": 1},
        "options": {"2": 2, "3": 1},
        "images": {"1": 2, "2": 1},
        "category": {"colour": 2, "shape": 1},
        "l2_category": {"look": 3},
        "width": {"min": 24, "median": 24, "max": 27_027},
        "height": {"min": 16, "median": 16, "max": 37},
        "megapixels": {"min": 0.000384, "median": 0.000384, "max": 0.999999},
        "pixels": {"different": 2, "of an earlier image": 2},
    }
    facts = [(fact, name, str(count)) for fact, counts in expected.items() for name, count in counts.items()]
    assert pl.read_csv("s.summary.csv", infer_schema=False).rows() == facts
    images = pl.read_csv("s.images.csv")
    assert images.select("id", "image", "image_key", "width", "height").rows() == [
        ("s/1", 0, "s/1#0", 24, 16),
        ("s/2", 0, "s/2#0", 24, 16),
        ("s/2", 1, "s/2#1", 27_027, 37),
        ("s/7", 0, "s/7#0", 24, 16),
    ]
    digests = images["pixels"].to_list()
    assert digests[0] == digests[1] == digests[3] == pixel_digest(RED) != digests[2]


@pytest.mark.parametrize(("share", "stops"), [(None, True), (0.5, True), (0.6, False), (0.59, True)])
def test_more_rejected_rows_than_a_share_stop_the_stage(run, share, stops):
    rejected = [row(2, answer="yes"), row(3, answer="no"), row(4, image="")]
    # Excluded rows do not count.
    excluded = [row(number, kind="sort") for number in range(10, 30)]
    write_tsv(Path("s.tsv"), [row(1, kind="a"), row(9, kind="a"), *rejected, *excluded])
    arguments = ['--reader.exclude={"kind": "sort"}', *([] if share is None else [f"--max-rejected={share}"])]
    failed = Path("s.report.failed.csv")
    if not stops:
        run(*arguments)
        assert not failed.exists()
        return
    with pytest.raises(SourceError) as caught:
        run(*arguments)
    assert str(caught.value) == (
        "s.tsv: 3 of 5 rows are rejected, 2 like this: the answer 'yes' is not one option letter; "
        f"{failed} lists them; mend the file or the keys of reader, or raise max_rejected ({share or 0.5:g})"
    )
    # A workflow removes the outputs of a job that fails.
    assert {path.name for path in Path().iterdir()} == {"s.tsv", failed.name}
    assert failed.read_text().count("rejected") == 3
    write_tsv(Path("s.tsv"), [row(1)])
    run()
    assert not failed.exists()
