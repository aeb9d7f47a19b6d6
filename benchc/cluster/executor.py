"""The executor of jobs on SLURM, as slurm/site.yaml describes the cluster.

It is Snakemake's plugin for SLURM, but for four parts. A job asks for what it needs within the limits of a
partition, for more memory only after it had too little, and for more time only after a time-out. Short jobs
that are ready together are one job of SLURM. The state of a job is known without accounting, and however soon
SLURM forgets it. A Snakemake that is started after another was killed takes over the jobs that still run.
"""

import os
import subprocess
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from shlex import quote
from types import SimpleNamespace
from typing import Any, TypeVar

import tenacity
from snakemake_executor_plugin_slurm import Executor as SlurmExecutor
from snakemake_executor_plugin_slurm.job_status_query import get_min_job_age
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_interface_common.exceptions import WorkflowError
from snakemake_interface_executor_plugins.executors.base import SubmittedJobInfo
from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

from benchc.cluster.site import SITE, Partition, Request, gpu_option, options, placed, read_site, site_file
from benchc.cluster.states import (
    Cause,
    cancel,
    comments,
    ended,
    exit_file,
    fault,
    is_live,
    job_id,
    queue,
    reasons,
    refusal,
)
from benchc.cluster.submitted import Submitted, jobs_of
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.workflow.job_facts import MEMORY_ASKED

# The queue must be looked at before SLURM forgets a job that has ended.
LOOKS_PER_JOB_AGE = 3
POLLS_UNTIL_LOST = 4  # a job that SLURM does not know; files may arrive late on a shared file system
SECONDS_UNTIL_LOST = 150.0
POLLS_UNTIL_LINE = 20  # without an answer
# Texts of sbatch after which the same submission may succeed, and those that end when other jobs do.
TRANSIENT = (
    "timed out",
    "Unable to contact",
    "Connection refused",
    "try again",
    "temporarily",
    "Zero Bytes",
    "or drain",
)
FULL = ("MaxSubmitJob", "GrpSubmitJob")
SECONDS_OF_TRIES = 900.0
LINE_AFTER_TRIES = 3
# Short jobs that are ready within some seconds of each other run one after another in one job of SLURM.
SECONDS_TO_GATHER = 5.0
MINUTES_OF_SHORT = 20
MINUTES_OF_PACK = 120
T = TypeVar("T")


@dataclass
class Grown:
    """By how much a job's request has grown, since it had too little before."""

    memory: int = 1
    time: int = 1


@dataclass
class Watched:
    """A submitted job: its logs, its request, and how often and since when SLURM has not known it."""

    logs: Sequence[Path]
    asked: Request | None
    unknown: int = 0
    since: float = 0.0

    def is_lost(self, *, known: bool) -> bool:
        """Return whether SLURM has not known the job for long; to be called at each poll."""
        if known:
            self.unknown = 0
            return False
        if not self.unknown:
            self.since = time.monotonic()
        self.unknown += 1
        waited = time.monotonic() - self.since
        return self.unknown >= POLLS_UNTIL_LOST and waited >= SECONDS_UNTIL_LOST


class RefusedError(Exception):
    """sbatch refused a job. The text is SLURM's."""


class TransientError(RefusedError):
    """It may accept the same job later."""


@dataclass(frozen=True)
class Unit:
    """A job of Snakemake, what it asks for, and the folder of its logs."""

    job: Any
    asked: Request
    folder: Path


