"""What the short jobs of `benchc site` find, by what sbatch and squeue answer and what the jobs leave."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchc.cluster import trial
from benchc.cluster.site import Partition, Site
from benchc.cluster.trial import FOLDER, PROGRAM, SECONDS_FOR_FILES, Tried, try_partitions

FOUND = '{"host": "n1", "python": "3.11.7", "unreadable": [], "gpus": []}\n'
ON_NODE = "on n1, Python 3.11.7"
WAIT = 120.0


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One whose job 7 is in a ``state``, and leaves a ``log`` and its status after ``seconds``."""
    found = SimpleNamespace(
        now=0.0, state="COMPLETED", log=b"", seconds=0.0, answer={"stdout": "7\n"}, asked=[], cancelled=[]
    )

    def wait(seconds: float) -> None:
        found.now += seconds
        if found.now >= found.seconds:
            (FOLDER / "a.log").write_bytes(found.log)
            (FOLDER / "a.exit").write_text("0\n")

    def sbatch(command: list[str], **_: object) -> object:
        found.asked.append(command)
        return SimpleNamespace(**{"returncode": 0, "stdout": "", "stderr": "", **found.answer})

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trial, "time", SimpleNamespace(sleep=wait, monotonic=lambda: found.now))
    monkeypatch.setattr(trial.subprocess, "run", sbatch)
    monkeypatch.setattr(trial, "queue", lambda: {"7": found.state})
    monkeypatch.setattr(trial, "cancel", found.cancelled.extend)
    return found


def tried(**limits: int) -> Tried:
    (found,) = try_partitions(Site(partitions={"a": Partition(**limits)}), [], WAIT)
    return found


@pytest.mark.parametrize(
    ("log", "gpus", "is_good", "text"),
    [
        (FOUND, 0, True, ON_NODE),
        # A site's own lines, before and after, in any encoding.
        (f"Willkommen, Universit\udce4t\n{FOUND}0\n\n", 0, True, ON_NODE),
        (FOUND, 2, False, f"{ON_NODE}: torch sees no GPU (is it a torch for CUDA, and is the driver new en"),
        (FOUND.replace('"gpus": [', '"gpus": ["H100"'), 2, True, f"{ON_NODE}, 1 GPU (H100)"),
        (FOUND.replace('ble": [', 'ble": ["/x (No)"'), 0, False, f"{ON_NODE}: cannot read /x (No)"),
        (
            "ImportError: torch\n\n",
            0,
            False,
            "the job failed (ImportError: torch); .snakemake/site/a.log has",
        ),
        (FOUND[:20], 0, False, f"the job failed ({FOUND[:20]}); "),
        ("", 0, False, "the job failed (it wrote nothing); "),
        ("7\n", 0, False, "the job failed (7); "),
    ],
)
def test_what_a_job_printed(cluster: Any, log: str, gpus: int, is_good: bool, text: str) -> None:
    cluster.log = log.encode(errors="surrogateescape")
    found = tried(max_gpu=gpus)
    assert (found.partition, found.is_good) == ("a", is_good) and found.text.startswith(text)
    assert ("--gpus=1" in cluster.asked[0]) == bool(gpus) and not cluster.cancelled


@pytest.mark.parametrize(
    ("state", "seconds", "is_good", "now"),
    [
        ("RUNNING", 30, True, 30),
        ("RUNNING", WAIT + 1, None, WAIT),
        # Files arrive late on a shared file system.
        ("COMPLETED", SECONDS_FOR_FILES - 10, True, SECONDS_FOR_FILES - 10),
        ("COMPLETED", WAIT, False, SECONDS_FOR_FILES + 2),
        ("NODE_FAIL", WAIT, False, 2),
    ],
)
def test_how_long_a_job_is_waited_for(
    cluster: Any, state: str, seconds: float, is_good: bool | None, now: float
) -> None:
    cluster.log, cluster.state, cluster.seconds = FOUND.encode(), state, seconds
    found = tried()
    assert (found.is_good, cluster.now) == (is_good, now)
    assert cluster.cancelled == ([] if is_good is not None else ["7"])
    assert ("(running), and is cancelled" in found.text) == (is_good is None)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"returncode": 1, "stderr": "sbatch: error: no account\n"}, "no account"),
        ({"returncode": 3}, "sbatch ended with 3"),
        ({"stdout": "Welcome\n"}, "sbatch printed no id of a job, but 'Welcome'"),
    ],
)
def test_a_job_that_is_not_submitted(cluster: Any, answer: dict[str, object], text: str) -> None:
    cluster.answer = answer
    assert tried() == Tried("a", False, f"no job can be submitted: {text}")


def test_a_job_asks_for_no_more_than_the_partition_allows(cluster: Any) -> None:
    cluster.log = FOUND.encode()
    tried(max_runtime=3, max_mem_mb=500)
    assert {"--partition=a", "--mem=500", "--time=3"} <= {*cluster.asked[0]}


def test_the_line_of_the_program_is_the_one_that_is_read(
    cluster: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPUS", "0")
    monkeypatch.setattr(sys, "argv", ["", ".", "absent"])
    exec(PROGRAM)
    cluster.log = capsys.readouterr().out.encode()
    assert tried().text.endswith("cannot read absent (No such file or directory)")
