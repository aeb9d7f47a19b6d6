"""The pool and its images are counted; disk is estimated from pixels, then measured."""

import io
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from PIL import Image

from benchc.config.catalogue import Published, Source
from benchc.config.load import Config
from benchc.config.settings import Corruptions, Pool, RunSettings
from benchc.config.source_files import source_files
from benchc.demo.captions import CAPTION_SOURCE
from benchc.demo.source import generate_source
from benchc.planning.amounts import Amount
from benchc.planning.size import image_counts, run_size, variants
from benchc.planning.source_size import generated_counts, published_items
from benchc.planning.sources import sources_markdown
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.pool import POOL
from benchc.sources.download import published_name
from tests.sources.data_files import write_parquet
from tests.sources.vqav2_files import write_vqav2
from tests.test_images import png_header

CORRUPTIONS = Corruptions(
    suite="imagenet-c",
    engine="benchc",
    corrupted="files",
    alpha="drop",
    types=["snow", "fog"],
    severities=[1, 3, 5],
)
IMAGES = pl.DataFrame(
    # b and c show one image, and b another one twice.
    [("a", "x", 500_000), ("b", "y", 250_000), ("b", "y", 250_000), ("b", "z", 10**6), ("c", "z", 10**6)],
    schema=["id", "image_key", "pixels"],
    orient="row",
)


def config(pool: Pool, **sources: Source) -> Config:
    settings = RunSettings(benchmark="toy", name="trial", sources=list(sources) or ["other"], pool=pool)
    return Config(settings, sources, {})


def png(width: int, height: int) -> dict[str, bytes | None]:
    buffer = io.BytesIO()
    Image.new("L", (width, height)).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def test_the_pool_is_counted(tmp_path: Path) -> None:
    header = {"bytes": (png(400, 250)["bytes"] or b"")[:60], "path": None}  # no pixels after it
    columns = {name: [None] * 4 for name in POOL.columns} | {
        "id": ["a", "b", "c", "d"],
        "options": [["o"] * 3, [], ["o"] * 2, None],
        "images": [[png(400, 250), png(100, 100)], [header], None, None],
        "image_keys": [["a#0", "a#1"], ["b#0"], None, None],
    }
    write_table(pl.DataFrame(columns, schema=dict(POOL.columns)), tmp_path / "pool/items.parquet", POOL)
    size = run_size(config(Pool(per_task=None, total=40)), tmp_path)
    assert (size.pool, size.options) == (Amount(4), {"a": 3, "b": 0, "c": 2, "d": 0})
    assert size.images is not None
    assert size.images.rows() == [("a", "a#0", 100_000), ("a", "a#1", 10_000), ("b", "b#0", 100_000)]


@pytest.mark.parametrize(
    "data", [b"", None, b"no image", (png(4, 4)["bytes"] or b"")[:12], png_header(20_000, 20_000)]
)
def test_an_image_without_a_header_is_one_line(tmp_path: Path, data: bytes | None) -> None:
    columns = {name: [None] for name in POOL.columns} | {
        "id": ["a"],
        "options": [["o"] * 3],
        "images": [[{"bytes": data, "path": None}]],
        "image_keys": [["a#0"]],
    }
    write_table(pl.DataFrame(columns, schema=dict(POOL.columns)), tmp_path / "pool/items.parquet", POOL)
    with pytest.raises(
        TableError, match=r"items\.parquet: an image of item a cannot be read \(.*\); delete it"
    ):
        run_size(config(Pool(per_task=None, total=40)), tmp_path)


TSV = "index\tcategory\tl2-category\n1\ta\tx\n2\ta\tx\n3\tb\tx\n4\t\ty\n"
LOCAL = Source(label="L", path="local.tsv", task_column="category")
REMOTE = Source(label="R", url="https://example.org/remote.tsv", task_column="l2_category")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def bound(pool: Pool, **sources: Source) -> Amount:
    return run_size(config(pool, **sources), Path("results/trial")).pool


