"""Jobs side by side take different GPUs, wait for them, and say so where they cannot be told apart."""

import errno
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer

import pytest

from benchc.models import gpus, in_process
from benchc.models.asking import AskedModel, Job
from benchc.models.gpus import count_gpus, held_gpus, visible_gpus
from benchc.models.items import Item
from benchc.models.job import run_inference
from benchc.models.predictor import Predictor
from benchc.schemas.predictions import PREDICTIONS
from tests.models.stand_ins.nvidia_smi import TWO, use_machine, write_nvidia_smi

ROOT = Path(__file__).resolve().parents[2]
# As printed on real machines, by drivers before and since R470.
DIVIDED = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5)
  MIG 2g.20gb     Device  0: (UUID: MIG-377e0049-554c-540b-93c6-d0976f8426cb)
  MIG 1g.10gb     Device  1: (UUID: MIG-f39aa248-6f1b-5769-b119-8d650bb34b27)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32)
"""
DIVIDED_BEFORE_R470 = """GPU 0: A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)
  MIG 1g.5gb Device 0: (UUID: MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/7/0)
  MIG 1g.5gb Device 1: (UUID: MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/8/0)
"""
FIRST, SECOND = (f"MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/{number}/0" for number in (7, 8))
SLICES = ["MIG-377e0049-554c-540b-93c6-d0976f8426cb", "MIG-f39aa248-6f1b-5769-b119-8d650bb34b27"]
# Of the GPU's memory, in MiB.
USED = "GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5, 40512\nGPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32, 4\n"
# Of another job, which says what it sees, and keeps it until its input ends.
JOB = """
import sys
from benchc.models import gpus
gpus.SECONDS_BETWEEN_TRIES = 0.05
with gpus.held_gpus(int(sys.argv[1]), "other") as held:
    print(held.environment.get("CUDA_VISIBLE_DEVICES"), flush=True)
    sys.stdin.read()
