"""The stages of a run in progress: their jobs, and the time left."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tqdm import tqdm

from benchc.pluralize import pluralize

NAMED = 2  # running jobs of a stage that are described


@dataclass(frozen=True)
class Job:
    """A running job: what it does, and when it started, in seconds."""

    does: str
    start: float

    def text(self, now: float) -> str:
        """Return what the job does, and for how long if that is a second or more."""
        seconds = now - self.start
        return f"{self.does} ({duration(seconds)})" if seconds >= 1 else self.does


@dataclass
class Stage:
    """The jobs of one rule; ``running`` by id. ``seconds``: the running times of those done, added up."""

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
        running = list(self.running.values())
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
        return f"{jobs}; now: {described}{more}" if running else jobs

    def seconds_left(self, now: float, running: Sequence[Job]) -> float:
        """Return the time left if jobs take the mean running time and as many run at once; 0 if unknown."""
        if not self.done:
            return 0.0
        mean, jobs = self.seconds / self.done, self.total - self.done
        elapsed = sum(min(now - job.start, mean) for job in running)
        return (mean * jobs - elapsed) / min(self.most_at_once, jobs)


@dataclass
class Stages:
    """The stages of a run. ``totals``: the number of jobs of each rule; ``total``: of all."""

    totals: Mapping[str, int]
    total: int
    by_name: dict[str, Stage] = field(default_factory=dict)
    done: int = 0
    failed: dict[int, str] = field(default_factory=dict)  # what failed, by id of the job

    @property
    def running(self) -> list[Stage]:
        return [stage for stage in list(self.by_name.values()) if stage.running]

    def start(self, name: str, job: int, does: str, now: float) -> Stage:
        """Return the stage of a job that starts, perhaps again after it failed; ``does`` describes it."""
        stage = self.by_name.setdefault(name, Stage(name, self.totals.get(name, 1)))
        stage.running[job] = Job(does, now)
        stage.most_at_once = max(stage.most_at_once, len(stage.running))
        self.failed.pop(job, None)
        return stage

    def end(self, job: int, now: float, failed: str = "") -> Stage | None:
        """Return the stage of a job that ends; None if it did not start. ``failed``: what did, if it did."""
        if failed:
            self.failed[job] = failed
        else:
            self.done += 1
        for stage in self.running:
            if ended := stage.running.pop(job, None):
                if not failed:
                    stage.done += 1
                    stage.seconds += now - ended.start
                return stage
        return None

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
