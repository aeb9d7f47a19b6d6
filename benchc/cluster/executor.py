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
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from shlex import quote
from types import SimpleNamespace
from typing import Any, TypeVar

import snakemake_executor_plugin_slurm as plugin
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
    times,
)
from benchc.cluster.submitted import Submitted, jobs_of
from benchc.errors import InputError, of_file
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
# Of TRANSIENT, those after which SLURM may have the job.
OPEN = ("timed out", "Zero Bytes")
SECONDS_OF_TRIES = 900.0
LINE_AFTER_TRIES = 3
# Short jobs run one after another in one job of SLURM, if each is ready within seconds of the one before it.
SECONDS_TO_GATHER = 5.0
MOST_WAITS_TO_GATHER = 6
MINUTES_OF_SHORT = 20
MINUTES_OF_PACK = 120
SIZE_OF_ARRAY = 1000  # the plugin's own default
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


class UnansweredError(TransientError):
    """It may have accepted the job."""

    def __init__(self) -> None:
        super().__init__("squeue does not say whether SLURM accepted a job")


@dataclass(frozen=True)
class Unit:
    """A job of Snakemake, what it asks for, and the folder of its logs."""

    job: Any
    asked: Request
    folder: Path


@dataclass(frozen=True)
class Failure:
    """A job that failed and will be submitted again: why, what else is to say, and whether it had begun."""

    job: Any
    cause: str
    advice: str
    has_begun: bool


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
        self.tries_from = 0.0  # when a job was first refused though no other of the user was left
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
        for _ in range(MOST_WAITS_TO_GATHER):
            before = [*self.ready]
            time.sleep(min(SECONDS_TO_GATHER, self.seconds))
            if self.ready == before:
                break
        with self.lock_of_ready:
            jobs, self.ready = self.ready, []
        self._submit_all(jobs)

    def _submit_all(self, jobs: Sequence[Any]) -> None:
        if self.is_stopping:
            return
        try:
            known = {id_ for job in jobs if (id_ := self.submitted.id_of(job))}
            states = self._without_changed(jobs, self._states(known)) if known else {}
        except Exception as error:
            self._report_errors(jobs, _not_submitted(error))
            return
        taken: defaultdict[str, list[Any]] = defaultdict(list)
        units = [unit for job in jobs for unit in self._new(job, states, taken)]
        for id_, own in taken.items():
            self._say(f"takes over SLURM job {id_} of an earlier run: {_label(own)}", id_, own)
        for pack in packed(units, self.site.limits, attrgetter("asked")):
            try:
                self._submit(pack)
            except UnansweredError as error:
                text = f"{error}, and sbatch gave no answer; cancel it if it is there, and run again"
                self._report_errors([unit.job for unit in pack], text)
            except RefusedError as error:
                text = f"SLURM refused the job: {error}; correct {SITE}, or ask your site"
                self._report_errors([unit.job for unit in pack], text)
            except Exception as error:  # else the main thread would wait for the jobs forever
                self._report_errors([unit.job for unit in pack], _not_submitted(error))

    def _without_changed(self, jobs: Iterable[Any], states: dict[str, str]) -> dict[str, str]:
        """Cancel jobs of SLURM with a job that has changed since it was submitted; return the states then.

        This is before any of its others is taken over.
        """
        for job in jobs:
            id_ = self.submitted.id_of(job)
            if id_ is None or not is_live(states, id_) or self.submitted.is_same(job):
                continue
            if not exit_file(self._folder(job) / f"{id_}.log").exists():
                self._say(f"SLURM job {id_} is cancelled, since its settings, code or inputs changed", id_)
                # Until it can remove no file any more.
                cancel([id_])
                while not self.is_stopping and is_live(states := self._states([id_]), id_):
                    time.sleep(self.seconds)
        return states

    def _new(self, job: Any, states: Mapping[str, str], taken: Mapping[str, list[Any]]) -> Iterator[Unit]:
        """Yield a job that has to be submitted; add to ``taken`` one that runs since an earlier Snakemake."""
        try:
            folder = self._folder(job)
            if id_ := self._taken_over(job, folder, states):
                taken[id_].append(job)
            else:
                for log in (log for each in jobs_of(job) for log in each.log):
                    # Of an earlier run; Snakemake would show it if this job is refused.
                    Path(log).unlink(missing_ok=True)
                folder.mkdir(parents=True, exist_ok=True)
                yield Unit(job, self._request(job), folder)
        except InputError as error:
            self._report_errors([job], str(error))
        except Exception as error:
            self._report_errors([job], _not_submitted(error))

    def _report_errors(self, jobs: Sequence[Any], text: str) -> None:
        for job in jobs:
            self._report_job_error_threadsafe(SubmittedJobInfo(job), f"{text}. ")

    def _say(self, text: str, id_: str, jobs: Sequence[Any] = ()) -> None:
        """Log a line about a job of SLURM, which our logger shows, and the jobs that it runs from now on."""
        own = [each.jobid for job in jobs for each in jobs_of(job)]
        self.logger.info(text, extra={"slurm_job": id_, "jobs": own})

    def _taken_over(self, job: Any, folder: Path, states: Mapping[str, str]) -> str | None:
        """Return the id of an earlier submission that is as this one would be, and that has not failed."""
        id_ = self.submitted.id_of(job)
        if id_ is None:
            return None
        log = folder / f"{id_}.log"
        live, status = is_live(states, id_), exit_file(log)
        if not self.submitted.is_same(job):
            return None
        end = ended(states.get(id_), [log, self._output(id_)])
        # Snakemake knew of an earlier success before it began.
        is_new = end is not None and end.cause is None and status.exists()
        if not (live if end is None else is_new and status.stat().st_mtime > self.started_at):
            return None
        self._report(job, id_, log, None)
        return id_

    def _states(self, ids: Collection[str]) -> dict[str, str]:
        """Return the states of all jobs, when those of ``ids`` do not change at the moment.

        Waits for SLURM to answer: a job that runs must not run twice.
        """
        looks = 0
        while not self.is_stopping:
            states = queue()
            ending = sorted(id_ for id_ in ids if states and states.get(id_) == "COMPLETING")
            if states is not None and not ending:
                return states
            looks += 1
            if looks % POLLS_UNTIL_LINE == 0:
                what = f"SLURM job {ending[0]} has ended" if ending else "squeue answers"
                self.logger.warning(f"no job is submitted until {what}, as one of an earlier run may go on.")
            time.sleep(self.seconds)
        return {}

    def _submit(self, pack: Sequence[Unit]) -> None:
        asked, token = together([unit.asked for unit in pack]), uuid.uuid4().hex
        self._output("").parent.mkdir(parents=True, exist_ok=True)
        resources = dict(options(asked, self.site))
        account = resources.pop("slurm_account", None)
        params = {
            "run_uuid": self._name(pack),
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
        call = f"{command} {gpu_option(asked.gpus, self.site)} /dev/stdin"
        id_ = self._sbatch(call, self._script(pack), token)
        try:
            for unit in pack:
                self.submitted.add(unit.job, id_)
        except OSError:
            cancel([id_])
            raise
        asks = f"{pluralize(asked.threads, 'core')}, {asked.mem_mb:,} MB"
        asks += f", {asked.minutes} min" if asked.minutes else ""
        asks += f", {pluralize(asked.gpus, 'GPU')}" if asked.gpus else ""
        jobs = [unit.job for unit in pack]
        self._say(f"submitted: {_label(jobs)} as SLURM job {id_} to {asked.partition} ({asks})", id_, jobs)
        for unit in pack:
            # Each may use the memory of the one that asked for most.
            had = unit.asked.model_copy(update={"mem_mb": asked.mem_mb})
            self._report(unit.job, id_, unit.folder / f"{id_}.log", had)

    def _name(self, pack: Sequence[Unit]) -> str:
        """Return the name of a job of SLURM, which squeue shows."""
        settings = self.workflow.executor_settings
        if settings.efficiency_report:  # of the jobs with this name
            return str(self.run_uuid)
        rules = "+".join(dict.fromkeys(unit.job.name for unit in pack))
        return f"{settings.jobname_prefix}_{rules}" if settings.jobname_prefix else rules

    def _folder(self, job: Any) -> Path:
        """Return the folder of a job's logs, by the ids of its submissions."""
        return Path(self.slurm_logdir, job.name, _words(job))

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
        self.tries_from = time.monotonic()
        tries = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(TransientError),
            wait=tenacity.wait_exponential(multiplier=2, max=60),
            stop=self._has_tried_enough,
            before_sleep=self._say_that_it_waits,
            reraise=True,
        )
        is_open = False
        for attempt in tries:
            with attempt:
                try:
                    id_ = (_accepted(token) if is_open else None) or _submitted(command, script)
                except TransientError as error:
                    is_open = is_open or any(text in str(error) for text in OPEN)
                    raise
        return id_

    def _has_tried_enough(self, state: tenacity.RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        # A limit on the number of jobs ends when other jobs do: those of the user, or of a group.
        if any(text in str(error) for text in FULL) and not self.is_stopping:
            states = queue()
            if states is None or any(is_live(states, id_) for id_ in states):
                self.tries_from = time.monotonic()
                return False
        return self.is_stopping or time.monotonic() - self.tries_from > SECONDS_OF_TRIES

    def _say_that_it_waits(self, state: tenacity.RetryCallState) -> None:
        if state.attempt_number == LINE_AFTER_TRIES:
            error = state.outcome.exception() if state.outcome else None
            said = f"SLURM does not accept jobs now ({error}); they are submitted again."
            self.logger.warning(
                f"{error}; it is asked again." if isinstance(error, UnansweredError) else said
            )

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
        failures: defaultdict[str, list[Failure]] = defaultdict(list)
        for job in active_jobs:
            # What Ctrl-C cancels has not failed.
            if states is None or self.is_stopping or not self._has_ended(job, states, failures):
                yield job
        for id_, own in failures.items():
            self._submit_again(id_, own)

    def _say_what_waits(self) -> None:
        """Say of jobs that may wait for ever why they wait, once each."""
        for id_, reason in reasons().items():
            if id_ in self.ids and (id_, reason) not in self.said:
                self.said.add((id_, reason))
                self.logger.warning(f"SLURM job {id_} waits: {reason}")

    def _has_ended(
        self, info: SubmittedJobInfo, states: Mapping[str, str], failures: Mapping[str, list[Failure]]
    ) -> bool:
        """Return whether a job has ended, and report it then; add to ``failures`` one that runs again."""
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
            before = f" before {'this job of it' if watched.logs[1].exists() else 'it'} began"
            advice = self._advice(info.job, cause, watched.asked) if has_begun else before
            # Snakemake shows the stage's log, but not the job's, in which it may have failed itself.
            found = fault(watched.logs[0]) if cause is Cause.ERROR else None
            why = f" ({found})" if found else ""
            logs = [str(log) for log in watched.logs if log.exists()]
            if info.job.attempt <= info.job.restart_times and not self.workflow.scheduler._user_kill:
                advice += f"; log: {logs[0]}" if cause is Cause.ERROR and has_begun else ""
                failure = Failure(info.job, f"{cause.value}{why}", advice, has_begun)
                failures[str(info.external_jobid)].append(failure)
            else:
                text = f"SLURM job {info.external_jobid}: {cause.value}{why}{advice}. "
                self.report_job_error(info, msg=text, aux_logs=logs)
        return True

    def _submit_again(self, id_: str, failures: Sequence[Failure]) -> None:
        """Let Snakemake submit jobs again that one job of SLURM had to run; say it in one line."""
        # Of those that had not begun, the others say why.
        told = [each for each in failures if each.has_begun] or failures[:1]
        ran = (times() or {}).get(id_, "")
        after = f" after {ran}" if ran.strip("0:") else ""
        why = "; ".join(dict.fromkeys(f"{each.cause}{after}{each.advice}" for each in told))
        jobs = [each.job for each in failures]
        again = f"attempt {jobs[0].attempt + 1} of {jobs[0].restart_times + 1}"
        self._say(f"SLURM job {id_}: {why}; submitted again ({again}): {_label(jobs)}", id_)
        for job in jobs:
            self.workflow.scheduler.error_callback(job)

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
        if not had:
            given = "memory" if cause is Cause.MEMORY else "time"
            return (
                f"; it had the {given} that partition {asked.partition} gives; "
                f"set more: --set-resources {job.name}:{resource}=NUMBER"
            )
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
        # A site without arrays of jobs, which are not used here, would end the run.
        plugin.get_max_array_size = lambda: SIZE_OF_ARRAY
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


def _accepted(token: str) -> str | None:
    """Return the id of a job that SLURM accepted, but did not say so. Raises UnansweredError."""
    found = comments()
    if found is None:
        raise UnansweredError
    return next((id_ for id_, comment in found.items() if comment.endswith(token)), None)


def _submitted(command: str, script: str) -> str:
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
    text = refusal(done.stderr) or f"sbatch ended with {done.returncode}, and printed no id of a job"
    is_transient = any(part in text for part in (*TRANSIENT, *FULL))
    raise (TransientError if is_transient else RefusedError)(text)


def _not_submitted(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"the job cannot be submitted: {of_file(error)}"
    return f"the job cannot be submitted: {error!r}"


def _key(job: Any) -> str:
    return f"{job.name} {_words(job)}"


def _label(jobs: Sequence[Any]) -> str:
    """Return jobs as the user knows them: one by its wildcards, several by the number of each rule."""
    if len(jobs) == 1:
        return _key(jobs[0]).strip()
    counts = Counter(job.name for job in jobs)
    return ", ".join(name if count == 1 else f"{name} ({count} jobs)" for name, count in counts.items())


def _words(job: Any) -> str:
    """Return what tells a job from others of its rule, as a part of a path."""
    words = [job.groupid] if job.is_group() else job.wildcards
    return "+".join(str(word).replace("/", "_") for word in words)
