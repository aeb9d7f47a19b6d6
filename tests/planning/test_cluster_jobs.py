"""What the jobs of a run ask a cluster for, and how many jobs of SLURM they are."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchc.cluster.limits import Limit
from benchc.cluster.site import EXAMPLE, Partition, Request, Site
from benchc.errors import InputError
from benchc.home import HOME
from benchc.planning.amounts import Amount
from benchc.planning.cluster_jobs import (
    Profile,
    asked_of,
    cluster_markdown,
    depths_of,
    read_profile,
    slurm_jobs,
)
from benchc.planning.dry_run import PlannedJob

SITE = Site(
    partitions={
        "cpu": Partition(max_runtime=600, max_mem_mb=8000),
        "long": Partition(max_runtime=1200),
        "gpu": Partition(max_gpu=2, max_runtime=300),
    }
)
PROFILE = Profile(mem_mb=2000, minutes=60, jobs=50)
MOST_IN_MINIATURE = 12


def job(
    name: str, *inputs: str, minutes: int | None = 5, estimate: int | None = 1, **asked: int
) -> PlannedJob:
    request = Request(**{"threads": 1, "mem_mb": 1000, "minutes": minutes, "gpus": 0, **asked})
    return PlannedJob("rule", (), (name,), (), inputs, request, estimate)


def local(name: str, *inputs: str) -> PlannedJob:
    return PlannedJob("local", (), (name,), (), inputs)


def rows_of(text: str) -> dict[str, list[str]]:
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def text_of(*jobs: PlannedJob, limits: tuple[Limit, ...] = ()) -> str:
    return cluster_markdown(jobs, SITE, PROFILE, Amount(9), limits)


def test_a_depth_is_the_longest_way_through_all_jobs() -> None:
    jobs = [job("d", "c", "a"), local("b", "a"), job("c", "b", "a"), job("a", "a file"), job("e")]
    assert depths_of(jobs) == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 1}


def test_each_output_of_a_job_has_its_depth() -> None:
    several = PlannedJob("rule", (), ("b", "c"), (), ("a",))
    assert depths_of([local("d", "c"), several, local("a")]) == {"a": 1, "b": 2, "c": 2, "d": 3}


def test_short_jobs_share_one_of_slurm_where_they_are_ready_together() -> None:
    jobs = [local("f"), job("a"), job("b"), job("c", "b"), job("d", "a", minutes=240), job("e", "a", gpus=1)]
    # a and b; c; d; e.
    assert len(slurm_jobs(asked_of(jobs, SITE, PROFILE), jobs, SITE)) == 4


def test_jobs_without_memory_or_time_have_those_of_the_profile() -> None:
    (asked,) = asked_of([job("a", mem_mb=0, minutes=None)], SITE, PROFILE)
    assert (asked.request.mem_mb, asked.request.minutes) == (2000, 60)


def test_a_row_has_the_ranges_of_a_rule_and_its_partitions() -> None:
    text = text_of(
        job("a", minutes=30, mem_mb=1004, estimate=8),
        *(
            job(f"d{number}", minutes=60, mem_mb=1004 + 7 * number, estimate=8 + number)
            for number in range(9)
        ),
        job("b", minutes=300, mem_mb=4567, estimate=98),
        local("c"),
    )
    assert rows_of(text)["rule"] == [
        "11",
        "–",
        "1",
        "1 GB to 4.57 GB",
        "8 min to 1.6 h",
        "30 min to 5 h",
        "cpu, long",
    ]
    assert "about 11 jobs of SLURM for 11 of snakemake" in text and "and 1 job on the node" in text


def test_a_request_that_no_partition_gives_is_named() -> None:
    assert "cpu, with less time" not in text_of(job("a", minutes=700))
    assert rows_of(text_of(job("a", minutes=700)))["rule"][-1] == "long"
    assert rows_of(text_of(job("a", minutes=9000)))["rule"][-1] == "long, with less time"
    assert rows_of(text_of(job("a", gpus=1, minutes=301)))["rule"][-1] == "gpu, with less time"
    assert rows_of(text_of(job("a", gpus=3)))["rule"][-1] == "none has 3 GPUs"
    assert rows_of(text_of(job("a", mem_mb=9000, minutes=1300)))["rule"][-1] == "long, with less time"
    small = Site(partitions={"cpu": Partition(max_mem_mb=500, max_threads=2)})
    text = cluster_markdown([job("a", threads=3)], small, PROFILE, Amount(9), ())
    assert rows_of(text)["rule"][1:4] + rows_of(text)["rule"][-1:] == [
        *("–", "2", "0.5 GB", "cpu, with less cores and memory")
    ]


@pytest.mark.parametrize(("gpus", "partitions"), [(1, "one, two, four"), (2, "two, four"), (4, "four")])
def test_partitions_with_as_many_gpus_are_named(gpus: int, partitions: str) -> None:
    most = {"cpu": 0, "one": 1, "two": 2, "four": 4}
    site = Site(partitions={name: Partition(max_gpu=number) for name, number in most.items()})
    text = cluster_markdown([job("a", gpus=gpus)], site, PROFILE, Amount(9), ())
    assert rows_of(text)["rule"][-1] == partitions


def test_jobs_that_no_partition_takes_are_not_counted_as_submitted() -> None:
    text = text_of(job("a", gpus=3), job("b"), job("c"), *map(local, "defg"))
    assert "about 1 job of SLURM for 2 of snakemake" in text and "and 4 jobs on the node" in text
    assert "\n- 1 job cannot be submitted, as no partition has the GPUs: correct max_gpu in slurm/" in text
    assert "cannot be submitted" not in text_of(job("a", gpus=2))


def test_a_job_on_the_cpu_is_in_a_partition_with_gpus_where_there_is_no_other() -> None:
    site = Site(partitions={"gpu": Partition(max_gpu=1)})
    text = cluster_markdown([job("a")], site, PROFILE, Amount(9), ())
    assert rows_of(text)["rule"][-1] == "gpu"


def test_rules_are_in_the_order_of_their_jobs() -> None:
    first, second = (
        PlannedJob(rule, (), (output,), (), inputs, job("a").asked)
        for rule, output, inputs in (("first", "a", ()), ("second", "b", ("a",)))
    )
    assert [*rows_of(text_of(second, first))][-2:] == ["first", "second"]


def test_what_is_known_is_said() -> None:
    assert text_of(local("a")) == "No job is left for the cluster.\n"
    assert "each rule for 9 items with images of a megapixel, in minutes rounded up; not measured" in text_of(
        job("a")
    )
    unknown = cluster_markdown([job("a")], SITE, PROFILE, Amount(None), ())
    assert "without that of items in tables" in unknown and "estimated by" not in unknown
    example = cluster_markdown([job("a", gpus=1)], EXAMPLE, PROFILE, Amount(9), ())
    assert "those of the example" in example and "those of the example" not in text_of(job("a"))
    assert "for 9 items with images of a megapixel, on an H100 where a job has a GPU, in" in example


def test_gpu_hours_are_those_that_the_partition_gives() -> None:
    unestimated = text_of(job("a", gpus=1, minutes=600, estimate=None))
    assert "≤ 5 GPU hours are asked for" in unestimated and "about 0 are needed on an H100" in unestimated
    # Not those of a job that no partition takes.
    text = text_of(job("a", gpus=1, minutes=6, estimate=3), job("b", gpus=99, minutes=600, estimate=600))
    assert "≤ 0.1 GPU hours are asked for" in text and "about 0.05 are needed on an H100" in text
    # Without a limit of time, none are asked for.
    unlimited = job("a", gpus=2, minutes=None)
    assert "GPU hours" not in cluster_markdown([unlimited], SITE, Profile(1000, 0, 5), Amount(9), ())


@pytest.mark.parametrize(
    "profile",
    [
        "jobs: 50",
        "{jobs: many, default-resources: {mem_mb: 1, runtime: 2}}",
        "{jobs: .inf, default-resources: {mem_mb: 1, runtime: 2}}",
        "{jobs: 50, default-resources: [mem_mb=1]}",
        "{jobs: 50, default-resources: {mem_mb: 1}}",
        "[",
        "",
    ],
)
def test_a_profile_without_numbers_is_named(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = read_profile()
    with monkeypatch.context() as other, pytest.raises(InputError, match="has no numbers for jobs"):
        other.setattr("benchc.planning.cluster_jobs.HOME", tmp_path)
        read_profile()
    Path("slurm").mkdir()
    Path("slurm/profile.yaml").write_text("{jobs: 3, default-resources: {mem_mb: 1, runtime: 2}}")
    assert read_profile() == Profile(mem_mb=1, minutes=2, jobs=3) != shipped
    Path("slurm/profile.yaml").write_text(profile)
    with pytest.raises(InputError, match=r"slurm/profile\.yaml: has no numbers for jobs"):
        read_profile()


def test_gpu_hours_count_all_gpus_of_a_job() -> None:
    text = text_of(job("a", gpus=2, minutes=240, estimate=60), job("b", gpus=1, minutes=60, estimate=30))
    assert "≤ 9 GPU hours are asked for" in text and "about 2.5 are needed on an H100" in text
    assert "GPU" not in text_of(job("a")).partition("\n- ")[2]


def test_limits_of_the_user_are_named_only_where_jobs_reach_them() -> None:
    jobs = [job(str(number), gpus=1, minutes=240) for number in range(4)]
    reached = Limit("qos a", running=3, submitted=2, minutes=200, gpus_of_job=0, gpus=2)
    text = text_of(*jobs, limits=(reached, Limit("qos b", 4, 4, 240, 1, 4)))
    assert "qos b" not in text
    assert [line[8:30] for line in text.splitlines() if "qos a" in line] == [
        "allows a job 200 minut",
        "allows a job 0 GPUs, a",
        "lets 2 jobs wait or ru",
        "lets 3 jobs run at onc",
        "lets you have 2 GPUs a",
    ]
    assert "8 hours, if all jobs" in text
    assert "which 4 jobs exceed:" in text and "1 job exceeds:" in text_of(jobs[0], limits=(reached,))


def test_no_more_jobs_wait_at_once_than_the_profile_submits() -> None:
    jobs = [job(str(number), minutes=30) for number in range(60)]
    few, enough = (Limit("qos a", submitted=number) for number in (49, 50))
    assert "lets 49 jobs wait" in text_of(*jobs, limits=(few,))
    assert "qos a" not in text_of(*jobs, limits=(enough,))


# The estimates of a run's jobs on GPUs, in minutes, and its jobs of SLURM.
COUNT = """
import json, sys
from pathlib import Path
from benchc.planning.cluster_jobs import asked_of, read_profile, slurm_jobs
from benchc.planning.dry_run import dry_run
from benchc.cluster.site import SITE, read_site
from benchc.workflow.minutes import rows_before_made
with rows_before_made(int(sys.argv[2])):
    jobs = dry_run(Path(sys.argv[1])).jobs
