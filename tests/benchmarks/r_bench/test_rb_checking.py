"""`benchc check` says what a run of R-Bench lacks: items for its dimensions, images, or files of others."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from benchc.benchmarks.r_bench.checking import check
from benchc.benchmarks.r_bench.settings import Settings
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.planning.amounts import Amount
from benchc.planning.size import RunSize
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.benchmarks.r_bench.test_rb_asking import CONFIG

RELEASED = {"pairs": "released", "released": "pairs.parquet"}


def found(options: dict[str, int], **changes: Any) -> list[tuple[str, str, str]]:
    """Return level, subject and text of what is found of a run whose items have so many ``options``."""
    config = Config(Settings.model_validate(yaml.safe_load(CONFIG) | changes), {}, {})
    texts = pl.DataFrame({"id": list(options)}, schema={"id": pl.String})
    pool = PoolFound(texts, RunSize(Amount(len(options)), options), pl.DataFrame(schema=POOL.columns), 4)
    findings = check(config, pool, load=False, network=False)
    return [(each.level, each.subject, each.text) for each in findings]


def write_pairs(*cells: tuple[str, str, int]) -> None:
    rows = [(*cell, {"bytes": b"x", "path": None}) for cell in cells]
    frame = pl.DataFrame(rows, schema=pl.Schema(IMPORTED_IMAGES.columns), orient="row")
    write_table(frame, "pairs.parquet", IMPORTED_IMAGES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_task_with_too_few_items_for_its_dimensions_is_named() -> None:
    options = {f"drawn-text/{number}": 4 for number in range(30)} | {"drawn-charts/1": 4, "drawn-charts/2": 4}
    advice = "; add items, or raise assignment.per_item, for as many under each dimension"
    assert found(options) == [
        ("ok", "MCQ", "30 items for 30 of 30 corrupted images"),
        ("warning", "CAP", f"2 items for 2 of 30 corrupted images{advice}"),
    ]
    both = found(options, assignment={"per_item": 2})
    assert both[1] == ("warning", "CAP", f"2 items for 4 of 30 corrupted images{advice}")
    assert found(options, assignment={"cross": True}) == []


def test_imported_images_are_of_the_pools_items_and_of_the_runs_dimensions() -> None:
    options = {"r-bench/1": 4, "r-bench/2": 0}
    error = ("error", "images")
    assert found(options, **RELEASED) == [
        (*error, "pairs.parquet does not exist; `benchc r-bench-pairs` writes it (docs/r-bench.md)")
    ]
    write_pairs(("r-bench/1", "jpeg", 1))
    text = "pairs.parquet has no image of 1 item of the pool, first r-bench/2; convert both files again"
    assert found(options, **RELEASED) == [(*error, text)]
    write_pairs(("r-bench/1", "jpeg", 1), ("r-bench/2", "webp", 1))
    text = "pairs.parquet has no image under white_noise; remove them from corruptions.types"
    assert found(options, **RELEASED) == [(*error, text)]
    write_pairs(("r-bench/1", "jpeg", 1), ("r-bench/2", "white_noise", 1))
    text = "2 images under 2 corruptions in pairs.parquet"
    assert found(options, **RELEASED) == [("ok", "images", text)]
    Path("pairs.parquet").write_bytes(b"PAR1")
    ((level, _, text),) = found(options, **RELEASED)
    assert level == "error" and "not a complete Parquet file" in text


def test_files_of_other_programs_are_named(folder: Path) -> None:
    (folder / "there.csv").touch()
    files = {kind: f"{kind}.csv" for kind in ("dis", "ref")} | {"com": "there.csv"}
    changes = {
        "answers_from": {"gpt": {"label": "GPT", "file": "gpt.csv"}},
        "judgements_from": {"other": {"label": "Other", **files}},
        "people": ["one.csv", "there.csv"],
    }

    def absent(file: str) -> str:
        return f"names {file}, which does not exist; write it, or remove the entry"

    assert found({}, **changes) == [
        ("error", "answers_from.gpt.file", absent("gpt.csv")),
        ("error", "judgements_from.other.dis", absent("dis.csv")),
        ("error", "judgements_from.other.ref", absent("ref.csv")),
        ("ok", "judgements_from.other.com", "in there.csv"),
        ("error", "people[0]", absent("one.csv")),
        ("ok", "people[1]", "in there.csv"),
    ]
