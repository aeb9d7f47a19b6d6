"""Local files of every format become a pool in Snakemake, and an edit of one is read again."""

import os
import re
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.sources.data_files import (
    question,
    write_as_folder,
    write_as_json_lines,
    write_as_parquet,
    write_as_tsv,
)
from tests.sources.tsv_files import BLUE, RED, image_bytes
from tests.workflow.checkout import ROOT, Checkout, planned_jobs

POOL = "results/mine/pool/items.parquet"
GREEN = image_bytes((5, 250, 5))
READ = {"read_source": 1, "pool": 1}


@pytest.fixture
def checkout(tmp_path: Path, python: Path) -> Checkout:
    checkout = Checkout(tmp_path / "benchc", "config/mine.yaml")
    checkout.python = python
    questions = [question(number, [image]) for number, image in enumerate([RED, BLUE])]
    folders = {name: checkout.folder / f"my data/{name}" for name in ("csv", "lines", "hub", "tsv")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    write_as_folder(folders["csv"], questions, "metadata.csv", "file_name")
    write_as_json_lines(folders["lines"], questions, paths=True)
    write_as_parquet(folders["hub"], questions)
    write_as_tsv(folders["tsv"], questions)
    named = folders | {"tsv": folders["tsv"] / "my.tsv"}
    sources = {
        name: {"label": name, "path": str(path.relative_to(checkout.folder)), "task_column": "category"}
        for name, path in named.items()
    }
    (checkout.folder / "config/mine-sources.yaml").write_text(yaml.safe_dump(sources))
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    config |= {"name": "mine", "sources": list(sources), "pool": {"per_task": None, "total": None}}
    config["catalogues"]["sources"] = "config/mine-sources.yaml"
    (checkout.folder / checkout.config).write_text(yaml.safe_dump(config))
    return checkout


def rewrite(path: Path, content: bytes) -> None:
    """Change a file to one that is older than what was made of it."""
    before = path.stat().st_mtime
    path.write_bytes(content)
    os.utime(path, (before, before))


def planned(checkout: Checkout) -> tuple[dict[str, int], set[str]]:
    """Return the jobs of a dry run, and the sources that it reads."""
    output = checkout.snakemake("-n", POOL).stdout
    return planned_jobs(output), set(re.findall(r"Reading the items of (\w+)", output))


def test_an_edit_of_an_image_or_a_file_reads_that_source_alone(checkout: Checkout) -> None:
    assert planned(checkout) == ({"read_source": 4, "pool": 1}, {"csv", "lines", "hub", "tsv"})
    checkout.make(POOL)
    pool = pl.read_parquet(checkout.folder / POOL)
    assert pool["id"].to_list() == [f"{name}/{n}" for name in ("csv", "hub", "lines", "tsv") for n in (0, 1)]
    duplicates = pl.read_csv(checkout.folder / "results/mine/pool/duplicates.csv")
    assert duplicates.select("id", "taken").rows() == [
        (f"{name}/{n}", True) for n in (0, 1) for name in ("csv", "hub", "lines", "tsv")
    ]
    assert planned(checkout) == ({}, set())
    data = checkout.folder / "my data"
    # What a source does not name is not its content.
    (data / "csv/img/other.png").write_bytes(GREEN)
    (data / "hub/notes.txt").write_text("About this data set.\n")
    catalogue = checkout.folder / "config/mine-sources.yaml"
    sources = yaml.safe_load(catalogue.read_text())
    sources["csv"]["reader"] = {"max_rejected": 0.4}
    catalogue.write_text(yaml.safe_dump(sources))
    assert planned(checkout) == ({}, set())
    for source, file in (("csv", "csv/img/0_0.png"), ("lines", "lines/img/0_0.png")):
        rewrite(data / file, GREEN)
        assert planned(checkout) == (READ, {source})
        rewrite(data / file, RED)
        assert planned(checkout) == ({}, set())
    for source, file in (("lines", "lines/my.jsonl"), ("csv", "csv/metadata.csv")):
        content = (data / file).read_bytes()
        rewrite(data / file, content.replace(b"Which colour", b"What colour"))
        assert planned(checkout) == (READ, {source})
        rewrite(data / file, content)
    shard = data / "hub/test-00000-of-00001.parquet"
    content = shard.read_bytes()
    write_as_parquet(data / "hub", [question(number, [GREEN]) for number in range(2)])
    assert planned(checkout) == (READ, {"hub"})
    rewrite(shard, content)
    # Another folder's file of the same content by another path is the same data.
    sources["csv"]["path"] = str(data / "csv/metadata.csv")
    catalogue.write_text(yaml.safe_dump(sources))
    os.utime(shard, (0, 0))
    assert planned(checkout) == ({}, set())


def test_a_source_with_mostly_rejected_rows_stops_the_run_and_leaves_its_report(checkout: Checkout) -> None:
    bad = [question(1, [RED]), question(2, [RED], answer="red"), question(3, [RED], answer="red")]
    write_as_json_lines(checkout.folder / "my data/lines", bad, paths=False)
    failed = checkout.snakemake("--cores", "2", "results/mine/sources/lines.parquet", check=False)
    report = checkout.folder / "results/mine/sources/lines.report.failed.csv"
    assert failed.returncode != 0
    assert "2 of 3 rows are rejected, 2 like this: the answer 'red' is not one option letter" in failed.stdout
    assert report.read_text().count("rejected") == 2
    assert [path.name for path in report.parent.iterdir()] == [report.name]
    catalogue = checkout.folder / "config/mine-sources.yaml"
    sources = yaml.safe_load(catalogue.read_text())
    sources["lines"]["reader"] = {"max_rejected": 0.7}
    catalogue.write_text(yaml.safe_dump(sources))
    checkout.make("results/mine/sources/lines.parquet")
    assert {path.name for path in report.parent.iterdir()} == {
        "lines.parquet",
        "lines.report.csv",
        "lines.summary.csv",
        "lines.images.csv",
    }
