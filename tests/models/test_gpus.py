"""Jobs side by side take different GPUs, and say which a model should not be loaded on."""

import errno
import fcntl
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from benchc.models import cards, gpus, in_process
from benchc.models import job as inference_job
from benchc.models.asking import AskedModel, Job
from benchc.models.cards import check_cards, weight_bytes
from benchc.models.gpus import count_gpus, held_gpus, visible_gpus
from benchc.models.job import run_inference
from benchc.models.predictor import Predictor
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.schemas.predictions import PREDICTIONS
from tests.models.stand_ins.nvidia_smi import TWO, use_machine, write_nvidia_smi

ROOT = Path(__file__).resolve().parents[2]
# As printed on real machines, by drivers before and since R470.
DIVIDED = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5)
  MIG 2g.20gb     Device  0: (UUID: MIG-377e0049-554c-540b-93c6-d0976f8426cb)
  MIG 1g.10gb     Device  1: (UUID: MIG-f39aa248-6f1b-5769-b119-8d650bb34b27)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32)
"""
SECOND_DIVIDED = """GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5)
  MIG 2g.20gb     Device  0: (UUID: MIG-377e0049-554c-540b-93c6-d0976f8426cb)
  MIG 1g.10gb     Device  1: (UUID: MIG-f39aa248-6f1b-5769-b119-8d650bb34b27)
"""
DIVIDED_BEFORE_R470 = """GPU 0: A100-SXM4-40GB (UUID: GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f)
  MIG 1g.5gb Device 0: (UUID: MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/7/0)
  MIG 1g.5gb Device 1: (UUID: MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/8/0)
