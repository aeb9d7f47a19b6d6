"""Which outputs of jobs on a cluster get a record without a Snakemake that saw their end."""

import json
import os
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from benchc.workflow import owners
from benchc.workflow.records import (
    INCOMPLETE,
    RECORDS,
    SECONDS_TO_SETTLE,
    SUBMITTED,
    adopt_submitted,
    inputs_digest,
    restored,
)

OUTPUTS = [Path("results/run/a.parquet"), Path("results/run/b.csv")]
INPUT, OTHER = Path("results/run/pool.parquet"), Path("results/run/subset.parquet")


def name(output: Path) -> str:
    return urlsafe_b64encode(str(output).encode()).decode()


@pytest.fixture(autouse=True)
def submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job with two outputs, which was submitted and has made both."""
    monkeypatch.chdir(tmp_path)
    for path in (*OUTPUTS, INPUT, OTHER):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content")
    for output in OUTPUTS:
        record = SUBMITTED / RECORDS.name / name(output)
        began = SUBMITTED / INCOMPLETE.name / name(output)
        for path in (record, began):
            path.parent.mkdir(parents=True, exist_ok=True)
        content = {"shellcmd": "one job", "input": [str(INPUT), str(OTHER)], "params": ["x"], "endtime": 0.0}
        record.write_text(json.dumps(content))
        began.write_text(json.dumps({"external_jobid": f"7 {inputs_digest([OTHER, INPUT])}"}))


def adopted(*incomplete: Path) -> int:
    """Return how many outputs have a record."""
    adopt_submitted(incomplete)
    records = [RECORDS / name(output) for output in OUTPUTS if (RECORDS / name(output)).is_file()]
    for record in records:
        assert json.loads(record.read_text())["params"] == ["x"]
    return len(records)


def times() -> list[float]:
    return [json.loads((RECORDS / name(output)).read_text())["endtime"] for output in OUTPUTS]


def made(seconds: float) -> list[float]:
    """Give outputs a later time; return the times of both."""
    for output in OUTPUTS:
        time = output.stat().st_mtime + seconds
        os.utime(output, (time, time))
    return [output.stat().st_mtime for output in OUTPUTS]


def is_kept() -> bool:
    return {(SUBMITTED / RECORDS.name / name(output)).exists() for output in OUTPUTS} == {True}


def test_outputs_of_a_job_that_ended_are_adopted() -> None:
    assert adopted() == 2
    assert times() == [output.stat().st_mtime for output in OUTPUTS]


def test_outputs_that_are_touched_soon_after_are_adopted_again() -> None:
    adopted()
    # Such as by the job's outer Snakemake.
    later = made(SECONDS_TO_SETTLE / 2)
    assert adopted() == 2 and times() == later and is_kept()
    # An edit afterwards is none of the job.
    made(SECONDS_TO_SETTLE + 1)
    assert adopted() == 2 and times() == later and not is_kept()


def test_a_job_is_forgotten_when_it_is_settled() -> None:
    made(-SECONDS_TO_SETTLE / 2)
    for output in OUTPUTS:
        os.utime(SUBMITTED / INCOMPLETE.name / name(output), (0, 0))
    adopted()
    assert adopted() == 2 and is_kept()
    made(-SECONDS_TO_SETTLE)
    (RECORDS / name(OUTPUTS[0])).unlink()
    (RECORDS / name(OUTPUTS[1])).unlink()
    assert adopted() == 2 and not is_kept()


@pytest.mark.parametrize(("params", "expected"), [(["x"], 5), (["of a later job"], 0)])
def test_a_later_record_is_replaced_only_by_its_own(params: list[str], expected: float) -> None:
    adopted()
    before = times()
    for output in OUTPUTS:
        record = RECORDS / name(output)
        record.write_text(json.dumps({**json.loads(record.read_text()), "params": params}))
    made(5)
    adopt_submitted([])
    assert times() == pytest.approx([time + expected for time in before])


def test_an_earlier_record_is_replaced() -> None:
    adopted()
    for output in OUTPUTS:
        record = RECORDS / name(output)
        record.write_text(json.dumps({"params": ["before"], "endtime": output.stat().st_mtime - 60}))
    assert adopted() == 2 and times() == [output.stat().st_mtime for output in OUTPUTS]


def test_a_job_that_runs_or_failed_is_not_adopted() -> None:
    assert adopted(OUTPUTS[1]) == 0
    OUTPUTS[0].unlink()
    assert adopted() == 0


def test_outputs_from_before_the_job_are_not_adopted() -> None:
    old = (SUBMITTED / INCOMPLETE.name / name(OUTPUTS[0])).stat().st_mtime - 60
    os.utime(OUTPUTS[0], (old, old))
    assert adopted() == 0


@pytest.mark.parametrize("edit", ["newer", "longer", "gone"])
def test_outputs_of_other_inputs_are_not_adopted(edit: str) -> None:
    if edit == "newer":
        os.utime(INPUT, (1, 1))
    elif edit == "longer":
        found = INPUT.stat()
        INPUT.write_text("longer content")
        os.utime(INPUT, ns=(found.st_atime_ns, found.st_mtime_ns))
    else:
        INPUT.unlink()
    assert adopted() == 0


def test_records_that_were_cut_off_are_ignored() -> None:
    (SUBMITTED / RECORDS.name / name(OUTPUTS[0])).write_text('{"shellcmd": "one')
    (SUBMITTED / INCOMPLETE.name / name(OUTPUTS[1])).write_text("")
    assert adopted() == 0


def test_files_that_a_running_snakemake_makes_need_no_record() -> None:
    fault = restored("run", OUTPUTS.__contains__, [], "snakemake", owners.locked_outputs())
    assert fault is None and times()
    for output in OUTPUTS:
        (RECORDS / name(output)).unlink()
        (SUBMITTED / RECORDS.name / name(output)).unlink()
        Path("results/run/.provenance", name(output)).unlink()
    (owners.LOCKS / "0.output.lock").parent.mkdir(parents=True)
    (owners.LOCKS / "0.output.lock").write_text(f"{OUTPUTS[0]}\n")
    (owners.LOCKS / "0.input.lock").write_text(f"{OUTPUTS[1]}\n")
    fault = restored("run", OUTPUTS.__contains__, [], "snakemake", owners.locked_outputs())
    assert fault is not None and fault.startswith("1 file without a record") and str(OUTPUTS[1]) in fault
    (owners.LOCKS / "0.output.lock").write_text("\n".join(map(str, OUTPUTS)))
    assert restored("run", OUTPUTS.__contains__, [], "snakemake", owners.locked_outputs()) is None


def test_a_job_of_a_running_snakemake_is_not_adopted() -> None:
    assert restored("run", OUTPUTS.__contains__, [], "snakemake", {OUTPUTS[0]}) is not None
    assert not any(RECORDS.glob("*"))


@pytest.mark.parametrize(("seconds", "is_refused"), [(30, False), (7200, True)])
def test_an_output_with_a_time_in_the_future_is_refused(seconds: int, is_refused: bool) -> None:
    made(seconds)
    assert adopted() == 2
    fault = restored("run", OUTPUTS.__contains__, [], "snakemake")
    assert (fault or "").startswith("2 files with times in the future, such as") == is_refused
    assert fault is None or is_refused


def test_the_clock_of_a_file_server_that_is_ahead_is_the_one_that_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made(0)
    behind = OUTPUTS[0].stat().st_mtime - 7200
    monkeypatch.setattr("benchc.workflow.records.time.time", lambda: behind)
    assert adopted() == 2 and restored("run", OUTPUTS.__contains__, [], "snakemake") is None


def test_the_record_of_an_output_that_a_failed_job_removed_is_the_former_one() -> None:
    assert adopted() == 2 and restored("run", OUTPUTS.__contains__, [], "snakemake") is None
    # Snakemake records the settings of the job that failed.
    for output in OUTPUTS:
        record = RECORDS / name(output)
        record.write_text(json.dumps(json.loads(record.read_text()) | {"params": ["y"]}))
    OUTPUTS[0].unlink()
    restored("run", OUTPUTS.__contains__, [], "snakemake")
    params = [json.loads((RECORDS / name(output)).read_text())["params"] for output in OUTPUTS]
    assert params == [["x"], ["y"]]
