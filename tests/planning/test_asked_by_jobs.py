"""What a job of Snakemake asks for, and the estimate of its time."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from benchc.cluster.site import Request
from benchc.planning.dry_run import _asked, _minutes
from benchc.workflow.minutes import minutes


class Job:
    """A job that evaluates its resources when they are first asked for, as Snakemake's do."""

    def __init__(self, *, local: bool = False, **resources: Callable[[], Any]) -> None:
        self.rule = SimpleNamespace(name="infer")
        names = {"infer"} if local else {"other"}
        self.dag = SimpleNamespace(workflow=SimpleNamespace(_localrules=names))
        self.threads = 3
        self._given = resources
        self._resources: dict[str, Any] | None = None

    @property
    def resources(self) -> dict[str, Any]:
        if self._resources is None:
            self._resources = {name: value() for name, value in self._given.items()}
        return self._resources


def test_a_job_asks_for_what_its_rule_states() -> None:
    job = Job(mem_mb=lambda: 4000, runtime=lambda: 35, gpu=lambda: 2)
    assert _asked(job) == Request(threads=3, mem_mb=4000, minutes=35, gpus=2)
    assert _asked(Job()) == Request(threads=3, mem_mb=0, minutes=None, gpus=0)
    assert _asked(Job(local=True)) is None


def test_an_estimate_is_by_the_function_of_the_rule() -> None:
    job = Job(runtime=lambda: minutes(600))
    assert job.resources == {"runtime": 35}
    assert _minutes(job) == 10
    assert job.resources == {"runtime": 35}


def test_a_number_is_no_estimate() -> None:
    assert _minutes(Job(runtime=lambda: 35)) is None
    assert _minutes(Job()) is None


def test_what_a_job_asks_for_stays_where_its_estimate_fails() -> None:
    values = iter([35])
    job = Job(runtime=lambda: next(values))
    assert job.resources == {"runtime": 35}
    with pytest.raises(StopIteration):
        _minutes(job)
    assert job.resources == {"runtime": 35}