site = read_site(SITE)
asked = asked_of(jobs, site, read_profile())
minutes = [each.job.minutes for each in asked if each.request.gpus]
unstated = [each.job.rule for each in asked if not each.job.asked.minutes]
print(json.dumps([minutes, len(slurm_jobs(asked, jobs, site)), unstated]))
"""


@pytest.fixture
def counted(tmp_path: Path) -> Callable[[str, int], tuple[list[int], int, list[str]]]:
    """Count the jobs of a shipped configuration in an empty folder with the shipped site."""
    (tmp_path / "slurm").mkdir()
    for name in ("site.yaml", "profile.yaml"):
        shutil.copy(HOME / "slurm" / name, tmp_path / "slurm")
    # The user writes it first, from the publisher's files.
    (tmp_path / "results/r-bench").mkdir(parents=True)
    (tmp_path / "results/r-bench/released.tsv").touch()

    def count(config: str, items: int) -> tuple[list[int], int, list[str]]:
        command = [sys.executable, "-c", COUNT, f"config/{config}.yaml", str(items)]
        environment = {**os.environ, "PYTHONPATH": str(HOME)}
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stderr
        minutes, number, unstated = json.loads(done.stdout.splitlines()[-1])
        return minutes, number, unstated

    return count


@pytest.mark.parametrize(
    "config", ["demo", "demo-vqa-robustness", "demo-naturalbench", "demo-r-bench", "demo-mllm-ic"]
)
def test_a_run_in_miniature_has_few_jobs_of_slurm(config: str, counted: Any) -> None:
    _, number, unstated = counted(config, 100)
    assert 1 < number <= MOST_IN_MINIATURE
    assert not unstated


@pytest.mark.parametrize(
    ("config", "items"),
    [
        ("config", 4000),
        ("vqa-robustness", 15_877),
        ("naturalbench", 7600),
        ("r-bench", 1485),
        ("mllm-ic", 21_352),
    ],
)
def test_jobs_on_gpus_of_a_papers_run_take_minutes_to_hours(config: str, items: int, counted: Any) -> None:
    minutes, _, unstated = counted(config, items)
    assert not unstated
    # Answers of the largest models take longer, and the smallest models less.
    assert max(minutes) <= 12 * 60
    assert sum(10 <= each <= 4 * 60 for each in minutes) >= len(minutes) / 2