class Executor(SlurmExecutor):  # type: ignore[misc]  # the plugin has no types
    """Submits jobs as slurm/site.yaml says. Short jobs that are ready together are one job of SLURM."""

    def __post_init__(self, test_mode: bool = False) -> None:
        try:
            self.site = read_site(site_file())
        except InputError as error:
            raise WorkflowError(str(error)) from error
        os.environ.update(self.site.variables)
        # The plugin would say whether its own command for states, which is not used here, is the best.
        self.workflow.executor_settings.status_command = None
        super().__post_init__(test_mode)
        age = get_min_job_age()
        polls = self.site.seconds_between_polls
        # 0 is for ever.
        self.seconds = max(1, min(polls, age // LOOKS_PER_JOB_AGE)) if age else polls
        self.grown: dict[str, Grown] = {}
        self.unanswered = 0
        self.submitted = Submitted(self.workflow.dag)
        self.ready: list[Any] = []
        self.lock_of_ready = threading.Lock()
        self.exit_files: set[Path] = set()
        self.ids: set[str] = set()
        self.failed: set[str] = set()
        self.said: set[tuple[str, str]] = set()
        self.polls = 0
        self.is_stopping = False
        self.started_at = time.time()

    # ---- Submission ----

    def run_jobs(self, jobs: list[Any]) -> None:
        """Submit jobs, those together that are ready within a few seconds."""
        for job in jobs:
            self.run_job_pre(job)
        with self.lock_of_ready:
            self.ready += jobs
        self._job_submission_executor.submit(self._submit_ready)

    def run_job(self, job: Any) -> None:
        """Submit a job that :meth:`run_jobs` was not called for."""
        self._submit_all([job])

    def _submit_ready(self) -> None:
        time.sleep(min(SECONDS_TO_GATHER, self.seconds))
        with self.lock_of_ready:
            jobs, self.ready = self.ready, []
        self._submit_all(jobs)

    def _submit_all(self, jobs: Sequence[Any]) -> None:
        if self.is_stopping:
            return
        try:
            known = any(self.submitted.id_of(job) for job in jobs)
            states = self._states() if known else {}
        except Exception as error:
            self._report_errors(jobs, f"the job cannot be submitted: {error!r}")
            return
        units = [unit for job in jobs for unit in self._new(job, states)]
        for pack in packed(units, self.site.limits, attrgetter("asked")):
            try:
                self._submit(pack)
            except RefusedError as error:
                self._report_errors([unit.job for unit in pack], f"SLURM refused the job: {error}")
            except Exception as error:  # else the main thread would wait for the jobs forever
                self._report_errors([unit.job for unit in pack], f"the job cannot be submitted: {error!r}")

    def _new(self, job: Any, states: Mapping[str, str]) -> Iterator[Unit]:
        """Yield a job that has to be submitted; not one that an earlier Snakemake submitted and that runs."""
        try:
            folder = self.slurm_logdir / job.name / _words(job)
            if not self._taken_over(job, folder, states):
                folder.mkdir(parents=True, exist_ok=True)
                yield Unit(job, self._request(job), folder)
        except InputError as error:
            self._report_errors([job], str(error))
        except Exception as error:
            self._report_errors([job], f"the job cannot be submitted: {error!r}")

    def _report_errors(self, jobs: Sequence[Any], text: str) -> None:
        for job in jobs:
            self._report_job_error_threadsafe(SubmittedJobInfo(job), f"error: {text}. ")

    def _taken_over(self, job: Any, folder: Path, states: Mapping[str, str]) -> bool:
        id_ = self.submitted.id_of(job)
        if id_ is None:
            return False
        log = folder / f"{id_}.log"
        live, status = is_live(states, id_), exit_file(log)
        if not self.submitted.is_same(job):
            if live and not status.exists():
                self.logger.info(f"SLURM job {id_} is cancelled, since its settings, code or inputs changed.")
                self._cancel_and_wait(id_)
            return False
        end = ended(states.get(id_), [log, self._output(id_)])
        # Snakemake knew of an earlier success before it began.
        is_new = end is not None and end.cause is None and status.exists()
        if not (live if end is None else is_new and status.stat().st_mtime > self.started_at):
            return False
        self.logger.info(f"Job {job.jobid} takes over SLURM job {id_} of an earlier run (log: {log}).")
        self._report(job, id_, log, None)
        return True

    def _states(self) -> dict[str, str]:
        """Return the states of jobs that do not change at the moment.

        Waits for SLURM to answer: a job that runs must not run twice.
        """
        while not self.is_stopping:
            states = queue()
            if states is not None and "COMPLETING" not in states.values():
                return states
            time.sleep(self.seconds)
        return {}

    def _cancel_and_wait(self, id_: str) -> None:
        """Cancel a job of SLURM, and wait until it can remove no file any more."""
        cancel([id_])
        while not self.is_stopping and is_live(self._states(), id_):
            time.sleep(self.seconds)

    def _submit(self, pack: Sequence[Unit]) -> None:
        asked, token = together([unit.asked for unit in pack]), uuid.uuid4().hex
        self._output("").parent.mkdir(parents=True, exist_ok=True)
        resources = dict(options(asked, self.site))
        account = resources.pop("slurm_account", None)
        params = {
            "run_uuid": self.run_uuid,
            "slurm_logfile": self._output("%j"),
            # By the last word, a job is found that was accepted without an answer.
            "comment_str": " ".join([*dict.fromkeys(f"rule_{unit.job.name}" for unit in pack), token]),
            "account": f"-A {quote(account)}" if account else "",
            "partition": f"-p {quote(resources.pop('slurm_partition'))}",
            "workdir": self.workflow.workdir_init,
        }
        described = SimpleNamespace(
            threads=asked.threads,
            # --gpus alone counts over all nodes that SLURM may give.
            resources=_Resources(mem_mb=asked.mem_mb, runtime=asked.minutes, nodes=1, **resources),
        )
        command = get_submit_command(
            described, params, settings=self.workflow.executor_settings, failed_nodes=self._failed_nodes
        )
        for unit in pack:
            self.submitted.begin(unit.job)
            # Before it can end: a job's outputs are complete when its marker is gone.
            for each in jobs_of(unit.job):
                self.workflow.persistence.started(each, None)
                for log in each.log:
                    # Of an earlier run; Snakemake would show it if this job is refused.
                    Path(log).unlink(missing_ok=True)
        call = f"{command} {gpu_option(asked.gpus, self.site)} /dev/stdin"
        id_ = self._sbatch(call, self._script(pack), token)
        try:
            for unit in pack:
                self.submitted.add(unit.job, id_)
        except OSError:
            cancel([id_])
            raise
        numbers = ", ".join(str(unit.job.jobid) for unit in pack)
        asks = f"{asked.partition}, {pluralize(asked.threads, 'core')}, {asked.mem_mb:,} MB"
        asks += f", {asked.minutes} min" if asked.minutes else ""
        asks += f", {pluralize(asked.gpus, 'GPU')}" if asked.gpus else ""
        jobs = "Job" if len(pack) == 1 else "Jobs"
        self.logger.info(f"{jobs} {numbers}: SLURM job {id_} ({asks}; log: {self._output(id_)})")
        for unit in pack:
            # Each may use the memory of the one that asked for most.
            had = unit.asked.model_copy(update={"mem_mb": asked.mem_mb})
            self._report(unit.job, id_, unit.folder / f"{id_}.log", had)

    def _output(self, id_: str) -> Path:
        """Return the file for what SLURM itself says of a job."""
        return Path(self.slurm_logdir, "slurm", f"{id_}.log")

    def _report(self, job: Any, id_: str, log: Path, asked: Request | None) -> None:
        self.ids.add(id_)
        aux = {"watched": Watched([log, self._output(id_)], asked)}
        self._report_job_submission_threadsafe(SubmittedJobInfo(job, external_jobid=id_, aux=aux))

    def _request(self, job: Any) -> Request:
        """Return what a job asks for. Raises InputError where no partition has its GPUs."""
        grown = self.grown.get(_key(job), Grown())
        given = job.resources
        wanted = Request(
            threads=max(1, job.threads),
            mem_mb=int(given.get("mem_mb") or 0) * grown.memory,
            minutes=int(given.get("runtime") or 0) * grown.time or None,
            gpus=int(given.get("gpu") or 0),
            retried=job.attempt > 1,
        )
        return placed(wanted, self.site)

    def _script(self, pack: Sequence[Unit]) -> str:
        """Return a script that runs the jobs one after another, each with a log and an exit status.

        Where SLURM starts it again, it runs those that had not ended.
        """
        lines = ["#!/bin/bash", *([self.site.setup] if self.site.setup else []), "set +e", "failed=0"]
        lines.append(f"export {MEMORY_ASKED}={together([unit.asked for unit in pack]).mem_mb}")
        for unit in pack:
            lines += [
                f'log={quote(str(unit.folder))}/"$SLURM_JOB_ID"',
                'if [ ! -e "$log.exit" ]; then',
                # Where the partition allows fewer threads than the rule has.
                f'( {self.format_job_exec(unit.job)} --max-threads {unit.asked.threads} ) > "$log.log" 2>&1',
                "status=$?",
                "[ $status = 0 ] || failed=1",
                'echo $status > "$log.exit"',
                "fi",
            ]
        return "\n".join([*lines, "exit $failed"]) + "\n"

    def _sbatch(self, command: str, script: str, token: str) -> str:
        """Submit a script; return the job's id. ``token``: in its comment. Raises RefusedError."""
        tries = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            wait=tenacity.wait_exponential(multiplier=2, max=60),
            stop=self._has_tried_enough,
            before_sleep=self._say_that_it_waits,
            reraise=True,
        )
        return str(tries(_submitted, command, script, token))

    def _has_tried_enough(self, state: tenacity.RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        # A limit on the number of jobs ends when other jobs do.
        if any(text in str(error) for text in FULL) and not self.is_stopping:
            states = queue()
            return states is not None and not any(is_live(states, id_) for id_ in states)
        return self.is_stopping or (state.seconds_since_start or 0) > SECONDS_OF_TRIES

    def _say_that_it_waits(self, state: tenacity.RetryCallState) -> None:
        if state.attempt_number == LINE_AFTER_TRIES:
            error = state.outcome.exception() if state.outcome else None
            self.logger.warning(f"SLURM does not accept jobs now ({error}); they are submitted again.")

    # ---- Jobs that run ----

    async def check_active_jobs(self, active_jobs: list[SubmittedJobInfo]) -> AsyncIterator[SubmittedJobInfo]:
        """Yield the jobs that still wait or run, and report the others."""
        if not active_jobs:
            return
        self.next_seconds_between_status_checks = self.seconds
        states = queue()
        self.unanswered = self.unanswered + 1 if states is None else 0
        if self.unanswered and self.unanswered % POLLS_UNTIL_LINE == 0:
            self.logger.warning("squeue does not answer; jobs may go on, and are looked at again.")
        self.polls += 1
        if self.polls % POLLS_UNTIL_LINE == 0:
            self._say_what_waits()
        for job in active_jobs:
            if states is None or not self._has_ended(job, states):
                yield job

    def _say_what_waits(self) -> None:
        """Say of jobs that may wait for ever why they wait, once each."""
        for id_, reason in reasons().items():
            if id_ in self.ids and (id_, reason) not in self.said:
                self.said.add((id_, reason))
                self.logger.warning(f"SLURM job {id_} waits: {reason}")

    def _has_ended(self, info: SubmittedJobInfo, states: Mapping[str, str]) -> bool:
        """Return whether a job has ended, and report it then."""
        watched: Watched = info.aux["watched"]
        state = states.get(info.external_jobid)
        end = ended(state, watched.logs)
        if end is None and not watched.is_lost(known=state is not None):
            return False
        self.exit_files.add(exit_file(watched.logs[0]))
        if end is not None and end.cause is None:
            self.report_job_success(info)
            if not self.workflow.executor_settings.keep_successful_logs:
                with suppress(OSError):
                    watched.logs[0].unlink()
        else:
            self.failed.add(str(info.external_jobid))
            cause = (end and end.cause) or Cause.LOST
            has_begun = watched.logs[0].exists()
            advice = self._advice(info.job, cause, watched.asked) if has_begun else " before it began"
            # Snakemake shows the stage's log, but not the job's, in which it may have failed itself.
            found = fault(watched.logs[0]) if cause is Cause.ERROR else None
            why = f" ({found})" if found else ""
            text = f"SLURM job {info.external_jobid}: {cause.value}{why}{advice}. "
            logs = [str(log) for log in watched.logs if log.exists()]
            self.report_job_error(info, msg=text, aux_logs=logs)
        return True

    def _advice(self, job: Any, cause: Cause, asked: Request | None) -> str:
        """Return what the job asked for and what a retry will, where it had too little of something."""
        grown = self.grown.setdefault(_key(job), Grown())
        if cause is Cause.MEMORY:
            grown.memory *= 2
            own = int(job.resources.get("mem_mb") or 0)
            while asked is not None and 0 < own * grown.memory <= asked.mem_mb:
                grown.memory *= 2
        elif cause is Cause.TIME:
            grown.time *= 2
        else:
            return ""
        if asked is None:
            return ""
        again = self._request(job)
        if cause is Cause.MEMORY:
            resource, had, now, amount = "mem_mb", asked.mem_mb, again.mem_mb, f"{asked.mem_mb} MB"
        else:
            resource, had, now = "runtime", asked.minutes or 0, again.minutes or 0
            amount = pluralize(had, "minute")
        if now == had:
            return (
                f"; {amount} is the most that partition {asked.partition} allows (max_{resource} in {SITE})"
            )
        if job.attempt > job.restart_times:
            return f"; it had {amount}; give it more: --set-resources {job.name}:{resource}={now}"
        return f"; it had {amount}, a retry asks for {now}"

    def handle_job_success(self, job: Any) -> None:
        """Forget the submission of a job that Snakemake has recorded."""
        super().handle_job_success(job)
        self.submitted.end(job)

    def handle_job_error(self, job: Any) -> None:
        """Forget the submission of a job that has failed."""
        super().handle_job_error(job)
        self.submitted.end(job)

    def cancel(self) -> None:
        """Cancel all jobs, those too that are being submitted."""
        self.is_stopping = True
        self._job_submission_executor.shutdown(wait=True, cancel_futures=True)
        states = queue()
        cancel([id_ for id_ in sorted(self.ids) if states is None or is_live(states, id_)])
        self.shutdown()

    def shutdown(self) -> None:
        """Wait for submissions, and remove what was kept while SLURM might start jobs again."""
        self._job_submission_executor.shutdown(wait=True)
        keeps = self.workflow.executor_settings.keep_successful_logs
        outputs = [] if keeps else [self._output(id_) for id_ in self.ids - self.failed]
        for file in (*self.exit_files, *outputs):
            with suppress(OSError):
                file.unlink()
        super().shutdown()


def use_site() -> None:
    """Let Snakemake's plugin for SLURM submit jobs by this executor, where the cluster is described."""
    if site_file().is_file():
        ExecutorPluginRegistry().get_plugin("slurm").executor = Executor


def limit_local_jobs(scheduler: Any) -> None:
    """Limit the jobs at once on the node of Snakemake, whose own option for this has no effect (9.27)."""
    if isinstance(scheduler._executor, Executor):
        scheduler._local_executor.pool = ThreadPoolExecutor(scheduler._executor.site.local_jobs)


def packed(
    units: Iterable[T], limits: Mapping[str, Partition], asked_by: Callable[[T], Request]
) -> Iterator[list[T]]:
    """Yield units in packs that are one job of SLURM each, in their order.

    A pack has several short jobs of one partition and with as many GPUs, none of which has failed before, and
    no more than the partition's time allows.

    ``limits``: of the partitions; ``asked_by``: what a unit asks for.
    """
    open_packs: dict[tuple[str, int], list[T]] = {}
    for unit in units:
        asked = asked_by(unit)
        if asked.retried or asked.minutes is None or asked.minutes > MINUTES_OF_SHORT:
            yield [unit]
            continue
        pack = open_packs.setdefault((asked.partition, asked.gpus), [])
        most = min(MINUTES_OF_PACK, limits[asked.partition].max_runtime or MINUTES_OF_PACK)
        if pack and sum(asked_by(each).minutes or 0 for each in pack) + asked.minutes > most:
            yield pack[:]
            pack.clear()
        pack.append(unit)
    yield from (pack for pack in open_packs.values() if pack)


def together(pack: Sequence[Request]) -> Request:
    """Return what jobs ask for that run one after another."""
    return pack[0].model_copy(
        update={
            "threads": max(each.threads for each in pack),
            "mem_mb": max(each.mem_mb for each in pack),
            "minutes": sum(each.minutes or 0 for each in pack) or None,
        }
    )


class _Resources(SimpleNamespace):
    """Resources as the plugin reads them."""

    def get(self, name: str, default: object = None) -> Any:
        value = getattr(self, name, None)
        return default if value is None else value


def _submitted(command: str, script: str, token: str) -> str:
    accepted = [id_ for id_, comment in (comments() or {}).items() if comment.endswith(token)]
    if accepted:
        return accepted[0]
    done = subprocess.run(
        command,
        shell=True,
        input=script,
        capture_output=True,
        text=True,
        check=False,
        # Ctrl-C is for Snakemake, which then cancels the job.
        start_new_session=True,
    )
    if done.returncode == 0 and (id_ := job_id(done.stdout)):
        return id_
    text = refusal(done.stderr)
    is_transient = any(part in text for part in (*TRANSIENT, *FULL))
    raise (TransientError if is_transient else RefusedError)(text)


def _key(job: Any) -> str:
    return f"{job.name} {_words(job)}"


def _words(job: Any) -> str:
    """Return what tells a job from others of its rule, as a part of a path."""
    words = [job.groupid] if job.is_group() else job.wildcards
    return "+".join(str(word).replace("/", "_") for word in words)