def test_rows_of_files_that_are_here_bound_the_pool(folder: Path) -> None:
    unlimited = Pool(per_task=None, total=None)
    for pool, expected in ((unlimited, None), (Pool(per_task=200, total=4000), 4000)):
        assert bound(pool, local=LOCAL) == Amount(expected, "at most")  # no file
    (folder / "local.tsv").write_text(TSV)
    assert bound(unlimited, local=LOCAL) == Amount(3, "at most")  # a row without task type is rejected
    assert bound(Pool(per_task=1, total=4000), local=LOCAL) == Amount(2, "at most")
    assert bound(Pool(per_task=None, total=2), local=LOCAL) == Amount(2, "at most")
    assert bound(unlimited, local=LOCAL, remote=REMOTE) == Amount(None, "at most")
    (folder / "results/downloads").mkdir(parents=True)
    (folder / "results/downloads/remote.tsv").write_text(TSV)
    assert bound(unlimited, local=LOCAL, remote=REMOTE) == Amount(3 + 4, "at most")
    (folder / "local.tsv").write_text('index\tcategory\n1\t"')  # a quote without an end
    assert bound(unlimited, local=LOCAL) == Amount(None, "at most")


def test_rows_are_counted_without_their_images(folder: Path) -> None:
    write_parquet(folder / "my.parquet", [{"category": name, "image": png(9, 9)} for name in "abb"])
    data = bytearray((folder / "my.parquet").read_bytes())
    start = pq.read_metadata(folder / "my.parquet").row_group(0).column(1).dictionary_page_offset
    data[start : start + 60] = bytes(60)
    (folder / "my.parquet").write_bytes(data)
    source = Source(label="M", path="my.parquet", task_column="category")
    assert bound(Pool(per_task=None, total=None), my=source) == Amount(3, "at most")


def test_another_column_of_the_category_is_counted_where_that_is_the_task_type(folder: Path) -> None:
    (folder / "my.tsv").write_text("index\tcategory\tl2-category\tkind\n1\ta\tx\tk\n2\tb\tx\tk\n3\tc\ty\tk\n")
    reader = {"category_column": "kind"}
    for column, tasks in (("category", 1), ("l2_category", 2)):
        source = Source(label="M", path="my.tsv", task_column=column, reader=reader)
        assert bound(Pool(per_task=1, total=None), my=source) == Amount(tasks, "at most")


def published(**sizes: object) -> Source:
    return REMOTE.model_copy(update={"published": Published.model_validate(sizes)})


def test_the_published_size_of_a_source_that_is_not_here_bounds_the_pool(folder: Path) -> None:
    unlimited = Pool(per_task=None, total=None)
    (folder / "local.tsv").write_text(TSV)
    assert bound(unlimited, remote=published(items=500)) == Amount(500, "at most")
    assert bound(unlimited, local=LOCAL, remote=published(items=500)) == Amount(503, "at most")
    assert bound(unlimited, local=LOCAL, remote=published(items=500, rounded=True)) == Amount(503, "estimate")
    assert bound(unlimited, local=LOCAL, remote=published(megabytes=7)) == Amount(None, "at most")
    # The limit holds for any number of items.
    limited = Pool(per_task=200, total=400)
    assert bound(limited, remote=published(items=500, rounded=True)) == Amount(400, "at most")
    assert bound(limited, remote=published(items=400, rounded=True)) == Amount(400, "at most")
    assert bound(limited, remote=published(items=300, rounded=True)) == Amount(300, "estimate")
    # A file that is here says more than what is published.
    (folder / "results/downloads").mkdir(parents=True)
    (folder / "results/downloads/remote.tsv").write_text(TSV)
    assert bound(unlimited, remote=published(items=500)) == Amount(4, "at most")


def vqav2(take: object, **sizes: object) -> Source:
    files = {name: f"https://example.org/{name}.zip" for name in ("questions", "annotations", "images")}
    content = {"convert": {"format": "vqav2", "files": files, "take_images": take}, "published": sizes}
    return Source.model_validate({"label": "V", "task_column": "category", **content})


def test_of_a_part_of_the_images_the_published_items_are_a_part(folder: Path) -> None:
    sizes = {"items": 1000, "images": 300}
    # Rounded, not cut off.
    assert published_items(vqav2(32, **sizes)) == Amount(107, "estimate")
    assert published_items(vqav2(None, **sizes)) == Amount(1000, "at most")
    # All, and more than there are.
    assert published_items(vqav2(300, **sizes)) == Amount(1000, "at most")
    assert published_items(vqav2(400, **sizes)) == Amount(1000, "at most")
    assert published_items(vqav2("list.txt", **sizes)) == Amount(1000, "at most")
    assert published_items(vqav2(30, items=1000)) == Amount(1000, "at most")
    assert published_items(vqav2(30)).value is None


