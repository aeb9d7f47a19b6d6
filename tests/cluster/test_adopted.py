"""Which outputs of jobs on a cluster get a record without a Snakemake that saw their end."""

import json
import os
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from benchc.workflow.records import INCOMPLETE, RECORDS, SUBMITTED, adopt_submitted, inputs_digest

OUTPUTS = [Path("results/run/a.parquet"), Path("results/run/b.csv")]
INPUT = Path("results/run/pool.parquet")


def name(output: Path) -> str:
    return urlsafe_b64encode(str(output).encode()).decode()


@pytest.fixture(autouse=True)
def submitted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job with two outputs, which was submitted and has made both."""
    monkeypatch.chdir(tmp_path)
    for path in (*OUTPUTS, INPUT):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content")
    for output in OUTPUTS:
        record = SUBMITTED / RECORDS.name / name(output)
        began = SUBMITTED / INCOMPLETE.name / name(output)
        for path in (record, began):
            path.parent.mkdir(parents=True, exist_ok=True)
        content = {"shellcmd": "one job", "input": [str(INPUT)], "params": ["x"], "endtime": 0.0}
        record.write_text(json.dumps(content))
        began.write_text(json.dumps({"external_jobid": f"7 {inputs_digest([INPUT])}"}))


def adopted(*incomplete: Path) -> int:
    """Return how many outputs have a record."""
    adopt_submitted(incomplete)
    records = [RECORDS / name(output) for output in OUTPUTS if (RECORDS / name(output)).is_file()]
    for record in records:
        assert json.loads(record.read_text())["params"] == ["x"]
    return len(records)


def test_outputs_of_a_job_that_ended_are_adopted_once() -> None:
    assert adopted() == 2
    times = [json.loads((RECORDS / name(output)).read_text())["endtime"] for output in OUTPUTS]
    assert times == [output.stat().st_mtime for output in OUTPUTS]
    # An edit afterwards is none of the job.
    for output in OUTPUTS:
        (RECORDS / name(output)).unlink()
        output.write_text("edited")
    assert adopted() == 0


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
