"""The stages of a run in progress: their jobs, and the time left."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from benchc.pluralize import pluralize
from benchc.workflow.job_facts import facts_file, stage_words, tries_of

NAMED = 2  # running jobs of a stage that are described
SECONDS_BETWEEN_LOOKS = 5.0  # at the records of jobs, which may be on a slow file system


@dataclass
class Job:
    """A started job: what it does, its command, and since when, in seconds.

    ``runs``: False of a job of SLURM that is not known to run, which it has been submitted to do.
    ``slurm``: the id of its job of SLURM, once there is one.
    """

    does: str
    start: float
    command: str = ""
    runs: bool = True
    slurm: str | None = None
    given: float = field(default_factory=time.time)  # to this machine or to SLURM, since 1970

    def look(self, now: float) -> None:
        """Learn from the job's own record whether it runs, and since when."""
        if facts := self.facts():
            self.start = now - max(0.0, time.time() - facts["start"])
            self.runs = "end" not in facts

    def facts(self) -> dict[str, Any]:
        """Return what the job has recorded of its present try; nothing before it begins."""
        words = stage_words(self.command)
        last = tries_of(facts_file(words))[-1:] if words else []
        if last and "start" in last[0]:
            # The clock of another machine may differ.
            is_own = last[0].get("slurm_job") == self.slurm if self.slurm else last[0]["start"] >= self.given
            return last[0] if is_own else {}
        return {}

    def seconds(self, now: float) -> float:
        """Return how long a job ran that has ended."""
        facts = self.facts()
        return float(facts["end"] - facts["start"]) if "end" in facts else now - self.start

    def text(self, now: float) -> str:
        """Return what the job does, and for how long if that is a second or more."""
        seconds = now - self.start
        return f"{self.does} ({duration(seconds)})" if seconds >= 1 else self.does


@dataclass
class Stage:
    """The jobs of one rule. ``seconds``: the running times of those done, added up.

    ``running``: those that run or are submitted, by id.
    """

    name: str
    total: int
    done: int = 0
    seconds: float = 0.0
    most_at_once: int = 0
    running: dict[int, Job] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    def text(self, now: float) -> str:
        """Return the stage in one line: how many jobs are done, the time left, and what runs."""
        # A copy, since the live lines are written by another thread.
        started = list(self.running.values())
        running = [job for job in started if job.runs]
        if self.finished:
            in_total = " in total" if self.total > 1 else ""
            return f"{self.name}: {pluralize(self.total, 'job')} took {duration(self.seconds)}{in_total}"
        if self.total == 1 and running:
            return f"{self.name}: {running[0].text(now)}"
        left = self.seconds_left(now, running)
        jobs = f"{self.name}: {self.done} of {pluralize(self.total, 'job')}"
        jobs += f", {duration(left)} left" if left >= 1 else ""
        more = f" and {len(running) - NAMED} more" if len(running) > NAMED else ""
        described = "; ".join(job.text(now) for job in running[:NAMED])
        jobs += f"; now: {described}{more}" if running else ""
        submitted = len(started) - len(running)
        return f"{jobs}; {submitted} submitted" if submitted else jobs

    def count_running(self) -> None:
        """Note how many jobs run at once."""
        self.most_at_once = max(self.most_at_once, sum(job.runs for job in self.running.values()))

    def seconds_left(self, now: float, running: Sequence[Job]) -> float:
        """Return the time left if jobs take the mean running time and as many run at once; 0 if unknown."""
        if not self.done:
            return 0.0
        mean, jobs = self.seconds / self.done, self.total - self.done
        elapsed = sum(min(now - job.start, mean) for job in running)
        return (mean * jobs - elapsed) / max(1, min(self.most_at_once, jobs))


@dataclass
class Stages:
    """The stages of a run. ``totals``: the number of jobs of each rule; ``total``: of all."""

    totals: Mapping[str, int]
    total: int
    by_name: dict[str, Stage] = field(default_factory=dict)
    done: int = 0
    looked: float = 0.0  # at the records of jobs, in seconds
    failed: dict[int, str] = field(default_factory=dict)  # what failed, by id of the job

    @property
    def running(self) -> list[Stage]:
        return [stage for stage in list(self.by_name.values()) if stage.running]

    def start(self, name: str, id_: int, job: Job) -> Stage:
        """Return the stage of a job that starts, perhaps again after it failed."""
        stage = self.by_name.setdefault(name, Stage(name, self.totals.get(name, 1)))
        stage.running[id_] = job
        stage.count_running()
        self.failed.pop(id_, None)
        return stage

    def submit(self, jobs: Sequence[int], slurm: str) -> None:
        """Note by which job of SLURM jobs will run."""
        for stage in self.running:
            for id_ in stage.running.keys() & {*jobs}:
                stage.running[id_].slurm = slurm

    def look(self, now: float) -> None:
        """Learn from the records of jobs which of them run, and since when."""
        if now - self.looked < SECONDS_BETWEEN_LOOKS:
            return
        self.looked = now
        for stage in self.running:
            for job in list(stage.running.values()):
                job.look(now)
            stage.count_running()

    def end(self, job: int, now: float, failed: str = "") -> Stage | None:
        """Return the stage of a job that ends; None if it did not start. ``failed``: what did, if it did."""
        if failed:
            self.failed[job] = failed
        for stage in self.running:
            if ended := stage.running.pop(job, None):
                if not failed:
                    self.done += 1
                    stage.done += 1
                    stage.seconds += ended.seconds(now)
                return stage
        return None

    def forget(self, job: int) -> None:
        """Leave out a job that was cancelled."""
        for stage in self.running:
            stage.running.pop(job, None)

    @property
    def started(self) -> int:
        """The number of jobs that run or are submitted."""
        return sum(len(stage.running) for stage in self.running)

    def statistics(self) -> str:
        """Return the number of jobs of each rule."""
        return f"{pluralize(self.total, 'job')}: " + ", ".join(
            name if number == 1 else f"{number} {name}" for name, number in self.totals.items()
        )

    def text(self, seconds: float) -> str:
        """Return how many jobs are done after that many seconds."""
        return f"{self.done} of {pluralize(self.total, 'job')} done in {duration(seconds)}"


def duration(seconds: float) -> str:
    """Return minutes and seconds, with hours if there are any: 02:31, 1:02:31."""
    return tqdm.format_interval(seconds)
