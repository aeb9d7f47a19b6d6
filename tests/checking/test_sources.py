import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from benchc.checking.finding import Finding
from benchc.checking.sources import check_sources
from benchc.demo.source import generate_source
from tests.checking.collected import collected, lines
from tests.checking.runs import config_of
from tests.sources.test_download import DATA, Server, mirror, server  # noqa: F401
from tests.sources.tsv_files import encoded, row, write_tsv
from tests.sources.vqav2_files import image_name, write_vqav2

pytestmark = pytest.mark.usefixtures("folder")


def photo(seed: int) -> bytes:
    """Return a JPEG file of noise."""
    file = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    PIL.Image.fromarray(pixels).save(file, "JPEG")
    return file.getvalue()


def checked(sources: dict[str, dict[str, Any]], *rows: dict[str, str]) -> tuple[list[Finding], Any]:
    """Check sources; ``rows``: those of my.tsv."""
    if rows:
        write_tsv(Path("my.tsv"), rows)
    return collected(check_sources(config_of(sources)))


MY = {"my": {"path": "my.tsv"}}
FAR = {"far": {"url": "http://127.0.0.1:9/far.tsv"}}


def test_rows_that_the_reader_refuses_are_counted_by_reason():
    refused = [row(20 + number, question="") for number in range(4)] + [row(30, answer="Q"), row("")]
    rows = [row(1), *refused, row(40, A="blue"), row(50, kind="sort"), row(60, category="look")]
    found, items = checked({"my": {"path": "my.tsv", "reader": {"exclude": {"kind": "sort"}}}}, *rows)
    assert lines(found, "ok") == ["my: 3 items, my.tsv"]
    assert lines(found, "warning") == [
        "my: 4 rows rejected: has no question (index 20 in line 3, index 21 in line 4, "
        "index 22 in line 5, …)",
        "my: 1 row rejected: the answer is Q, an option without text (index 30 in line 7)",
        "my: 1 row rejected: has no index (line 8)",
    ]
    assert lines(found, "note") == [
        "my: 1 row with a note: two options have the same text (index 40 in line 9)",
        "my: 1 row excluded: kind is sort (index 50 in line 10)",
    ]
    assert items["my"].texts["id"].to_list() == ["my/1", "my/40", "my/60"]
    # One item of each of the two task types has its image.
    assert sorted(items["my"].first["category"]) == ["colour", "look"]
    assert items["my"].images.rows() == [(f"my/{index}", f"my/{index}#0", 24 * 16) for index in (1, 40, 60)]


def test_refusals_that_differ_in_what_they_quote_are_one_line():
    found, _ = checked(MY, *map(row, ("a", "b", "it's", "c", "c", "it's", "b", "a")), row(9, answer="9"))
    assert lines(found, "warning") == [
        "my: 4 rows rejected, like this: index 'c' is that of an earlier row (index c in line 6, index it's "
        "in line 7, index b in line 8, …)",
        "my: 1 row rejected: the answer '9' is not one option letter (index 9 in line 10)",
    ]


def test_answers_none_of_which_is_0_are_a_warning():
    rows = [row(number, answer="1") for number in range(10)]
    found, items = checked({"my": {"path": "my.tsv", "reader": {"answer_form": "index"}}}, *rows)
    assert lines(found, "warning") == [
        "my: 1 row with a note: no answer of the rows that are read is 0; if the file counts from 1, "
        "subtract 1 from all (index 0 in line 2)"
    ]
    assert lines(found, "note") == [] and items["my"].texts.height == 10


@pytest.mark.parametrize(
    ("published", "text"),
    [({"items": 17023}, "17,023"), ({"items": 1200, "rounded": True}, "about 1,200")],
)
def test_items_are_counted_beside_the_published_number(published, text):
    found, items = checked({"my": {"path": "my.tsv", "published": published}}, row(1), row(2))
    assert lines(found, "ok") == [f"my: 2 items (published: {text}), my.tsv"]
    assert items["my"].texts.height == 2


def test_a_source_that_cannot_be_read_is_an_error_and_the_next_is_read():
    Path("columns.tsv").write_text("index\timage\n1\t2\n")
    write_tsv(Path("task.tsv"), [row(1, **{"l2-category": ""})])
    sources = {"columns": {"path": "columns.tsv"}, "task": {"path": "task.tsv", "task_column": "l2_category"}}
    found, items = checked(sources | MY, row(1))
    columns, task = lines(found, "error")
    assert (
        columns
        == "columns: columns.tsv: has no column 'question'; its columns are index, image; add the column"
    )
    assert task.startswith("task: task.tsv: none of its rows became an item; the first, in line 2: ")
    assert lines(found, "ok") == ["my: 1 item, my.tsv"]
    assert list(items) == ["my"]


def test_more_rejected_rows_than_the_run_allows_are_an_error():
    found, items = checked(MY, row(1), row(2, answer="red"), row(3, answer="red"))
    assert lines(found, "error") == [
        "my: my.tsv: 2 of 3 rows are rejected, 2 like this: the answer 'red' is not one option letter "
        "(answer_form of the source's reader may be text); mend the file or the keys of reader, or raise "
        "max_rejected (0.5)"
    ]
    assert items["my"].texts.height == 1
    found, _ = checked({"my": {"path": "my.tsv", "reader": {"max_rejected": 0.7}}})
    assert lines(found, "error") == []


