"""What a job asks for after it had too little, and what is said of it."""

from types import SimpleNamespace

import pytest

from benchc.cluster.executor import Executor
from benchc.cluster.site import Partition, Request, Site
from benchc.cluster.states import Cause


@pytest.fixture
def executor() -> Executor:
    found: Executor = Executor.__new__(Executor)
    found.site = Site(partitions={"cpu": Partition(max_runtime="8h", max_mem_mb=16_000)})  # type: ignore[arg-type]
    found.grown = {}
    return found


def job(attempt: int) -> SimpleNamespace:
    """A job that asks for five hours and 5 GB, and is submitted again twice."""
    given = {"mem_mb": 5000, "runtime": 300}
    return SimpleNamespace(
        name="infer",
        wildcards=["pool", "model"],
        threads=1,
        resources=given,
        attempt=attempt,
        restart_times=2,
        is_group=lambda: False,
    )


def test_a_job_never_asks_for_more_time_than_its_partition_allows(executor: Executor) -> None:
    asked, said = [], []
    for attempt in (1, 2, 3):
        request: Request = executor._request(job(attempt))
        asked.append(request.minutes)
        said.append(executor._advice(job(attempt), Cause.TIME, request))
    assert asked == [300, 480, 480]
    most = "; 480 minutes is the most that partition cpu allows (max_runtime in slurm/site.yaml)"
    assert said == ["; it had 300 minutes, a retry asks for 480", most, most]


@pytest.mark.parametrize(("cause", "resource"), [(Cause.TIME, "runtime"), (Cause.MEMORY, "mem_mb")])
def test_a_job_that_stated_nothing_had_no_limit_of_the_file(
    executor: Executor, cause: Cause, resource: str
) -> None:
    asked = Request(threads=1, mem_mb=0, minutes=None, gpus=0, partition="cpu")
    stated_nothing = job(1)
    stated_nothing.resources.clear()
    given = {"runtime": "time", "mem_mb": "memory"}[resource]
    assert executor._advice(stated_nothing, cause, asked) == (
        f"; it had the {given} that partition cpu gives; set more: --set-resources infer:{resource}=NUMBER"
    )


def test_after_the_last_retry_it_is_said_how_to_give_a_job_more(executor: Executor) -> None:
    asked = Request(threads=1, mem_mb=5000, minutes=300, gpus=0, partition="cpu", retried=True)
    said = executor._advice(job(3), Cause.MEMORY, asked)
    assert said == "; it had 5000 MB; give it more: --set-resources infer:mem_mb=10000"


def test_a_job_that_had_the_memory_of_another_one_gets_more_than_that(executor: Executor) -> None:
    had = Request(threads=1, mem_mb=12_000, minutes=300, gpus=0, partition="cpu")
    said = executor._advice(job(1), Cause.MEMORY, had)
    assert said == "; it had 12000 MB, a retry asks for 16000"


def test_a_cause_that_is_no_lack_changes_no_request(executor: Executor) -> None:
    for cause in (Cause.NODE, Cause.PREEMPTED, Cause.CANCELLED, Cause.ERROR):
        assert executor._advice(job(1), cause, executor._request(job(1))) == ""
    assert executor._request(job(2)).minutes == 300