def test_the_table_of_sources_says_what_is_known_of_each(folder: Path) -> None:
    (folder / "local.tsv").write_text(TSV)
    found = config(
        Pool(per_task=None, total=None),
        local=LOCAL,
        sized=published(items=500, megabytes=10_500),
        rounded=published(items=1900, rounded=True),
        remote=REMOTE,
    )
    text = sources_markdown(found, Path("results/trial"))
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if "|" in line
    ]
    assert rows[2:] == [
        ["local", "≤ 3", "its files", "–"],
        ["sized", "≤ 500", "published", "10 GB"],
        ["rounded", "≈ 1,900", "published", "unknown"],
        ["remote", "unknown", "–", "unknown"],
    ]
    assert text.endswith("To download for the sources: 10 GB and what is not published of rounded, remote.\n")
    assert "not here" not in text
    (folder / "results/downloads").mkdir(parents=True)
    for name in ("sized", "rounded", "remote"):
        (folder / f"results/downloads/{name}.tsv").write_text(TSV)
    text = sources_markdown(found, Path("results/trial"))
    assert "published" not in text and text.endswith("Nothing is to be downloaded for the sources.\n")


def test_a_local_file_that_is_not_here_is_named(folder: Path) -> None:
    found = config(
        Pool(per_task=None, total=None), gone=Source(label="G", path="g.tsv", task_column="category")
    )
    line = "Files that are not here, and have no address: gone (g.tsv)."
    assert line in sources_markdown(found, Path("results/trial"))
    (folder / "g.tsv").write_text(TSV)
    assert line not in sources_markdown(found, Path("results/trial"))


def test_sources_beside_the_pool_are_downloaded_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "local.tsv").write_text(TSV)
    found = replace(
        config(Pool(), local=LOCAL), other_sources={"sized": published(items=500, megabytes=11_500)}
    )
    text = sources_markdown(found, Path("results/trial"))
    assert "| sized  | ≤ 500" in text and text.endswith("To download for the sources: 12 GB.\n")
    # A file that the run copies is not downloaded.
    monkeypatch.setenv("BENCHC_DATA", str(folder))
    assert sources_markdown(found, Path("results/trial")) == text
    (folder / published_name(str(found.other_sources["sized"].url))).write_text(TSV)
    assert "Nothing is to be downloaded" in sources_markdown(found, Path("results/trial"))


def test_the_sizes_of_several_files_are_summed(folder: Path) -> None:
    sizes = {"questions": 10**9, "annotations": 2 * 10**9, "images": 4 * 10**9}
    for known, text in ((sizes, "7 GB"), ({**sizes, "images": None}, "9 GB")):
        given = {name: size for name, size in known.items() if size is not None}
        source = vqav2(None, megabytes=9000)
        assert source.convert is not None
        source = source.model_copy(update={"convert": source.convert.model_copy(update={"bytes": given})})
        found = sources_markdown(config(Pool(), v=source), Path("results/trial"))
        assert found.endswith(f"To download for the sources: {text}.\n")
    # Of the last one, some files are here, and the sizes of the others are not known.
    path = Path(source_files("v", source)["questions"].path)
    path.parent.mkdir(parents=True)
    path.touch()
    found = sources_markdown(config(Pool(), v=source), Path("results/trial"))
    assert found.endswith("To download for the sources: ≤ 9 GB.\n")


def test_questions_on_the_images_taken_bound_the_pool(folder: Path) -> None:
    files = write_vqav2(folder)._asdict()
    given = {name: str(path) for name, path in files.items()}
    content = {"format": "vqav2", "files": given, "take_images": 2}
    source = Source.model_validate({"label": "V", "convert": content, "task_column": "l2_category"})
    (folder / "val2014").rename(folder / "elsewhere")  # images are not read
    assert bound(Pool(per_task=None, total=None), v=source) == Amount(4, "at most")
    files["questions"].write_text("{")
    assert bound(Pool(per_task=None, total=None), v=source) == Amount(None, "at most")


def test_sources_share_task_types(folder: Path) -> None:
    for name in "ab":
        (folder / f"{name}.tsv").write_text(TSV)
    sources = {name: Source(label=name, path=f"{name}.tsv", task_column="category") for name in "ab"}
    assert bound(Pool(per_task=3, total=None), **sources) == Amount(3 + 2, "at most")


