"""A cluster's file, and in which partition a job is placed."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from benchc.cluster.site import (
    EXAMPLE,
    SITE,
    Partition,
    Request,
    Site,
    gpu_option,
    minutes_of,
    options,
    placed,
    read_site,
    site_file,
)
from benchc.errors import InputError

ROOT = Path(__file__).resolve().parents[2]


def site(**partitions: dict[str, object]) -> Site:
    return Site(partitions={name: Partition(**limits) for name, limits in partitions.items()})  # type: ignore[arg-type]


def asked(**changes: int) -> Request:
    return Request(**{"threads": 1, "mem_mb": 2000, "minutes": 60, "gpus": 0, **changes})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90m", 90),
        ("24h", 1440),
        ("7d", 10080),
        # sbatch(1): minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on.
        ("60", 60),
        ("60:30", 61),
        ("1:30:00", 90),
        ("1:30:01", 91),
        ("2-12", 3600),
        ("2-12:30", 3630),
        ("2-12:30:45", 3631),
        ("1-00:00:00", 1440),
    ],
)
def test_times_are_those_of_slurm_and_snakemake(text: str, expected: int) -> None:
    assert minutes_of(text) == expected
    read = site(cpu={"max_runtime": text})
    assert read.limits["cpu"].max_runtime == expected


@pytest.mark.parametrize("text", ["soon", "1h30", "-5m", "", "1:2:3:4", "UNLIMITED", "²h"])
def test_another_time_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(yaml.safe_dump({"partitions": {"cpu": {"max_runtime": text}}}))
    with pytest.raises(InputError, match=r"partitions\.cpu\.max_runtime is"):
        read_site(path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "partitions is missing; docs/cluster.md describes it"),
        ("partitions: {'': }", 'id is "", but should be a text that is not blank'),
        (
            "partitions: {a: }\ngpus: {type: a100 80gb}",
            'gpus.type is "a100 80gb", but should be the name of a type of GPU (sinfo --format %G)',
        ),
        ("partitions: {a: }\nenvironment: {A=B: x}", 'id is "A=B", but should be the name of a variable'),
        ('partitions: {a: }\nenvironment: {A: "x\\0"}', "environment.A has a null character; remove it"),
        (
            "partitions: {a: }\nenvironment: {TMPDIR: $NOWHERE/tmp}",
            'environment.TMPDIR is "$NOWHERE/tmp", but $NOWHERE is not set here; write its value, or set the '
            "variable in setup",
        ),
    ],
)
def test_what_a_file_cannot_say_is_one_line(
    text: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOWHERE", raising=False)
    path = tmp_path / "site.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_site(path)
    assert str(caught.value) == f"{path}: {line}."


def test_variables_have_the_values_of_the_node_of_snakemake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRATCH", "/scratch/me")
    monkeypatch.setenv("HOME", "/home/me")
    given = {"TMPDIR": "${SCRATCH}/tmp", "HF_HOME": "$SCRATCH/hub", "CACHE": "~/cache", "COST": "5 $"}
    described = Site.model_validate({"partitions": {"cpu": None}, "environment": given})
    expected = {"TMPDIR": "/scratch/me/tmp", "HF_HOME": "/scratch/me/hub", "CACHE": "/home/me/cache"}
    assert described.environment == {**expected, "COST": "5 $"}


@pytest.mark.parametrize("text", ["12:00:00", "24:00", "12:00:00 # half a day"])
def test_a_time_that_yaml_reads_as_another_number_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(f"partitions:\n  cpu:\n    max_runtime: {text}\n    max_gpu: 0\n")
    with pytest.raises(
        InputError, match=r"line 3: .* is .* in YAML 1\.1, but not in YAML 1\.2; put it in quotes;"
    ):
        read_site(path)
    with pytest.raises(InputError, match=r"; correct it, or write it anew: benchc site --replace$"):
        read_site(path)
    with pytest.raises(InputError, match=r"; benchc site writes it, on a node that submits jobs$"):
        read_site(tmp_path / "none.yaml")
    path.write_text("partitions:\n  cpu:\n    max_runtime: '12:00:00'\n")
    assert read_site(path).limits["cpu"].max_runtime == 720


def test_the_file_of_the_repository_is_the_example_and_names_every_key(tmp_path: Path) -> None:
    assert read_site(ROOT / SITE) == EXAMPLE
    text = (ROOT / SITE).read_text()
    keys = [*Site.model_fields, *(f"max_{name}" for name in ("runtime", "mem_mb", "threads", "gpu"))]
    assert [key for key in keys if f"{key}:" not in text] == []
    # What is commented out is valid, too.
    whole = tmp_path / "site.yaml"
    whole.write_text(re.sub(r"(?m)^# (?=\w+:(?: |$)|  )|(?<=^    )# (?=max)", "", text))
    read = read_site(whole)
    assert read.model_fields_set == Site.model_fields.keys()
    assert read.limits["cpu"].max_runtime == 1440 and read.gpus.request == "gres"
    # Those of keys that are not given.
    assert (read.local_jobs, read.seconds_between_polls) == (
        EXAMPLE.local_jobs,
        EXAMPLE.seconds_between_polls,
    )


def test_the_page_has_a_row_for_every_key() -> None:
    rows = re.findall(r"(?m)^\| (`\w+`(?:, `\w+`)*) \|", (ROOT / "docs/cluster.md").read_text())
    assert {*re.findall(r"\w+", " ".join(rows))} == Site.model_fields.keys()


def test_a_job_goes_where_it_fits() -> None:
    cluster = site(
        cpu={"max_runtime": "8h", "max_mem_mb": 16_000, "max_threads": 8},
        long={"max_runtime": "48h", "max_mem_mb": 8_000},
        big={"max_runtime": "4h", "max_mem_mb": 500_000, "max_threads": 64},
        gpu={"max_gpu": 2, "max_runtime": "24h"},
        node={"max_gpu": 8},
    )
    expected = {
        "cpu": asked(),
        "long": asked(minutes=960),
        "big": asked(mem_mb=17_000),
        "gpu": asked(gpus=2),
        "node": asked(gpus=4),
    }
    assert {name: placed(each, cluster).partition for name, each in expected.items()} == {
        name: name for name in expected
    }
    # More than one partition allows: the longest time first, then the most memory.
    cut = placed(asked(minutes=960, mem_mb=20_000, threads=16), cluster)
    assert (cut.partition, cut.minutes, cut.mem_mb, cut.threads) == ("long", 960, 8_000, 16)
    with pytest.raises(InputError, match=r"no partition of slurm/site\.yaml has 9 GPUs for a job"):
        placed(asked(gpus=9), cluster)


def test_without_limits_a_job_gets_what_it_asks_for() -> None:
    found = placed(asked(minutes=10**6, mem_mb=10**6, threads=500), site(main={}))
    assert (found.minutes, found.mem_mb, found.threads, found.partition) == (10**6, 10**6, 500, "main")


def test_a_job_without_gpus_uses_a_partition_with_gpus_if_there_is_no_other() -> None:
    assert placed(asked(), site(gpu={"max_gpu": 4})).partition == "gpu"


LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "max_runtime": st.integers(1, 5000),
        "max_mem_mb": st.integers(1, 10**6),
        "max_threads": st.integers(1, 128),
        "max_gpu": st.integers(0, 8),
    },
)


@given(
    st.dictionaries(st.sampled_from("abcd"), LIMITS, min_size=1),
    st.builds(
        Request,
        threads=st.integers(1, 200),
        mem_mb=st.integers(0, 2 * 10**6),
        minutes=st.none() | st.integers(1, 10**4),
        gpus=st.integers(0, 10),
    ),
)
def test_a_request_never_exceeds_its_partition(
    partitions: dict[str, dict[str, object]], job: Request
) -> None:
    cluster = site(**partitions)
    if max(limits.max_gpu for limits in cluster.limits.values()) < job.gpus:
        with pytest.raises(InputError):
            placed(job, cluster)
        return
    found = placed(job, cluster)
    limits = cluster.limits[found.partition]
    assert found.gpus == job.gpus <= limits.max_gpu
    assert found.threads <= min(job.threads, limits.max_threads or 10**9)
    assert found.mem_mb <= min(job.mem_mb, limits.max_mem_mb or 10**9)
    assert (found.minutes or 0) <= min(job.minutes or 0, limits.max_runtime or 10**9)
    # It is cut only where no partition with its GPUs holds all of it.
    whole = [one for one in cluster.limits.values() if one.max_gpu >= job.gpus and job.at_most(one) == job]
    same_kind = [one for one in whole if bool(one.max_gpu) == bool(job.gpus)]
    if same_kind:
        assert job.at_most(limits) == job


@pytest.mark.parametrize(
    ("gpus", "option"),
    [
        ({}, "--gpus=2"),
        ({"type": "a100"}, "--gpus=a100:2"),
        ({"type": "1g.10gb+me"}, "--gpus=1g.10gb+me:2"),
        ({"request": "gres"}, "--gres=gpu:2"),
        ({"request": "gres", "type": "a100"}, "--gres=gpu:a100:2"),
    ],
)
def test_gpus_are_asked_for_as_the_site_demands(gpus: dict[str, str], option: str) -> None:
    described = Site.model_validate({"partitions": {"gpu": {"max_gpu": 2}}, "gpus": gpus})
    assert gpu_option(2, described) == option and gpu_option(0, described) == ""
    # An empty one takes the place of an outer job's.
    assert described.variables == {"BENCHC_GPU_TYPE": gpus.get("type", "")}


def test_a_partition_may_have_an_account_of_its_own() -> None:
    described = Site.model_validate(
        {
            "account": "all",
            "qos": "normal",
            "partitions": {"cpu": None, "gpu": {"max_gpu": 1, "account": "own"}},
        }
    )
    assert dict(options(placed(asked(), described), described)) == {
        "slurm_partition": "cpu",
        "slurm_account": "all",
        "qos": "normal",
    }
    assert dict(options(placed(asked(gpus=1), described), described))["slurm_account"] == "own"


def test_the_file_of_the_working_directory_is_used_before_that_of_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, here = tmp_path / "code", tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("benchc.cluster.site.HOME", code)
    assert site_file() == SITE
    for folder, expected in ((code, code / SITE), (here, SITE)):
        (folder / SITE.parent).mkdir(parents=True)
        (folder / SITE).touch()
        assert site_file() == expected
