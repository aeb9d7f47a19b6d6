"""What the record of a run takes from Snakemake's records and the facts of jobs, both written by hand."""

import hashlib
import json
import os
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchc.closure import content_sample
from benchc.workflow import run_record
from benchc.workflow.job_facts import facts_file
from benchc.workflow.records import INCOMPLETE, RECORDS
from benchc.workflow.run_record import begin, complete_killed, finish, read_record

FOLDER = Path("results/small")
OUTPUT = FOLDER / "tables/table1.csv"
BEGAN = 1_800_000_000.0  # 2027-01-15T08:00:00
MADE = "2027-01-15T08:01:40+00:00"
WORDS = ["pool", "--a=1"]


def sha256(content: str) -> str:
    return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"


def write(path: Path, content: str, time: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    os.utime(path, (time, time))
    return path


def made(
    output: Path,
    *inputs: Path,
    content: str = "1",
    seconds: int = 50,
    end: float | None = BEGAN + 100,
    rule: str = "table1",
    words: Sequence[str] = WORDS,
) -> None:
    """Write an output and Snakemake's record of it."""
    time = BEGAN + 100 if end is None else end
    write(output, content, time)
    record = {
        "rule": rule,
        "input": [str(path) for path in inputs],
        "shellcmd": f"python -m scripts.stage {' '.join(words)} 2>&1 | tee log",
        "starttime": time - seconds,
        "endtime": end,
        "params": [],
    }
    write(RECORDS / urlsafe_b64encode(str(output).encode()).decode(), json.dumps(record), time)


def facts(words: list[str], *lines: dict[str, Any]) -> None:
    write(facts_file(words), "\n".join(map(json.dumps, lines)), BEGAN)


def outputs() -> dict[str, Any]:
    assert finish("small", "finished") is None
    record: dict[str, Any] = json.loads((FOLDER / "run.json").read_text())
    found: dict[str, Any] = record["outputs"]
    return found


@pytest.fixture(autouse=True)
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_record, "_call", {})
    assert begin("small", ["snakemake"], "local") is None


def test_an_output_has_its_inputs_and_the_facts_of_its_last_try() -> None:
    inside, outside = write(FOLDER / "pool", "in", BEGAN), write(Path("data"), "out", BEGAN)
    elsewhere = write(Path.cwd() / "weights", "far", BEGAN)
    # A job that starts within two seconds may still have read it as it is.
    late, later = write(FOLDER / "late", "late", BEGAN + 61), write(FOLDER / "later", "2", BEGAN + 63)
    made(OUTPUT, inside, outside, elsewhere, late, later, FOLDER / "gone")
    known = {"host": "n2", "asked_mb": 9, "slurm_job": "7"}
    facts(
        WORDS,
        {"start": BEGAN, "host": "n1"},
        {"start": BEGAN + 60} | known,
        {"end": BEGAN + 90, "failed": False, "peak_mb": 5, "driver": None},
    )
    assert outputs() == {
        "tables/table1.csv": {
            "hash": sha256("1"),
            "made": MADE,
            "rule": "table1",
            "job": facts_file(WORDS).stem,
            "seconds": 30.0,
            "inputs": {
                "pool": sha256("in"),
                "./data": f"sample:{content_sample(outside)}",
                str(elsewhere): f"sample:{content_sample(elsewhere)}",
                "late": sha256("late"),
                "later": None,
                "gone": None,
            },
            **known,
            "peak_mb": 5,
        }
    }


def test_without_the_end_of_a_job_its_time_is_snakemakes() -> None:
    made(OUTPUT)
    facts(WORDS, {"start": BEGAN, "host": "n1"})
    (output,) = outputs().values()
    assert output["seconds"] == 50.0 and "host" not in output


