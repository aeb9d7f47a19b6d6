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
from tests.benchmarks.made import frame_of
from tests.benchmarks.r_bench.test_rb_asking import CONFIG

RELEASED = {"pairs": "released", "released": "pairs.parquet"}


def found(options: dict[str, int], network: bool = False, **changes: Any) -> list[tuple[str, str, str]]:
    """Return level, subject and text of what is found of a run whose items have so many ``options``."""
    raw = yaml.safe_load(CONFIG) | {"judge": {"kind": "rule"}} | changes
    config = Config(Settings.model_validate(raw), {}, {})
    texts = pl.DataFrame({"id": list(options)}, schema={"id": pl.String})
    pool = PoolFound(texts, RunSize(Amount(len(options)), options), pl.DataFrame(schema=POOL.columns), 4)
    findings = check(config, pool, load=False, network=network)
    return [(each.level, each.subject, each.text) for each in findings]


def write_pairs(*cells: tuple[str, str, int]) -> None:
    rows = [(*cell, {"bytes": b"x", "path": None}) for cell in cells]
    write_table(frame_of(IMPORTED_IMAGES, rows), "pairs.parquet", IMPORTED_IMAGES)


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
        ("ok", "judgements_from.other.com", "there.csv exists; its job reads it"),
        ("error", "people[0]", absent("one.csv")),
        ("ok", "people[1]", "there.csv exists; its job reads it"),
    ]


def test_a_judge_is_asked_unless_its_replies_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JUDGE_KEY", raising=False)
    judge = {"kind": "llm", "url": "http://127.0.0.1:9/v1", "mode": "record", "api_key_env": "JUDGE_KEY"}
    text = "the environment variable JUDGE_KEY is not set; set it, or give null for api_key_env"
    assert found({}, judge=judge) == [("error", "gpt-3.5-turbo", text)]
    monkeypatch.setenv("JUDGE_KEY", "secret-0123456789")
    text = "was not asked at http://127.0.0.1:9/v1, mode record"
    assert found({}, judge=judge) == [("skipped", "gpt-3.5-turbo", text)]
    ((level, _, text),) = found({}, network=True, judge=judge)
    assert level == "error" and "http://127.0.0.1:9/v1" in text and "secret" not in text
    kept = judge | {"mode": "replay", "recordings": "kept"}
    text = "mode is replay, but kept has no replies; name their folder in recordings, or record them"
    assert found({}, judge=kept) == [("error", "gpt-3.5-turbo", text)]
    (folder / "kept/ab").mkdir(parents=True)
    assert found({}, judge=kept) == [("ok", "gpt-3.5-turbo", "replies are in kept")]
    people = {"kind": "human", "scores": "scores.csv"}
    text = "names scores.csv, which does not exist; write it, or remove the entry"
    assert found({}, judge=people) == [("error", "judge.scores", text)]
