"""What is said of jobs that are submitted, taken over, and submitted again after they failed."""

import asyncio
import logging
import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_executor_plugin_slurm import ExecutorSettings
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from benchc.cluster import executor as module
from benchc.cluster.executor import Executor, RefusedError, TransientError, Unit, Watched, use_site
from benchc.cluster.site import SITE, Partition, Request, Site
from benchc.models.gpus import TYPE_ASKED

REQUEST = Request(threads=2, mem_mb=4000, minutes=5, gpus=0, partition="cpu")


def job(number: int, rule: str = "train", attempt: int = 1) -> Any:
    return SimpleNamespace(
        name=rule,
        jobid=number,
        wildcards=[f"m{number}"],
        threads=1,
        resources={},
        log=[],
        attempt=attempt,
        restart_times=2,
        is_group=lambda: False,
    )


@pytest.fixture
def executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One without a Snakemake; ``lines``: what it logs, ``again`` and ``errors``: what it reports."""
    found: Any = Executor.__new__(Executor)
    found.lines, found.again, found.errors = [], [], []
    found.site = Site(partitions={"cpu": Partition()})
    found.grown, found.ids, found.failed, found.exit_files = {}, set(), set(), set()
    found.polls, found.unanswered, found.seconds, found.is_stopping = 0, 0, 1, False
    found.run_uuid, found.slurm_logdir = "uuid", tmp_path
    found.logger = SimpleNamespace(info=lambda text, extra: found.lines.append((text, extra)))
    settings = SimpleNamespace(efficiency_report=False, jobname_prefix=None, keep_successful_logs=True)
    scheduler = SimpleNamespace(error_callback=found.again.append, _user_kill=None)
    found.workflow = SimpleNamespace(executor_settings=settings, scheduler=scheduler)
    found.report_job_error = lambda info, msg, aux_logs: found.errors.append(msg)
    monkeypatch.setattr(module, "times", lambda: {"7": "3:21", "8": "0:00"})
    monkeypatch.setattr(module, "queue", lambda: {"7": "CANCELLED", "8": "CANCELLED", "9": "FAILED"})
    return found


def look(executor: Any, tmp_path: Path, id_: str, jobs: list[Any], begun: int) -> list[Any]:
    """Let the executor look at the jobs of a cancelled job of SLURM; return those that it waits for."""
    if begun:
        (tmp_path / f"{id_}.log").touch()
    infos = []
    for number, each in enumerate(jobs):
        log = tmp_path / f"{each.jobid}.log"
        if number < begun:
            log.touch()
        aux = {"watched": Watched([log, tmp_path / f"{id_}.log"], REQUEST)}
        infos.append(SimpleNamespace(job=each, external_jobid=id_, aux=aux))

    async def left() -> list[Any]:
        return [info async for info in executor.check_active_jobs(infos)]

    return asyncio.run(left())


CAUSE = "cancelled (by scancel, or preempted)"


@pytest.mark.parametrize(
    ("id_", "begun", "line"),
    [
        (
            "7",
            1,
            f"SLURM job 7: {CAUSE} after 3:21; submitted again (attempt 2 of 3): train (2 jobs), embed",
        ),
        (
            "8",
            0,
            f"SLURM job 8: {CAUSE} before it began; submitted again (attempt 2 of 3): train (2 jobs), embed",
        ),
        (
            "9",
            0,
            "SLURM job 9: failed before it began; submitted again (attempt 2 of 3): train (2 jobs), embed",
        ),
        (
            "9",
            1,
            "SLURM job 9: failed (OSError: full); log: FOLDER/11.log; submitted again (attempt 2 of 3): "
            "train (2 jobs), embed",
        ),
    ],
)
def test_jobs_that_are_submitted_again_are_one_line(
    executor: Any, tmp_path: Path, id_: str, begun: int, line: str
) -> None:
    jobs = [job(11), job(12), job(13, "embed")]
    if begun:
        (tmp_path / "11.log").write_text("OSError: full\n")
    assert look(executor, tmp_path, id_, jobs, begun) == []
    assert [text for text, _ in executor.lines] == [line.replace("FOLDER", str(tmp_path))]
    assert (executor.again, executor.errors) == (jobs, [])


def test_a_job_that_fails_for_good_has_its_logs(executor: Any, tmp_path: Path) -> None:
    look(executor, tmp_path, "7", [job(11, attempt=3), job(12, attempt=3)], 1)
    before = f"SLURM job 7: {CAUSE} before this job of it began. "
    assert executor.errors == [f"SLURM job 7: {CAUSE}. ", before]
    # So does each once Snakemake submits nothing any more.
    executor.workflow.scheduler._user_kill = "graceful"
    look(executor, tmp_path, "7", [job(11)], 1)
    assert len(executor.errors) == 3 and not executor.lines


@pytest.mark.parametrize(
    ("states", "is_stopping"),
    [({"7": "CANCELLED"}, True), ({"7": "RUNNING"}, False), (None, False), ({}, False)],
)
def test_what_runs_and_what_ctrl_c_cancels_has_not_failed(
    executor: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    states: dict[str, str] | None,
    is_stopping: bool,
) -> None:
    monkeypatch.setattr(module, "queue", lambda: states)
    executor.is_stopping = is_stopping
    assert len(look(executor, tmp_path, "7", [job(11)], 1)) == 1
    assert not executor.lines and not executor.errors


@pytest.mark.parametrize(
    ("states", "expected"),
    [({"7": "RUNNING", "8": "COMPLETED", "5": "RUNNING"}, ["7"]), (None, ["7", "8", "9"])],
)
def test_ctrl_c_cancels_what_lives(
    executor: Any, monkeypatch: pytest.MonkeyPatch, states: dict[str, str] | None, expected: list[str]
) -> None:
    ended: list[object] = []
    executor.ids = {"7", "8", "9"}
    executor._job_submission_executor = SimpleNamespace(shutdown=lambda **options: ended.append(options))
    executor.shutdown = lambda: ended.append("shut down")
    monkeypatch.setattr(module, "queue", lambda: states)
    # Not those alone that were submitted before.
    monkeypatch.setattr(module, "cancel", lambda ids: ended.append(ids))
    executor.cancel()
    assert executor.is_stopping
    assert ended == [{"wait": True, "cancel_futures": True}, expected, "shut down"]


@pytest.mark.parametrize(
    ("jobs", "label", "name", "gpus"),
    [
        ([job(1)], "train m1", "train", 2),
        ([job(1), job(2), job(3, "embed")], "train (2 jobs), embed", "train+embed", 0),
    ],
)
def test_a_submission_is_one_line_and_squeue_shows_the_rules(
    executor: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    jobs: list[Any],
    label: str,
    name: str,
    gpus: int,
) -> None:
    nothing = SimpleNamespace(begin=lambda job: None, add=lambda job, id_: None)
    executor.submitted = nothing
    executor.workflow.workdir_init = "."
    executor.workflow.persistence = SimpleNamespace(started=lambda job, id_: None)
    commands: list[str] = []
    executor._script = lambda pack: ""
    executor._sbatch = lambda command, script, token: commands.append(command) or "9"
    executor._report = lambda job, id_, log, asked: None
    executor._failed_nodes = set()
    executor.workflow.executor_settings = SimpleNamespace(
        efficiency_report=False, jobname_prefix="mine", requeue=False, qos=None, reservation=None
    )
    monkeypatch.setattr(module, "get_submit_command", lambda job, params, **_: params["run_uuid"])
    asked = REQUEST.model_copy(update={"gpus": gpus})
    executor._submit([Unit(each, asked, tmp_path) for each in jobs])
    asks = f"2 cores, 4,000 MB, {5 * len(jobs)} min" + (", 2 GPUs" if gpus else "")
    text = f"submitted: {label} as SLURM job 9 to cpu ({asks})"
    assert executor.lines == [(text, {"slurm_job": "9", "jobs": [each.jobid for each in jobs]})]
    assert commands[0].split()[0] == f"mine_{name}"


@pytest.mark.parametrize(
    ("state", "status", "is_taken"),
    [
        ("RUNNING", None, True),
        ("PENDING", None, True),
        # One of a pack whose others go on.
        ("RUNNING", 1, False),
        ("RUNNING", 0, True),
        (None, 0, True),
        # Snakemake knows of what ended before it began.
        ("COMPLETED", "before", False),
        ("COMPLETED", None, False),
        ("FAILED", 1, False),
        (None, None, False),
    ],
)
def test_which_job_of_an_earlier_run_is_taken_over(
    executor: Any, tmp_path: Path, state: str | None, status: int | str | None, is_taken: bool
) -> None:
    executor.submitted = SimpleNamespace(id_of=lambda job: "7", is_same=lambda job: True)
    executor._report = lambda job, id_, log, asked: None
    executor.started_at = time.time() + (60 if status == "before" else -60)
    if status is not None:
        (tmp_path / "7.exit").write_text("0" if status == "before" else str(status))
    states = {"7": state} if state else {}
    assert (executor._taken_over(job(11), tmp_path, states) == "7") == is_taken


def test_a_pack_with_a_job_that_changed_is_cancelled_before_others_are_taken_over(
    executor: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, cancelled = {"7": "RUNNING"}, []

    def cancel(ids: list[str]) -> None:
        cancelled.extend(ids)
        state["7"] = "CANCELLED"

    monkeypatch.setattr(module, "queue", lambda: {**state})
    monkeypatch.setattr(module, "cancel", cancel)
    executor.submitted = SimpleNamespace(id_of=lambda job: "7", is_same=lambda job: job.jobid != 12)
    executor.started_at, submitted = 0.0, []
    executor._submit = lambda pack: submitted.extend(unit.job.jobid for unit in pack)
    executor._submit_all([job(11), job(12), job(13)])
    assert (cancelled, submitted) == (["7"], [11, 12, 13])
    text = "SLURM job 7 is cancelled, since its settings, code or inputs changed"
    assert [line for line, _ in executor.lines] == [text]


@pytest.mark.parametrize(
    ("gpus", "error", "text"),
    [
        (9, None, "no partition of slurm/site.yaml has 9 GPUs for a job; correct max_gpu, or the "),
        (
            0,
            RefusedError("no account"),
            "SLURM refused the job: no account; correct slurm/site.yaml, or ask your site. ",
        ),
        (0, OSError(28, "No space left on device", "a"), "the job cannot be submitted: a: cannot be "),
        (0, KeyError("a"), "the job cannot be submitted: KeyError('a'). "),
    ],
)
def test_a_job_that_is_not_submitted_has_no_log_of_an_earlier_run(
    executor: Any, tmp_path: Path, gpus: int, error: Exception | None, text: str
) -> None:
    def submit(pack: object) -> None:
        if error is not None:
            raise error

    log, found = tmp_path / "of-an-earlier-run.log", []
    log.write_text("error: of an earlier run")
    executor._submit = submit
    executor.submitted = SimpleNamespace(id_of=lambda job: None)
    executor._report_job_error_threadsafe = lambda info, text: found.append((info.job, text))
    refused = job(11)
    refused.log, refused.resources = [str(log)], {"gpu": gpus}
    executor._submit_all([refused])
    ((own, said),) = found
    assert own is refused and said.startswith(text) and not log.exists()


def test_a_script_runs_each_job_once(executor: Any, tmp_path: Path) -> None:
    ran = f"echo $SETUP $BENCHC_MEM_MB $* >> {tmp_path}/ran; echo job"
    executor.format_job_exec = lambda job: f"bash -c '{ran}; exit {job}' job"
    executor.site = Site(partitions={"cpu": None}, setup="set -e; export SETUP=yes")
    asked = [REQUEST, REQUEST.model_copy(update={"mem_mb": 9000}), REQUEST]
    units = [
        Unit(status, each, tmp_path / f"a b{status}") for status, each in zip((0, 3, 0), asked, strict=True)
    ]
    for unit in units:
        unit.folder.mkdir(exist_ok=True)
    call = [["bash", "-c", executor._script(units)], {"SLURM_JOB_ID": "7", "PATH": os.environ["PATH"]}]
    assert [subprocess.run(call[0], env=call[1]).returncode for _ in range(2)] == [1, 0]
    # The third has the folder of the first, as after SLURM starts it again.
    assert (tmp_path / "ran").read_text() == "yes 9000 --max-threads 2\n" * 2
    assert [(unit.folder / "7.exit").read_text() for unit in units] == ["0\n", "3\n", "0\n"]
    assert (units[1].folder / "7.log").read_text() == "job\n"


def test_why_a_job_waits_is_said_once(executor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    executor.logger.warning, executor.ids, executor.said = warnings.append, {"7"}, set()
    for reason in ("PartitionDown", "PartitionDown", "AssocGrpGRES"):
        monkeypatch.setattr(module, "reasons", lambda reason=reason: {"7": reason, "8": "of another run"})
        executor._say_what_waits()
    assert warnings == ["SLURM job 7 waits: PartitionDown", "SLURM job 7 waits: AssocGrpGRES"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        # One of another folder may end for hours, as where its node hangs.
        ([{"7": "RUNNING", "1": "COMPLETING"}], ""),
        ([None] * 20, "until squeue answers, as"),
        ([{"7": "COMPLETING"}] * 20, "until SLURM job 7 has ended, as"),
    ],
)
def test_a_job_of_an_earlier_run_is_waited_for_and_that_is_said(
    executor: Any, monkeypatch: pytest.MonkeyPatch, answers: list[dict[str, str] | None], said: str
) -> None:
    warnings: list[str] = []
    executor.logger.warning = warnings.append
    given, waits = iter([*answers, {"7": "RUNNING"}]), []
    monkeypatch.setattr(module, "queue", lambda: next(given))
    monkeypatch.setattr(module.time, "sleep", waits.append)
    assert executor._states(["7"])["7"] == "RUNNING"
    assert len(waits) == (len(answers) if said else 0)
    assert len(warnings) == bool(said) and said in "".join(warnings)


@pytest.mark.parametrize(
    ("error", "states", "seconds", "is_enough"),
    [
        ("AssocMaxSubmitJobLimit", {"1": "RUNNING"}, 10**6, False),
        ("AssocMaxSubmitJobLimit", None, 10**6, False),
        # Of jobs of others.
        ("AssocGrpSubmitJobsLimit", {"1": "COMPLETED"}, 1, False),
        ("AssocGrpSubmitJobsLimit", {}, 901, True),
        ("Socket timed out", {"1": "RUNNING"}, 899, False),
        ("Socket timed out", {"1": "RUNNING"}, 901, True),
    ],
)
def test_a_submission_waits_for_other_jobs_and_not_for_ever(
    executor: Any,
    monkeypatch: pytest.MonkeyPatch,
    error: str,
    states: dict[str, str] | None,
    seconds: float,
    is_enough: bool,
) -> None:
    outcome = SimpleNamespace(exception=lambda: TransientError(error))
    state = SimpleNamespace(outcome=outcome)
    monkeypatch.setattr(module, "queue", lambda: states)
    executor.tries_from = time.monotonic() - seconds
    assert executor._has_tried_enough(state) == is_enough
    # From the end of the user's own jobs on.
    monkeypatch.setattr(module, "queue", lambda: {})
    assert executor._has_tried_enough(state) == is_enough
    executor.is_stopping = True
    assert executor._has_tried_enough(state)


def test_a_wait_is_said_once_and_not_at_first(executor: Any) -> None:
    warnings: list[str] = []
    executor.logger.warning = warnings.append
    outcome = SimpleNamespace(exception=lambda: TransientError("Socket timed out"))
    for attempt in range(1, 9):
        executor._say_that_it_waits(SimpleNamespace(outcome=outcome, attempt_number=attempt))
    assert warnings == ["SLURM does not accept jobs now (Socket timed out); they are submitted again."]


@pytest.mark.parametrize(
    ("config", "seconds"),
    [
        ("MinJobAge = 300 sec", 15),
        ("MinJobAge = 30 sec", 10),
        ("MinJobAge = 2 sec", 1),
        ("MinJobAge = 0 sec", 15),
        ("MaxArraySize = 0", 15),
        (None, 15),
    ],
)
def test_a_site_decides_how_often_the_queue_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str | None, seconds: int
) -> None:
    scontrol = tmp_path / "scontrol"
    scontrol.write_text(f"#!/bin/sh\necho '{config}'; exit {int(config is None)}\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.chdir(tmp_path)
    # What changes is restored.
    registered = ExecutorPluginRegistry().get_plugin("slurm")
    monkeypatch.setattr(registered, "executor", None)
    monkeypatch.setattr(module.plugin, "get_max_array_size", module.plugin.get_max_array_size)
    monkeypatch.setattr("atexit.register", lambda function: None)
    for name in ("OF_SITE", TYPE_ASKED):
        monkeypatch.setenv(name, "")
    (tmp_path / "slurm").mkdir()
    (tmp_path / SITE).write_text("partitions: {cpu: }\nenvironment: {OF_SITE: x}")
    use_site()
    assert registered.executor is Executor
    found: Any = Executor.__new__(Executor)
    found.logger = logging.getLogger()
    found.workflow = SimpleNamespace(
        executor_settings=ExecutorSettings(), workdir_init=str(tmp_path), dag=None, persistence=None
    )
    found.__post_init__()
    assert (found.seconds, os.environ["OF_SITE"]) == (seconds, "x")


def test_jobs_that_are_taken_over_are_one_line(executor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    executor.submitted = SimpleNamespace(id_of=lambda job: "7", is_same=lambda job: True)
    executor.started_at = 0.0
    executor._report = lambda job, id_, log, asked: None
    monkeypatch.setattr(module, "queue", lambda: {"7": "RUNNING"})
    executor._submit_all([job(11), job(12), job(13, "embed")])
    text = "takes over SLURM job 7 of an earlier run: train (2 jobs), embed"
    assert executor.lines == [(text, {"slurm_job": "7", "jobs": [11, 12, 13]})]