def test_only_complete_outputs_that_people_do_not_change_are_recorded() -> None:
    made(OUTPUT)
    made(FOLDER / "incomplete", end=None)
    made(FOLDER / "folder", end=None)
    (FOLDER / "folder").unlink()
    (FOLDER / "folder").mkdir()
    made(FOLDER / "edited/own")
    made(Path("results/other/file"))
    made(FOLDER / "newer")
    os.utime(FOLDER / "newer")
    assert finish("small", "finished", [FOLDER / "edited"]) is None
    assert [*read_record(FOLDER)["outputs"]] == ["tables/table1.csv"]


def test_an_output_stays_as_a_job_wrote_it_until_it_is_made_again_or_removed() -> None:
    made(OUTPUT)
    first = outputs()
    write(OUTPUT, "edited", BEGAN + 100)
    assert outputs() == first
    write(OUTPUT, "edited", BEGAN + 300)
    assert outputs() == first
    made(OUTPUT, content="2", end=BEGAN + 400)
    again = outputs()["tables/table1.csv"]
    assert (again["hash"], again["made"]) == (sha256("2"), "2027-01-15T08:06:40+00:00")
    # What its job made beside it stays, so that the deleted one is missed; not what an earlier job made.
    other = FOLDER / "tables/table1.md"
    made(other, end=BEGAN + 399)
    both = outputs()
    OUTPUT.unlink()
    assert outputs() == both and len(both) == 2
    made(other, end=BEGAN + 500)
    assert [*outputs()] == ["tables/table1.md"]
    other.unlink()
    assert outputs() == {}


def test_what_was_accepted_by_touch_keeps_what_made_it() -> None:
    made(OUTPUT, write(FOLDER / "pool", "in", BEGAN))
    first = outputs()["tables/table1.csv"]
    made(OUTPUT, seconds=0, end=BEGAN + 400)
    touched = outputs()["tables/table1.csv"]
    assert touched == first | {"made": "2027-01-15T08:06:40+00:00"} and touched["inputs"]
    made(OUTPUT, seconds=9, end=BEGAN + 500)
    assert outputs()["tables/table1.csv"]["inputs"] == {}
    made(OUTPUT, content="2", seconds=0, end=BEGAN + 600)
    assert outputs()["tables/table1.csv"]["hash"] == sha256("2")


def test_touch_accepts_the_inputs_too_as_they_are() -> None:
    pool = write(FOLDER / "pool", "in", BEGAN)
    facts(WORDS, {"start": BEGAN + 60, "host": "n1"}, {"end": BEGAN + 90})
    made(OUTPUT, pool)
    first = outputs()["tables/table1.csv"]
    # Of a job with two outputs, the times differ by some milliseconds.
    os.utime(pool, (BEGAN + 400, BEGAN + 400))
    made(OUTPUT, pool, seconds=1, end=BEGAN + 401)
    again = outputs()["tables/table1.csv"]
    assert again == first | {"made": "2027-01-15T08:06:41+00:00"} and again["inputs"] == {
        "pool": sha256("in")
    }
    # Without an earlier record, or of a file that was edited.
    write(pool, "edited", BEGAN + 500)
    made(OUTPUT, pool, content="edited, too", seconds=0, end=BEGAN + 501)
    edited = outputs()["tables/table1.csv"]
    assert (edited["hash"], edited["inputs"]) == (sha256("edited, too"), {"pool": sha256("edited")})
    # A job that ran again and wrote the same.
    facts(WORDS, {"start": BEGAN + 600, "host": "n2"}, {"end": BEGAN + 610})
    write(pool, "newer", BEGAN + 590)
    made(OUTPUT, pool, content="edited, too", seconds=20, end=BEGAN + 611)
    rerun = outputs()["tables/table1.csv"]
    assert (rerun["host"], rerun["inputs"]) == ("n2", {"pool": sha256("newer")})


@pytest.mark.parametrize(("retries", "again"), [(0, 1), (1, 1), (3, 3)])
def test_a_call_counts_the_tries_since_it_began(retries: int, again: int) -> None:
    began = run_record.began()
    before, start = {"start": began - 1}, {"start": began + 1}
    facts(["a"], before, {"end": began}, start, {"end": began + 2}, start)
    facts(["b"], before)
    facts(["c"], start)
    # Jobs that were cancelled before their stage began left no facts.
    assert finish("small", "finished", retries=retries) is None
    (call,) = read_record(FOLDER)["calls"]
    assert (call["result"], call["jobs"], call["tried_again"]) == ("finished", 2, again)
    assert call["end"] is not None