"""
# Takes two GPUs many times; the second of two such jobs at once would find the folder.
PAIRS = """
import sys, pathlib
from benchc.models import gpus
gpus.SECONDS_BETWEEN_TRIES = 0.01
for _ in range(20):
    with gpus.held_gpus(2, "pair"):
        pathlib.Path(sys.argv[1]).mkdir()
        pathlib.Path(sys.argv[1]).rmdir()
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of nvidia-smi, which lists two GPUs, and of locks."""
    use_machine(tmp_path, monkeypatch)
    return tmp_path


@pytest.fixture
def start() -> Iterator[Start]:
    """Start another job."""
    jobs = []

    def started(*arguments: object, program: str = JOB, **environment: str) -> "subprocess.Popen[str]":
        jobs.append(
            subprocess.Popen(
                [sys.executable, "-c", program, *map(str, arguments)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        return jobs[-1]

    yield started
    for job in jobs:
        job.kill()
        job.communicate()


def must_not_wait(*_: float) -> None:
    raise AssertionError("it waits")


def seen(job: "subprocess.Popen[str]") -> str:
    """Return the first line of a job; empty for one that writes none."""
    assert job.stdout is not None
    end = Timer(30, job.kill)
    end.start()
    line = job.stdout.readline().strip()
    end.cancel()
    return line


@pytest.mark.parametrize(
    ("listed", "visible", "entries"),
    [
        (TWO, None, ["0", "1"]),
        (TWO, "1,0", ["1", "0"]),
        (TWO, " 1", ["1"]),
        (TWO, "GPU-8c7c,GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5", ["1", "0"]),
        # As in CUDA, up to an entry that names none.
        (TWO, "1,-1,0", ["1"]),
        (TWO, "0,2,1", ["0"]),
        (TWO, "", []),
        (TWO, "NoDevFiles", []),
        (TWO, "GPU-,MIG-", ["0", "1"]),
        (DIVIDED, None, [*SLICES, "1"]),
        (DIVIDED, "0", SLICES),
        (DIVIDED, "1", ["1"]),
        (DIVIDED, "MIG-f39", SLICES[1:]),
        (DIVIDED_BEFORE_R470, None, [FIRST, SECOND]),
        (DIVIDED_BEFORE_R470, SECOND, [SECOND]),
        ("Unable to determine the device handle for GPU0000:01:00.0: Unknown Error\n" + TWO, "1", ["1"]),
    ],
)
def test_the_gpus_that_a_job_may_use(machine, monkeypatch, listed, visible, entries):
    write_nvidia_smi(machine, listed)
    if visible is not None:
        monkeypatch.setenv(gpus.CUDA, visible)
    found = visible_gpus()
    assert found is not None and [gpu.entry for gpu in found] == entries
    assert count_gpus() == len(entries)
    assert all(f"(UUID: {gpu.uuid})" in listed for gpu in found)
    assert len({gpu.uuid for gpu in found}) == len(found)


def test_a_gpu_of_another_job_is_left_to_it_until_that_ends(start):
    """Its CUDA_VISIBLE_DEVICES gives the GPUs other numbers, and names."""
    job = start(1, CUDA_VISIBLE_DEVICES="GPU-7f57")
    assert seen(job) == "0"
    with held_gpus(1, "m") as held:
        assert held.environment == {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    job.kill()
    job.wait()
    with held_gpus(2, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "0,1"


@pytest.mark.parametrize(
    ("count", "visible", "sees", "where"),
    [
        (2, "1", "1", "CUDA_VISIBLE_DEVICES=1"),
        (3, None, "2", "CUDA_VISIBLE_DEVICES is not set"),
        # Of a job of SLURM that asked for none.
        (1, "NoDevFiles", "none", "CUDA_VISIBLE_DEVICES=NoDevFiles"),
    ],
)
def test_fewer_gpus_than_the_job_needs_are_one_line(monkeypatch, count, visible, sees, where):
    if visible is not None:
        monkeypatch.setenv(gpus.CUDA, visible)
    monkeypatch.setattr("socket.gethostname", lambda: "n3")
    with pytest.raises(gpus.TooFewGpusError) as caught, held_gpus(count, "m"):
        pytest.fail("it holds some")
    number = {"none": 0}.get(sees, sees)
    assert str(caught.value) == (
        f"m: needs {count} GPU{'s' * (count > 1)}, but this job sees {sees} (node n3, {where}); request "
        f"{count}, or set `gpus: {number}` in its entry of the model catalogue or the configuration"
    )


def test_a_lock_names_the_job_that_has_it_now(machine, monkeypatch):
    file = machine / f"benchc-gpus-{os.getuid()}/GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5.lock"
    for allocation in ("71", "8"):
        monkeypatch.setenv("SLURM_JOB_ID", allocation)
        with held_gpus(1, "m"):
            assert file.read_text() == f"{os.getpid()} {allocation}"


def test_slices_of_a_gpu_are_taken_one_by_one(machine, start):
    write_nvidia_smi(machine, DIVIDED_BEFORE_R470)
    assert {seen(start(1)), seen(start(1))} == {FIRST, SECOND}


def test_a_job_waits_for_a_gpu_and_says_whose(start, capsys):
    job = start(2)
    assert seen(job) == "0,1"
    Timer(1, job.kill).start()
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "0"
    assert capsys.readouterr().err == (
        f"warning: m: waits for 1 GPU, as other jobs (processes {job.pid}) have 2 of 2; with --resources "
        "gpu=2, snakemake starts no more jobs than fit\n"
    )


def test_a_job_that_waits_for_several_gpus_holds_none(start):
    assert seen(start(1, CUDA_VISIBLE_DEVICES="1")) == "1"
    both = start(2)
    assert both.stderr is not None
    assert both.stderr.readline().startswith("warning: other: waits for 2 GPUs, as other jobs (processes ")
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "0"
        assert both.poll() is None


def test_jobs_that_take_several_gpus_do_not_block_each_other(machine, start):
    pairs = [start(machine / "both", program=PAIRS, CUDA_VISIBLE_DEVICES=order) for order in ("0,1", "1,0")]
    assert [pair.wait(60) for pair in pairs] == [0, 0]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EPERM, errno.EROFS])
def test_a_file_system_without_locks_is_a_warning_and_the_least_used_gpu(
    machine, monkeypatch, capsys, number
):
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    write_nvidia_smi(machine, TWO, USED)
    monkeypatch.setattr(fcntl, "flock", flock)
    monkeypatch.setattr("random.uniform", must_not_wait)
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "1" and not held.locks
    line = capsys.readouterr().err
    assert line.startswith(f"warning: m: {machine}/benchc-gpus-{os.getuid()}/GPU-7f57")
    assert f".lock cannot be locked ({os.strerror(number)}), so that another job may use" in line
    assert line.count("\n") == 1


def test_jobs_without_locks_do_not_all_take_the_first_of_equal_gpus(monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/dev/null")
    monkeypatch.setattr("random.uniform", must_not_wait)
    chosen = set()
    for _ in range(50):
        with held_gpus(1, "m") as held:
            chosen.add(held.environment["CUDA_VISIBLE_DEVICES"])
    assert chosen == {"0", "1"}


@pytest.mark.parametrize("number", [errno.EWOULDBLOCK, errno.EAGAIN])
def test_a_gpu_that_another_job_has_locked_is_taken(monkeypatch, capsys, number):
    def flock(file: object, _: int) -> None:
        if "GPU-7f57" in file.name:  # type: ignore[attr-defined]
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert capsys.readouterr().err == ""


def test_jobs_of_a_scheduler_share_the_gpu_that_it_gave_to_both(start, monkeypatch, capsys):
    job = start(1, CUDA_VISIBLE_DEVICES="1", SLURM_JOB_ID="7")
    assert seen(job) == "1"
    monkeypatch.setenv(gpus.CUDA, "1")
    monkeypatch.setenv("SLURM_JOB_ID", "8")
    monkeypatch.setattr("random.uniform", must_not_wait)
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert capsys.readouterr().err == (
        f"warning: m: shares 1 GPU with other jobs (processes {job.pid}); the scheduler gave this job 1 GPU\n"
    )


@pytest.mark.parametrize(("own", "visible"), [("7", "1"), ("8", "0,1")])
def test_jobs_of_one_allocation_or_with_a_choice_wait(start, monkeypatch, own, visible):
    """The scheduler gave one GPU to the snakemake of both, or several to choose from."""
    other = start(len(visible.split(",")), CUDA_VISIBLE_DEVICES=visible, SLURM_JOB_ID="7")
    assert seen(other)
    monkeypatch.setenv(gpus.CUDA, visible)
    monkeypatch.setenv("SLURM_JOB_ID", own)
    begin = time.monotonic()
    Timer(1, other.kill).start()
    with held_gpus(1, "m"):
        assert time.monotonic() - begin > 0.9


TORCH = """
from types import SimpleNamespace
cards = ["7f57f032-34ab-a064-c37c-7a4f75601cc5", "8c7c9c30-f12f-20bf-e14e-d3c4c965af32"]
cuda = SimpleNamespace(
    device_count=lambda: len(cards), get_device_properties=lambda number: SimpleNamespace(uuid=cards[number])
)
"""


@pytest.mark.parametrize(
    ("variables", "environment"),
    [
        ({}, {"CUDA_VISIBLE_DEVICES": "1"}),
        ({"CUDA_VISIBLE_DEVICES": "4,2"}, {"CUDA_VISIBLE_DEVICES": "2"}),
        ({"HIP_VISIBLE_DEVICES": "4,2"}, {"CUDA_VISIBLE_DEVICES": "2", "HIP_VISIBLE_DEVICES": "2"}),
    ],
)
def test_without_nvidia_smi_gpus_are_told_apart_by_torch(
    machine, start, monkeypatch, capsys, variables, environment
):
    assert seen(start(1)) == "0"
    (machine / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (machine / "torch.py").write_text(TORCH)
    for name, value in {**variables, "PYTHONPATH": str(machine)}.items():
        monkeypatch.setenv(name, value)
    with held_gpus(1, "m") as held:
        assert held.environment == environment
    assert capsys.readouterr().err == "m: without nvidia-smi, GPUs are told apart by torch's UUIDs\n"
    with (
        pytest.raises(gpus.TooFewGpusError, match=r"^m: needs 3 GPUs, .* sees 2 "),
        held_gpus(3, "m"),
    ):
        pytest.fail("it holds some")


@pytest.mark.parametrize(
    ("visible", "environment", "result"),
    [
        ("3,5", {"CUDA_VISIBLE_DEVICES": "3"}, "which are told apart by CUDA_VISIBLE_DEVICES"),
        (None, {}, "so that another job may use the same"),
    ],
)
def test_without_nvidia_smi_and_torch_gpus_have_the_names_of_the_variable(
    machine, monkeypatch, capsys, visible, environment, result
):
    (machine / "nvidia-smi").unlink()
    (machine / "torch.py").write_text("raise ImportError")
    monkeypatch.setenv("PATH", str(machine))
    monkeypatch.setenv("PYTHONPATH", str(machine))
    if visible:
        monkeypatch.setenv(gpus.CUDA, visible)
    assert count_gpus() == (2 if visible else 0)
    with held_gpus(1, "m") as held:
        assert held.environment == environment
    line = f"warning: m: neither nvidia-smi nor torch lists the GPUs, {result}\n"
    assert capsys.readouterr().err == line


def test_a_job_sees_its_gpus_alone_before_it_loads_the_model(tmp_path, monkeypatch):
    seen_by_model = []

    def opened(*_: object) -> None:
        seen_by_model.append(os.environ["CUDA_VISIBLE_DEVICES"])
        raise KeyboardInterrupt

    monkeypatch.setenv(gpus.CUDA, "1,0")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "")  # both are put back
    monkeypatch.setattr(in_process, "opened", opened)
    model = AskedModel(label="m", location=str(tmp_path), family="llava", device="cuda")
    items: dict[str, Item] = {}
    try:
        with pytest.raises(KeyboardInterrupt):
            run_inference(
                model,
                "letter",
                Job(),
                tmp_path / "pool.parquet",
                items,
                PREDICTIONS,
                Predictor,
                lambda *_: [],
                tmp_path / "out.parquet",
                substitute="no_image",
            )
        assert seen_by_model == ["0"] and os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    finally:
        gpus._kept.close()
        gpus.take_gpus.cache_clear()
