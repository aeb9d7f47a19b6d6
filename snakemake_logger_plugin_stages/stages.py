"""The stages of a run in progress: their jobs, and the time left."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tqdm import tqdm

from benchc.pluralize import pluralize

NAMED = 2  # running jobs of a stage that are described


@dataclass
class Stage:
    """The jobs of one rule; the first began at ``start``, in seconds. ``running``: what each does, by id."""

    name: str
    total: int
    start: float
    done: int = 0
    running: dict[int, str] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return self.done >= self.total

    def text(self, now: float) -> str:
        """Return the stage in one line: how many jobs are done, the time left, and what runs."""
        seconds = now - self.start
        # A copy, since the live lines are written by another thread.
        running = list(self.running.values())
        if self.finished:
            return f"{self.name}: {pluralize(self.total, 'job')} in {duration(seconds)}"
        if self.total == 1 and running:
            return f"{self.name}: {running[0]}"
        left = f", {duration(seconds * (self.total - self.done) / self.done)} left" if self.done else ""
        more = f" and {len(running) - NAMED} more" if len(running) > NAMED else ""
        jobs = f"{self.name}: {self.done} of {pluralize(self.total, 'job')}{left}"
        return f"{jobs}; now: {'; '.join(running[:NAMED])}{more}" if running else jobs


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
        stage = self.by_name.setdefault(name, Stage(name, self.totals.get(name, 1), now))
        stage.running[job] = does
        self.failed.pop(job, None)
        return stage

    def end(self, job: int, failed: str = "") -> Stage | None:
        """Return the stage of a job that ends; None if it did not start. ``failed``: what did, if it did."""
        if failed:
            self.failed[job] = failed
        else:
            self.done += 1
        for stage in self.running:
            if stage.running.pop(job, None) is not None:
                stage.done += not failed
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