def test_the_command_is_that_which_the_user_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(run_record.TYPED, "benchc run 'a b.yaml' --token=hf_x --cores 2")
    assert begin("small", ["snakemake", "--logger", "stages"], "local") is None
    assert read_record(FOLDER)["calls"][-1]["command"] == "benchc run 'a b.yaml' '--token=***' --cores 2"
    assert run_record.TYPED not in os.environ


def test_costs_include_what_was_made_for_all_runs_but_not_other_runs() -> None:
    model, drawn, other = (Path("results", name) for name in ("models/m/a", "models/set", "other/a"))
    made(model, drawn, rule="train", words=["train", "a"])
    made(drawn, rule="draw", words=["draw", "b"])
    made(other, rule="other", words=["pool", "c"])
    made(Path("results/models/unused"), rule="unused", words=["d"])
    made(OUTPUT, model, other)
    outputs()
    stages = json.loads((FOLDER / "run.json").read_text())["stages"]
    assert {rule: stage["seconds"] for rule, stage in stages.items()} == dict.fromkeys(
        ("draw", "table1", "train"), 50
    )


@pytest.mark.parametrize("is_running", [False, True])
def test_what_a_killed_call_was_writing_is_removed_unless_a_job_may_still_run(is_running: bool) -> None:
    shared = Path("results/models/tiny/model.json")
    left = []
    for output in (OUTPUT, shared):
        made(output)
        left.append(write(output.with_name(f".{output.name}.0abcdefgh"), "", 1.0))
    if is_running:
        write(INCOMPLETE / urlsafe_b64encode(b"results/small/other.csv").decode(), "{}", BEGAN)
    assert complete_killed("small", []) is None
    # Another checkout may write what runs share.
    assert [path.exists() for path in left] == [is_running, True]


def test_a_killed_call_is_completed_once() -> None:
    made(OUTPUT)
    assert complete_killed("small", []) is None
    record = read_record(FOLDER)
    assert ([call["result"] for call in record["calls"]], [*record["outputs"]]) == (
        ["killed"],
        ["tables/table1.csv"],
    )
    before = (FOLDER / "run.json").stat().st_mtime_ns
    assert complete_killed("small", []) is None and complete_killed("absent", []) is None
    assert (FOLDER / "run.json").stat().st_mtime_ns == before and not Path("results/absent").exists()


def test_the_results_page_shows_the_inputs_of_what_it_shows() -> None:
    made(OUTPUT, FOLDER / "pool")
    made(FOLDER / "pool")
    write(FOLDER / "index.html", "", BEGAN)
    outputs()
    shown = (FOLDER / "page/run.js").read_text()
    content = json.loads(shown.partition(", ")[2].rpartition(")")[0])
    assert {*content["outputs"]} == {"tables/table1.csv"} and content["stages"]["table1"]["jobs"] == 1
    assert [call["result"] for call in content["calls"]] == ["finished"]


def test_an_edited_record_is_kept_aside() -> None:
    edited = json.dumps({"format": 1, "calls": [1], "outputs": []})
    (FOLDER / "run.json").write_text(edited)
    assert complete_killed("small", []) is None
    assert begin("small", ["snakemake"], "local") is None
    assert (FOLDER / "run.json.unreadable").read_text() == edited
    assert len(read_record(FOLDER)["calls"]) == 1


@pytest.mark.parametrize("time", ["yesterday", "2027-01-15T08:06:40"])
def test_a_time_that_was_edited_makes_a_record_unreadable(time: str) -> None:
    made(OUTPUT)
    outputs()
    record = json.loads((FOLDER / "run.json").read_text())
    record["outputs"]["tables/table1.csv"]["made"] = time
    (FOLDER / "run.json").write_text(json.dumps(record))
    assert read_record(FOLDER) == {}