def test_items_that_were_read_bound_the_pool_rather_than_rows(folder: Path) -> None:
    (folder / "local.tsv").write_text(TSV)
    columns = {name: [None] for name in ITEMS.columns} | {"id": ["local/1"], "category": ["a"]}
    items = pl.DataFrame(columns, schema=dict(ITEMS.columns))
    write_table(items, folder / "results/trial/sources/local.parquet", ITEMS)
    assert bound(Pool(per_task=None, total=None), local=LOCAL) == Amount(1, "at most")


@pytest.mark.parametrize("task_column", ["category", "l2_category"])
def test_items_that_the_run_generates_are_counted(folder: Path, task_column: str) -> None:
    source = Source.model_validate({"label": "D", "generated": {"groups": 3}, "task_column": task_column})
    frame = generate_source("drawn-text", seed=1, groups=3)
    column = task_column.replace("_", "-")
    counts = frame[column].value_counts()["count"]
    for per_task in (None, 2, 7):
        expected = sum(min(count, per_task or count) for count in counts)
        found = bound(Pool(per_task=per_task, total=None), **{"drawn-text": source})
        assert found == Amount(expected, "at most")
    # Of captions, a category may have fewer different pictures.
    drawn = dict(generate_source(CAPTION_SOURCE, seed=1, groups=3)[column].value_counts().iter_rows())
    bounds = generated_counts(CAPTION_SOURCE, task_column, 3)
    assert bounds.keys() == drawn.keys() and all(bounds[task] >= count for task, count in drawn.items())
    assert sum(bounds[task] == count for task, count in drawn.items()) >= len(drawn) - 1


def test_images_that_items_share_are_written_once(tmp_path: Path) -> None:
    assert variants(CORRUPTIONS) == 7
    counts = image_counts(IMAGES, CORRUPTIONS, tmp_path)
    assert counts.written == Amount(3 * 7)
    assert counts.disk.kind == "estimate" and counts.disk.value == pytest.approx(1_750_000 * 7 * 1.11)
    third = image_counts(IMAGES, CORRUPTIONS, tmp_path, share=1 / 3)
    assert third.written == Amount(7, "estimate")
    assert third.disk.value == pytest.approx(1_750_000 * 7 * 1.11 / 3)
    assert image_counts(IMAGES, CORRUPTIONS, tmp_path, share=0.1).written == Amount(0, "estimate")
    unknown = image_counts(None, CORRUPTIONS, tmp_path)
    assert unknown.written.value is unknown.disk.value is None


def test_of_an_assignment_only_its_images_and_the_clean_ones_are_written(tmp_path: Path) -> None:
    # b and c share an image at one severity; the dimension of the last row is not the run's.
    cells = [("b", "snow", 1), ("c", "snow", 1), ("c", "fog", 5), ("a", "rain", 1)]
    assignment = pl.DataFrame(cells, schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    counts = image_counts(IMAGES, CORRUPTIONS, tmp_path, assignment=assignment)
    # x, y and z clean; y and z under snow, z under fog.
    assert counts.written == Amount(3 + 2 + 1)
    assert counts.disk.value == pytest.approx((1_750_000 + 1_250_000 + 1_000_000) * 1.11)


def test_an_assignment_is_part_of_the_size_once_it_is_there(folder: Path) -> None:
    pool = pl.DataFrame({"id": ["a/1"]}, schema={"id": pl.String})
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name != "id"}
    results = folder / "results/trial"
    write_table(pool.with_columns(**absent).select(*POOL.columns), results / "pool/items.parquet", POOL)
    asked = config(Pool())
    assert run_size(asked, results).assignment is None
    table = pl.DataFrame([("a/1", "fog", 3)], schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    write_table(table, results / "pool/assignment.parquet", ASSIGNMENT)
    found = run_size(asked, results).assignment
    assert found is not None and found.equals(table)


def test_disk_is_measured_once_all_files_exist(tmp_path: Path) -> None:
    for name, size in (("clean", 1), ("snow", 20), ("fog", 300)):
        assert image_counts(IMAGES, CORRUPTIONS, tmp_path).disk.kind == "estimate"
        (tmp_path / f"{name}.parquet").write_bytes(b"x" * size)
    assert image_counts(IMAGES, CORRUPTIONS, tmp_path).disk == Amount(321)