"""
UNABLE = "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error\n"
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
    use_machine(tmp_path, monkeypatch)
    monkeypatch.setattr(cards, "SECONDS_TO_FREE", 0.0)
    for name in cards.TYPES_ASKED:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def start() -> Iterator[Start]:
    jobs = []

    def started(*arguments: object, program: str = JOB, **environment: str) -> "subprocess.Popen[str]":
        command, pipe = [sys.executable, "-c", program, *map(str, arguments)], subprocess.PIPE
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
        pipes = {"stdin": pipe, "stdout": pipe, "stderr": pipe, "text": True}
        jobs.append(subprocess.Popen(command, cwd=ROOT, env=environment, **pipes))
        return jobs[-1]

    yield started
    for job in jobs:
        job.kill()
        job.communicate()


@pytest.fixture
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.uniform", lambda *_: pytest.fail("it waits"))


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
        (SECOND_DIVIDED, None, ["0", *SLICES]),
        (DIVIDED, "0", SLICES),
        (DIVIDED, "1", ["1"]),
        (DIVIDED, "MIG-f39", SLICES[1:]),
        (DIVIDED_BEFORE_R470, None, [FIRST, SECOND]),
        (DIVIDED_BEFORE_R470, SECOND, [SECOND]),
        (UNABLE + TWO + UNABLE, "1", ["1"]),
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
    # The lock of another one may be gone when a job asks whose it is.
    assert gpus._holder(gpus.Gpu("GPU-none", "2", 2, "GPU-none")) == []
    # Of its user alone, whatever the folder for temporary files allows.
    assert stat.S_IMODE(file.parent.stat().st_mode) == stat.S_IRWXU


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


def test_a_job_that_waits_for_long_says_so_every_ten_minutes(monkeypatch, capsys):
    seconds, waits, told, locked = [50.0], [], [], gpus._locked

    def sleep(wait: float) -> None:
        waits.append(wait)
        if "warning: m: waits for 1 GPU, as other jobs have 2 of 2" in capsys.readouterr().err:
            told.append(seconds[0] - 50)
        seconds[0] += 1

    monkeypatch.setattr(gpus, "time", SimpleNamespace(monotonic=lambda: seconds[0], sleep=sleep))
    monkeypatch.setattr(gpus, "SECONDS_BETWEEN_TRIES", 2.0)
    monkeypatch.setattr(
        gpus, "_locked", lambda seen, count: locked(seen, count) if seconds[0] > 1300 else ({}, seen)
    )
    with held_gpus(1, "m"):
        assert told == [2, 602, 1202]
    assert 1 <= min(waits) < max(waits) <= 3  # by chance


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
    # Slices of a GPU are taken one by one.
    write_nvidia_smi(machine, DIVIDED_BEFORE_R470)
    assert {seen(start(1)), seen(start(1))} == {FIRST, SECOND}


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EPERM, errno.EROFS])
@pytest.mark.usefixtures("no_wait")
def test_without_locks_the_least_used_gpu_is_taken_with_a_warning(machine, monkeypatch, capsys, number):
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    write_nvidia_smi(machine, TWO, USED)
    monkeypatch.setattr(fcntl, "flock", flock)
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "1" and not held.locks
    line = capsys.readouterr().err
    assert line.startswith(f"warning: m: {machine}/benchc-gpus-{os.getuid()}/GPU-7f57")
    assert f".lock cannot be locked ({os.strerror(number)}), so that another job may use" in line
    assert line.count("\n") == 1


@pytest.mark.usefixtures("no_wait")
def test_jobs_without_locks_do_not_all_take_the_first_of_equal_gpus(machine, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/dev/null")
    # A memory that is not known counts as unused.
    for used in ("", f"{ONE}, [N/A]\n{OTHER}, 0\n", f"{OTHER}, 0\n"):
        write_nvidia_smi(machine, TWO, used)
        chosen = set()
        for _ in range(30):
            with held_gpus(1, "m") as held:
                chosen.add(held.environment["CUDA_VISIBLE_DEVICES"])
        assert chosen == {"0", "1"}, used


@pytest.mark.parametrize("number", [errno.EWOULDBLOCK, errno.EAGAIN])
def test_a_gpu_that_another_job_has_locked_is_taken(monkeypatch, capsys, number):
    def flock(file: object, _: int) -> None:
        if "GPU-7f57" in file.name:  # type: ignore[attr-defined]
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with held_gpus(1, "m") as held:
        assert held.environment["CUDA_VISIBLE_DEVICES"] == "1"
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("no_wait")
def test_jobs_of_a_scheduler_share_the_gpu_that_it_gave_to_both(start, monkeypatch, capsys):
    job = start(1, CUDA_VISIBLE_DEVICES="1", SLURM_JOB_ID="7")
    assert seen(job) == "1"
    monkeypatch.setenv(gpus.CUDA, "1")
    monkeypatch.setenv("SLURM_JOB_ID", "8")
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


@pytest.mark.parametrize(
    ("written", "shares"),
    [
        # Another job has locked it, and does not say yet which.
        ("", False),
        ("1 8", False),
        # By hand, or by other jobs of the scheduler.
        *((text, True) for text in ("1", "1 7", "1 9")),
    ],
)
def test_a_gpu_is_shared_with_another_job_of_the_scheduler_alone(machine, monkeypatch, written, shares):
    folder = machine / f"benchc-gpus-{os.getuid()}"
    folder.mkdir()
    monkeypatch.setenv(gpus.CUDA, "1")
    monkeypatch.setenv("SLURM_JOB_ID", "8")
    with (folder / "GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32.lock").open("w") as file:
        file.write(written)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        monkeypatch.setattr("random.uniform", lambda *_: float(file.close() or 0))
        with held_gpus(1, "m") as held:
            assert (file.closed, bool(held.locks)) == (not shares, not shares)


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
        # Of more entries, torch sees those before the first that names none.
        ({"CUDA_VISIBLE_DEVICES": "4,2,-1"}, {"CUDA_VISIBLE_DEVICES": "2"}),
        # torch for GPUs of AMD reads HIP's before the other.
        (
            {"HIP_VISIBLE_DEVICES": "4,2", "CUDA_VISIBLE_DEVICES": "0,1"},
            {"CUDA_VISIBLE_DEVICES": "2", "HIP_VISIBLE_DEVICES": "2"},
        ),
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
        assert [gpu.number for gpu in held.gpus] == [0]  # which is not known
    assert capsys.readouterr().err == "m: without nvidia-smi, GPUs are told apart by torch's UUIDs\n"
    named = next((f"{name}={value}" for name, value in variables.items()), "CUDA_VISIBLE_DEVICES is not set")
    sentence = rf"^m: needs 3 GPUs, .* sees 2 \(node \S+, {named}\); request"
    with pytest.raises(gpus.TooFewGpusError, match=sentence), held_gpus(3, "m"):
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
    # Nor where a process of torch does not start.
    for python in (sys.executable, str(machine / "absent")):
        monkeypatch.setattr(sys, "executable", python)
        with held_gpus(1, "m") as held:
            assert held.environment == environment
        said = f"warning: m: neither nvidia-smi nor torch lists the GPUs, {result}\n"
        assert capsys.readouterr().err == said


def test_a_job_sees_its_gpus_alone_before_it_loads_the_model(tmp_path, monkeypatch):
    seen_by_model = []

    def opened(*_: object) -> None:
        seen_by_model.append(os.environ["CUDA_VISIBLE_DEVICES"])
        raise KeyboardInterrupt

    monkeypatch.setenv(gpus.CUDA, "1,0")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "")  # both are put back
    monkeypatch.setattr(in_process, "opened", opened)
    model = AskedModel(label="m", location=str(tmp_path), family="llava", device="cuda")
    asked = (model, "letter", Job(), tmp_path / "pool.parquet", {}, PREDICTIONS, Predictor, lambda *_: [])
    try:
        with pytest.raises(KeyboardInterrupt):
            run_inference(*asked, tmp_path / "out.parquet", substitute="no_image")
        assert seen_by_model == ["0"] and os.environ["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    finally:
        gpus._kept.close()
        gpus.take_gpus.cache_clear()


ONE, OTHER = "GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5", "GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32"
SLICED = f"""GPU 0: NVIDIA H100 80GB HBM3 (UUID: {ONE})
  MIG 2g.20gb     Device  0: (UUID: MIG-377e0049-554c-540b-93c6-d0976f8426cb)