def test_a_truncated_image_is_a_refused_row():
    cut = encoded(photo(1)[:1500])
    found, items = checked(MY, row(1, image=encoded(photo(2))), row(2, image=cut), row(3, image=cut))
    (line,) = lines(found, "warning")
    assert line.startswith("my: 2 rows rejected: image 1: these 1,500 bytes are not a complete image")
    assert items["my"].images["pixels"].to_list() == [48 * 64]


def test_a_generated_source_is_that_of_the_run():
    found, items = checked({"drawn-text": {"generated": {"groups": 2}}})
    expected = generate_source("drawn-text", seed=1, groups=2)
    assert lines(found, "made") == [f"drawn-text: {expected.height} items, made by the run"]
    assert items["drawn-text"].texts["question"].to_list() == expected["question"].to_list()
    first = items["drawn-text"].first
    assert base64.b64encode(first["images"][0][0]["bytes"]).decode() in expected["image"].to_list()


SIZE = f"{len(DATA) / 1e9:.2g} GB"


def test_a_source_to_download_is_fetched_from_its_address(server):  # noqa: F811
    far = {"far": {"url": server.url}}
    found, items = checked(far)
    assert [(each.level, each.text) for each in found] == [("fetch", f"{SIZE}, from {server.url}")]
    assert items == {}
    server.status = 404
    assert lines(checked(far)[0], "error") == [
        f"far: {server.url}: the server answers 404 Not Found; check the network (HTTPS_PROXY) and the "
        f"address, and run it again; or put data.tsv from {server.url} into a folder and set BENCHC_DATA to "
        "that folder"
    ]
    (error,) = lines(checked(FAR)[0], "error")
    assert error.startswith("far: http://127.0.0.1:9/far.tsv: the request failed (ConnectError: ")


def test_a_mirror_is_named_where_the_address_fails(server, mirror):  # noqa: F811
    far = {"far": {"url": server.url, "md5": "0" * 32, "mirrors": [mirror.url], "bytes": len(DATA)}}
    assert [each.level for each in checked(far)[0]] == ["fetch"]
    server.content = DATA[:-1]
    wrong = f"{server.url}: its file has {len(DATA) - 1:,} bytes, expected {len(DATA):,}"
    assert [(each.level, each.text) for each in checked(far)[0]] == [
        ("warning", f"{wrong}; a mirror has the file"),
        ("fetch", f"{SIZE}, from {mirror.url}"),
    ]
    mirror.status = 404
    (error,) = lines(checked(far)[0], "error")
    assert error.startswith(f"far: {wrong}; {mirror.url}: the server answers 404 Not Found; check ")


def test_a_file_that_is_given_in_a_folder_is_asked_of_no_server(server, folder, monkeypatch):  # noqa: F811
    monkeypatch.setenv("BENCHC_DATA", "data")
    (folder / "data").mkdir()
    (folder / "data/data.tsv").write_bytes(DATA)
    (found,) = checked({"far": {"url": server.url}})[0]
    assert (found.level, found.text) == ("fetch", f"{SIZE}, from data/data.tsv (BENCHC_DATA)")
    assert server.requested == []
    (error,) = lines(checked({"far": {"url": server.url, "bytes": 5}})[0], "error")
    assert error.startswith(f"far: data/data.tsv: has {len(DATA):,} bytes, expected 5; ")


def test_a_source_that_was_downloaded_is_read():
    Path("results/downloads").mkdir(parents=True)
    write_tsv(Path("results/downloads/far.tsv"), [row(1)])
    found, items = checked(FAR)
    assert lines(found) == ["far: 1 item, results/downloads/far.tsv"]
    assert list(items) == ["far"]


def vqav2(folder: Path, **keys: str) -> dict[str, Any]:
    paths = map(str, write_vqav2(folder))
    files = dict(zip(("questions", "annotations", "images"), paths, strict=True)) | keys
    return {"format": "vqav2", "files": files}


def test_files_of_vqav2_are_read_and_their_rejected_questions_named(folder):
    files = vqav2(folder)
    (folder / "val2014" / image_name(73)).unlink()
    found, items = checked({"v": {"convert": files}})
    assert lines(found, "ok") == [f"v: 4 items, {', '.join(files['files'].values())}"]
    assert lines(found, "warning") == [
        f"v: 2 rows rejected: image {image_name(73)}: there is no such file among the images "
        "(index 73000 in line 4, index 73001 in line 5)"
    ]
    assert items["v"].images["image_key"].unique().len() == 2
    found, items = checked({"v": {"convert": files | {"take_images": 9}}})
    assert "take_images is 9, but its questions are about 3 images" in lines(found, "error")[0]
    assert items == {}


def test_files_of_vqav2_that_are_not_here_are_downloads(folder, server):  # noqa: F811
    urls = [server.url, f"{server.url}?images"]
    found, items = checked({"v": {"convert": vqav2(folder, annotations=urls[0], images=urls[1])}})
    assert [line.partition("from ")[2] for line in lines(found, "fetch")] == urls
    assert items == {}
