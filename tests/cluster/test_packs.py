"""Which jobs are one job of SLURM, and what that asks for."""

from operator import attrgetter
from pathlib import Path

from benchc.cluster.executor import (
    MINUTES_OF_PACK,
    MINUTES_OF_SHORT,
    SECONDS_UNTIL_LOST,
    Unit,
    Watched,
    packed,
    together,
)
from benchc.cluster.site import Partition, Request


def unit(name: str, **asked: object) -> Unit:
    request = {"threads": 1, "mem_mb": 1000, "minutes": 5, "gpus": 0, "partition": "cpu", **asked}
    return Unit(name, Request(**request), Path(name))  # type: ignore[arg-type]


LIMITS = {"cpu": Partition(), "gpu": Partition(max_gpu=1), "brief": Partition(max_runtime=12)}


def names(*units: Unit) -> list[list[str]]:
    return sorted([each.job for each in pack] for pack in packed(units, LIMITS, attrgetter("asked")))


def test_short_jobs_of_one_partition_are_one_job() -> None:
    assert names(
        unit("a"), unit("b"), unit("g", partition="gpu", gpus=1), unit("h", partition="gpu", gpus=1)
    ) == [
        ["a", "b"],
        ["g", "h"],
    ]


def test_long_jobs_retried_ones_and_those_with_other_gpus_are_alone() -> None:
    long = unit("long", minutes=MINUTES_OF_SHORT + 1)
    found = names(
        unit("a"),
        long,
        unit("none", minutes=None),
        unit("again", retried=True),
        unit("g", gpus=1),
        unit("h", gpus=2),
    )
    assert found == [["a"], ["again"], ["g"], ["h"], ["long"], ["none"]]


def test_a_pack_has_a_limit_and_no_job_is_lost() -> None:
    units = [unit(str(number), minutes=MINUTES_OF_SHORT) for number in range(60)]
    packs = list(packed(units, LIMITS, attrgetter("asked")))
    assert sorted(each.job for pack in packs for each in pack) == sorted(each.job for each in units)
    assert max(len(pack) for pack in packs) == MINUTES_OF_PACK // MINUTES_OF_SHORT


def test_a_pack_is_within_the_time_of_its_partition() -> None:
    units = [unit(name, partition="brief") for name in "abc"]
    assert names(*units) == [["a", "b"], ["c"]]


def test_jobs_one_after_another_need_the_most_memory_and_all_the_time() -> None:
    asked = together([unit("a", mem_mb=3000, minutes=6).asked, unit("b", threads=2, minutes=9).asked])
    assert (asked.threads, asked.mem_mb, asked.minutes, asked.partition) == (2, 3000, 15, "cpu")


def test_a_job_that_slurm_does_not_know_is_lost_after_a_while(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    now = [0.0]
    monkeypatch.setattr("benchc.cluster.executor.time.monotonic", lambda: now[0])
    watched = Watched([], None)

    def lost(seconds: float, known: bool = False) -> bool:
        now[0] = seconds
        return watched.is_lost(known=known)

    late = SECONDS_UNTIL_LOST
    assert not any([lost(0), lost(30), lost(late - 1), lost(late + 1, known=True), lost(late + 2)])
    assert not any([lost(late + 30), lost(late + 60), lost(2 * late + 1)])
    assert lost(2 * late + 3)