"""
H100, T4 = "NVIDIA H100 80GB HBM3", "Tesla T4"

Say = Callable[..., list[str]]


@pytest.fixture
def said(machine: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Return the lines about the first GPUs. ``facts``: of each GPU, as nvidia-smi prints them."""

    def lines(*facts: str, count: int = 1, listed: str = TWO, source: Any = None) -> list[str]:
        capsys.readouterr()
        rows = zip((ONE, OTHER), facts, strict=False)
        write_nvidia_smi(machine, listed, "".join(f"{uuid}, {each}\n" for uuid, each in rows))
        with held_gpus(count, "m") as held:
            check_cards(held.gpus, "m", source)
        return capsys.readouterr().err.splitlines()

    return lines


def model(folder: Path | str = "m", **settings: Any) -> CheckpointSource:
    return CheckpointSource(str(folder), device="cuda", **settings)


@pytest.mark.parametrize(
    ("asked", "card", "is_another"),
    [
        ("a100", "NVIDIA A100-SXM4-80GB", False),
        ("a100", H100, True),
        ("A100_80GB", "A100-PCIE-40GB", False),
        ("80gb_a100", H100, True),
        ("nvidia_h100_80gb_hbm3", H100, False),
        ("a10", "NVIDIA A100-SXM4-80GB", True),
        ("a10", "NVIDIA A10G", False),
        ("a10g", "NVIDIA A10G", False),
        ("a10g", H100, True),
        ("h200", "NVIDIA GH200 480GB", True),
        ("gh200", "NVIDIA GH200 480GB", False),
        ("l4", "NVIDIA L40S", True),
        ("v100s-32", "Tesla V100-SXM2-32GB", False),
        ("rtx2080ti", "NVIDIA GeForce RTX 2080 Ti", False),
        ("rtx_6000", "Quadro RTX 6000", False),
        ("quadro6000", "Quadro P6000", False),
        ("rtx3090", "NVIDIA GeForce RTX 2080 Ti", True),
        # No number of a card.
        *(
            (name, H100, False)
            for name in ("tesla", "gpu", "ampere", "1g.10gb+me", "gpu01", "mi250", "80gb", "")
        ),
    ],
)
def test_a_card_of_another_type_than_asked_is_a_warning(said, monkeypatch, asked, card, is_another):
    monkeypatch.setenv(gpus.TYPE_ASKED, asked)
    found = said(f"{card}, 4, 81079, 9.0")
    text = f"warning: m: the job asked for a GPU of type {asked}, and has {card}; predictions of "
    assert [line.startswith(text) for line in found] == [True] * is_another


