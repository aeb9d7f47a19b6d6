"""VQAv2's files and open-ended TSV files become a pool with reference answers, in Snakemake."""

import hashlib
import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.references import REFERENCES
from tests.sources.tsv_files import row, write_tsv
from tests.sources.vqav2_files import IMAGE_IDS, annotation, question, write_vqav2, zipped
from tests.workflow.checkout import ROOT, Checkout

REFERENCES_FILE = "results/mine/pool/references.parquet"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address of a server of its files."""
    folder = tmp_path / "site"
    folder.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def vqav2(questions: object, annotations: object, images: object, **keys: object) -> dict[str, object]:
    files = {"questions": str(questions), "annotations": str(annotations), "images": str(images)}
    convert = {"format": "vqav2", "files": files, **keys}
    return {"label": f"V {questions}", "task_column": "category", "convert": convert}


@pytest.fixture
def checkout(tmp_path: Path, site: tuple[Path, str], python: Path) -> Checkout:
    """A run of local files of VQAv2, of downloaded ones, of an open-ended TSV file and of generated items."""
    checkout = Checkout(tmp_path / "benchc", "config/mine.yaml")
    checkout.python = python
    data = checkout.folder / "my data"
    data.mkdir()
    questions = [question(id_, number) for id_ in IMAGE_IDS for number in (0, 1)]
    answers = [annotation(one["image_id"], one["question_id"] % 1000, f"a {one}") for one in questions]
    write_vqav2(data, questions, answers)
    (data / "list.txt").write_text("42\n262148\n")
    folder, address = site
    zipped(write_vqav2(folder), folder)
    without = ({key: value for key, value in row(index).items() if key not in "ABC"} for index in (5, 6))
    write_tsv(data / "open.tsv", [{**values, "answer": "crimson"} for values in without])
    sources = {
        "local": vqav2(
            "my data/v2_OpenEnded_mscoco_val2014_questions.json",
            "${DATA}/v2_mscoco_val2014_annotations.json",
            "my data/val2014",
            take_images="my data/list.txt",
        ),
        "far": vqav2(
            *(f"{address}/{name}.zip" for name in ("Questions_Val", "Annotations_Val", "val2014")),
            take_images=2,
            md5={"images": hashlib.md5((folder / "val2014.zip").read_bytes()).hexdigest()},
        ),
        "open": {"label": "Open", "path": "my data/open.tsv", "task_column": "category"},
        "drawn-text": {"label": "Text", "generated": {"groups": 1}, "task_column": "category"},
    }
    (checkout.folder / "config/mine-sources.yaml").write_text(yaml.safe_dump(sources))
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    config |= {"name": "mine", "sources": list(sources), "pool": {"per_task": None, "total": None}}
    config["catalogues"]["sources"] = "config/mine-sources.yaml"
    (checkout.folder / checkout.config).write_text(yaml.safe_dump(config))
    return checkout


def test_references_of_a_pool_of_all_kinds_of_sources(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA", "my data")
    made = {"generate_demo_source": 1, "download_source": 3, "convert_source": 2, "read_source": 4, "pool": 1}
    assert checkout.plan(REFERENCES_FILE) == {**made, "references": 1}
    checkout.make(REFERENCES_FILE)
    pool, path = checkout.folder / "results/mine/pool/items.parquet", checkout.folder / REFERENCES_FILE
    items, found = read_table(pool, POOL), read_table(path, REFERENCES)
    assert read_footer(path)["pool"] == pool_digest(pool, QUESTION_COLUMNS)
    assert found["id"].to_list() == items["id"].to_list()
    truths = dict(found.select("id", "truth").iter_rows())
    assert {id_ for id_ in truths if id_.startswith("local/")} == {
        f"local/{image}00{number}" for image in (42, 262148) for number in (0, 1)
    }
    assert truths["local/42001"] == f"a {question(42, 1)}"
    assert sum(id_.startswith("far/") for id_ in truths) == 4
    assert truths["open/5"] == "crimson"
    for row_ in items.filter(source="drawn-text").iter_rows(named=True):
        assert truths[row_["id"]] == row_["options"][row_["answer"]]
    assert checkout.plan(REFERENCES_FILE) == {}
    # An MD5 says what a file is, whoever serves it.
    sources = checkout.folder / "config/mine-sources.yaml"
    entries = yaml.safe_load(sources.read_text())
    convert = entries["far"]["convert"]
    served = convert["files"]["images"]
    convert["files"]["images"] = "http://127.0.0.1:9/val2014.zip"
    convert |= {"mirrors": {"images": [served]}, "bytes": {"images": 1}}
    before_mirrors = sources.read_text()
    sources.write_text(yaml.safe_dump(entries))
    assert checkout.plan(REFERENCES_FILE) == {}
    sources.write_text(before_mirrors)
    # The downloads stay; only what depends on the list is read again.
    lists = checkout.folder / "my data/list.txt"
    before = lists.stat().st_mtime
    lists.write_text("73\n")
    os.utime(lists, (before, before))
    again = {"convert_source": 1, "read_source": 1, "pool": 1, "references": 1}
    assert checkout.plan(REFERENCES_FILE) == again
    lists.write_text("42\n262148\n")
    os.utime(lists, (before, before))
    sources.write_text(sources.read_text().replace("take_images: 2", "take_images: 1"))
    assert checkout.plan(REFERENCES_FILE) == again


def test_a_dry_run_of_the_published_files_needs_no_network(tmp_path: Path, python: Path) -> None:
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    checkout.configure(catalogues={"sources": "config/sources.yaml"}, sources=["vqav2-val2014"])
    assert checkout.plan(REFERENCES_FILE.replace("mine", "demo")) == {
        "download_source": 3,
        "convert_source": 1,
        "read_source": 1,
        "pool": 1,
        "references": 1,
    }
    shown = checkout.snakemake("-n", "-p", "results/demo/sources/vqav2-val2014.parquet").stdout
    assert "--url=http://images.cocodataset.org/zips/val2014.zip" in shown
    assert "--take-images=3000" in shown