@pytest.mark.parametrize("name", cards.TYPES_ASKED[1:])
def test_the_type_of_a_script_of_slurm_is_known(said, monkeypatch, name):
    facts = f"{H100}, 4, 81079, 9.0"
    monkeypatch.setenv(gpus.TYPE_ASKED, "")
    # Of one job, the first has a number alone.
    monkeypatch.setenv("SLURM_GPUS", "2")
    monkeypatch.setenv(name, "a100:2")
    assert "type a100:2, and has NVIDIA H100 80GB HBM3" in said(facts)[0]
    for unknown in ("a100:1,h100:1", "2"):
        monkeypatch.setenv(name, unknown)
        assert said(facts) == []


def test_a_card_in_use_by_others_is_a_warning(said, machine, monkeypatch, capsys):
    used, unused = f"{H100}, 40512, 40571, 9.0", f"{H100}, 953, 80130, 9.0"
    line = f"warning: m: other processes use 42.5 GB of GPU {{}} ({H100}), and 42.5 GB are free; if that is "
    line += "too little, wait, or ask for another"
    assert said(used, unused) == [line.format(0)]
    # The second is not the job's.
    assert said(unused, used) == []
    assert said(unused, used, count=2) == [line.format(1)]
    # Also where nothing is said of the first.
    assert said("", used, count=2) == [line.format(1)]
    assert len(said(f"{H100}, 954, 80130, 9.0")) == 1
    # That of a job that has just ended is waited for.
    monkeypatch.setattr(cards, "SECONDS_TO_FREE", 15.0)
    before, after = (f"{ONE}, {H100}, {memory}, 9.0\n" for memory in ("40512, 40571", "4, 81079"))
    waits: list[float] = []

    def sleep(wait: float) -> None:
        waits.append(wait)
        write_nvidia_smi(machine, TWO, after)

    monkeypatch.setattr(cards, "time", SimpleNamespace(monotonic=time.monotonic, sleep=sleep))
    write_nvidia_smi(machine, TWO, before)
    with held_gpus(1, "m") as held:
        check_cards(held.gpus, "m")
    assert capsys.readouterr().err == "" and waits == [1.5]
    # What is in use for longer is said.
    seconds = [100.0]

    def later(wait: float) -> None:
        seconds[0] += wait

    monkeypatch.setattr(cards, "time", SimpleNamespace(monotonic=lambda: seconds[0], sleep=later))
    write_nvidia_smi(machine, TWO, before)
    with held_gpus(1, "m") as held:
        check_cards(held.gpus, "m")
    assert capsys.readouterr().err.startswith("warning: m: other processes use 42.5 GB") and seconds == [115]


@pytest.mark.parametrize(
    ("facts", "listed"),
    [
        ("NVIDIA GB10, [N/A], [N/A], 12.1", TWO),
        # Files of the host may be in it.
        ("NVIDIA GH200 480GB, 40512, 57000, 9.0", TWO),
        # The numbers are those of all its slices.
        (f"{H100}, 40512, 40571, 9.0", SLICED),
        # A line that lacks fields.
        (f"{H100}, 40512", TWO),
        ("", TWO),
    ],
)
def test_memory_that_is_not_known_is_not_judged(said: Say, tmp_path: Path, facts: str, listed: str) -> None:
    write_weights(tmp_path)
    assert said(facts, listed=listed, source=model(tmp_path)) == []


@pytest.mark.parametrize(
    ("facts", "dtype", "is_emulated"),
    [
        (f"{T4}, 4, 15000, 7.5", "bfloat16", True),
        (f"{T4}, 4, 15000, 7.5", "float16", False),
        (f"{T4}, 4, 15000, 7.5", "float32", False),
        ("NVIDIA A100-SXM4-80GB, 4, 81000, 8.0", "bfloat16", False),
        ("NVIDIA B200, 4, 181000, 10.0", "bfloat16", False),
    ],
)
def test_bfloat16_on_a_card_without_it_is_a_warning(said, facts, dtype, is_emulated):
    found = said(facts, facts, count=2, source=model(dtype=dtype, gpus=2))
    text = "warning: m: Tesla T4 (compute capability 7.5) has no bfloat16: torch computes it in float32 and"
    # Once for both.
    assert [line.startswith(text) for line in found] == [True] * is_emulated


def test_an_old_driver_tells_no_capability(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_nvidia_smi(machine, TWO, f"{ONE}, {T4}, 4000, 11000\n")
    program = machine / "nvidia-smi"
    refusing = 'case "$*" in *compute_cap*) echo Field "compute_cap" is not a valid field.; exit 2;; esac'
    program.write_text(program.read_text().replace("\n", f"\n{refusing}\n", 1))
    with held_gpus(1, "m") as held:
        check_cards(held.gpus, "m", model(dtype="bfloat16"))
    assert capsys.readouterr().err.startswith("warning: m: other processes use 4.2 GB of GPU 0 (Tesla T4)")


def test_a_card_too_old_for_flash_attention_or_torch_is_an_error(said, monkeypatch):
    source = model(dtype="float16", attention="flash_attention_2")
    with pytest.raises(ModelError) as caught:
        said(f"{T4}, 4, 15000, 7.5", source=source)
    assert str(caught.value) == (
        "m: `attention: flash_attention_2` needs a GPU of compute capability 8.0 or later, and this is "
        "Tesla T4 (compute capability 7.5); remove the key in the model catalogue, or ask for another GPU"
    )
    newer = f"{H100}, 4, 81079, 9.0"
    assert said("NVIDIA A100-SXM4-80GB, 4, 81000, 8.0", source=source) == said(newer, source=source) == []
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_75", "sm_90a", "compute_120"])
    assert said(f"{T4}, 4, 15000, 7.5", source=model()) == said(newer, source=model()) == []
    with pytest.raises(ModelError, match=r"^m: torch \S+ has no kernels for Tesla V100 \(.* from 7\.5 on;"):
        said("Tesla V100, 4, 32000, 7.0", source=model())
    # Also after one whose capability is not known.
    with pytest.raises(ModelError, match=r"has no kernels for Tesla V100"):
        said(f"{T4}, 4, 15000, [N/A]", "Tesla V100, 4, 32000, 7.0", count=2, source=model(gpus=2))
    # A server may have another torch.
    assert said("Tesla V100, 4, 32000, 7.0") == []


def write_weights(folder: Path, dtype: torch.dtype = torch.bfloat16) -> None:
    """Write 550,000 numbers of a model, and a buffer."""
    tensors = {"a": torch.zeros(550, 1000, dtype=dtype), "b": torch.zeros(9, dtype=torch.int8)}
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize("stored", [torch.bfloat16, torch.float32])
def test_weights_have_the_size_of_the_models_precision(tmp_path: Path, stored: torch.dtype) -> None:
    write_weights(tmp_path, dtype=stored)
    sizes = [weight_bytes(model(tmp_path, dtype=dtype)) for dtype in ("float32", "bfloat16", "float16")]
    assert sizes == [2_200_009, 1_100_009, 1_100_009]
    # As they are on disk, with the header.
    (tmp_path / "config.json").write_text('{"quantization_config": {"quant_method": "awq"}}')
    assert weight_bytes(model(tmp_path)) == (tmp_path / "model.safetensors").stat().st_size


def test_weights_of_which_a_part_may_be_loaded_have_no_size(tmp_path: Path) -> None:
    assert weight_bytes(model(tmp_path)) is None
    assert weight_bytes(model(f"{tmp_path}/owner/absent", revision="1" * 40)) is None
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK" + bytes(1000))
    assert weight_bytes(model(tmp_path)) is None
    write_weights(tmp_path)
    assert weight_bytes(model(tmp_path)) is not None
    assert weight_bytes(model(tmp_path, trust_remote_code=True)) is None
    assert weight_bytes(model(tmp_path, family="eagle")) is None
    (tmp_path / "config.json").write_text('{"thinker_config": {}}')
    assert weight_bytes(model(tmp_path)) is None


def test_weights_that_cannot_fit_are_an_error(said, tmp_path, monkeypatch):
    write_weights(tmp_path)
    monkeypatch.setattr(cards, "IN_USE", 10**6)
    full, small = f"{T4}, 14, 1, 7.5", f"{T4}, 0, 1, 7.5"
    with pytest.raises(ModelError) as caught:
        said(full, source=model(tmp_path))
    assert str(caught.value) == (
        "m: its weights take 0.0 GB with `dtype: float32`, and 0.0 GB are free on Tesla T4; wait for the "
        "other processes, or set `dtype: bfloat16`, or raise `gpus` above 1 in the model catalogue, or use "
        "larger GPUs"
    )
    with pytest.raises(ModelError, match=r"free on Tesla T4; set `dtype: bfloat16`, or raise"):
        said(small, source=model(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(cards, "weight_bytes", lambda _: 81_350_000_000)
        sentence = r"its weights take 81\.3 GB with `dtype: float16`, and 42\.5 GB are free on NVIDIA H100 "
        sentence += "80GB HBM3; wait for the other processes, or raise `gpus` above 1 in"
        with pytest.raises(ModelError, match=sentence):
            said(f"{H100}, 40512, 40571, 9.0", source=model(dtype="float16"))
        # Of more GPUs than the model needs, all are counted.
        with pytest.raises(ModelError, match=rf"and 71\.3 GB are free on {H100} and {H100}; "):
            said(*[f"{H100}, 0, 34000, 9.0"] * 2, count=2, source=model())
        # What is free on one GPU says nothing where that of the other is not known.
        two = [f"{H100}, 0, 40571, 9.0", "NVIDIA GB10, [N/A], [N/A], 12.1"]
        assert said(*two, count=2, source=model(gpus=2)) == []
        # Of 10 MiB, 9 may be all that is loaded.
        patch.setattr(cards, "weight_bytes", lambda _: 10 * 2**20)
        assert said(f"{T4}, 0, 9, 7.5", source=model()) == []
    # Of 1.1 MB, a part may not be loaded into the 1.05 MB that are free.
    assert said(small, source=model(tmp_path, dtype="float16")) == []
    # On both together.
    assert said(small, small, count=2, source=model(tmp_path, gpus=2)) == []


@pytest.mark.parametrize(
    ("mib", "gb", "weights", "their_gb"),
    [(172_472, "180.8", 499_949_999_990, "499.9"), (218_153, "228.8", 499_950_000_010, "500.0")],
)
def test_memory_is_in_billions_of_bytes(said, monkeypatch, capsys, mib, gb, weights, their_gb):
    monkeypatch.setattr(cards, "weight_bytes", lambda _: weights)
    sentence = f"weights take {their_gb} GB .*, and {gb} GB are free on NVIDIA B300"
    with pytest.raises(ModelError, match=sentence):
        said(f"NVIDIA B300, {mib}, {mib}, 10.3", source=model(dtype="float16"))
    in_use = f"other processes use {gb} GB of GPU 0 (NVIDIA B300), and {gb} GB are free"
    assert in_use in capsys.readouterr().err


def test_an_encoder_takes_one_gpu(monkeypatch):
    monkeypatch.setenv(gpus.CUDA, "1,0")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "")  # both are put back
    try:
        cards.take_cards("e")
        assert os.environ[gpus.CUDA] == "0"
    finally:
        gpus._kept.close()
        gpus.take_gpus.cache_clear()


def test_a_job_checks_its_cards_before_it_loads_the_model(machine, monkeypatch):
    monkeypatch.setattr(in_process, "opened", lambda *_: pytest.fail("it is loaded"))
    monkeypatch.setenv(gpus.CUDA, "1")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "")  # both are put back
    write_nvidia_smi(machine, TWO, f"{ONE}, {H100}, 4, 81079, 9.0\n{OTHER}, {T4}, 4, 15000, 7.5\n")
    settings = {"device": "cuda", "dtype": "float16", "attention": "flash_attention_2"}
    asked = AskedModel(label="m", location="m", revision="1" * 40, **settings)
    try:
        with pytest.raises(ModelError, match=r"^m: `attention: flash_attention_2` needs a GPU of"):
            inference_job._opened(asked, "letter", None, Job(), None, [])
    finally:
        gpus._kept.close()
        gpus.take_gpus.cache_clear()
