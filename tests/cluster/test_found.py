"""What SLURM says of partitions, as sinfo writes it."""

import subprocess

import pytest

from benchc.cluster import found
from benchc.errors import InputError

LINES = """\
debug|up|30:00|8|16000|(null)
main*|up|2-00:00:00|64|500000|(null)
main*|up|2-00:00:00|32+|250000+|(null)
gpu|up|infinite|16|128000|gpu:a100:4(S:0-1)
gpu|up|infinite|16|128000|gpu:v100:2,gpu:a100:2
old|down|1-00:00:00|16|64000|(null)
virtual|up|1:00:00|4|8000|vgpu:8
slices|up|1:00:00|4|8000|gpu:1g.10gb+me:7
empty|up|1:00:00|0|0|(null)

A line of the site
future|up|Unlimited|4|8000|gpu:1080ti
"""


def test_the_limits_are_those_of_the_largest_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "said", lambda *command: LINES)
    partitions = found.partitions()
    assert list(partitions) == ["main", "debug", "gpu", "virtual", "slices", "future"]
    main, gpu = partitions["main"], partitions["gpu"]
    assert (main.max_runtime, main.max_threads, main.max_mem_mb, main.max_gpu) == (2880, 64, 500_000, 0)
    assert partitions["debug"].max_runtime == 30
    assert (gpu.max_runtime, gpu.max_gpu, gpu.gpu_types) == (None, 4, ("a100", "v100"))
    assert partitions["virtual"].max_gpu == 0
    # A number is left out where it is 1.
    future = partitions["future"]
    assert (future.max_runtime, future.max_gpu, future.gpu_types) == (None, 1, ("1080ti",))
    assert (partitions["slices"].max_gpu, partitions["slices"].gpu_types) == (7, ("1g.10gb+me",))


def test_a_cluster_without_partitions_and_a_node_without_slurm_are_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match="there is no such command here; call benchc site on a node"):
        found.said("no-such-command")
    for text, message in (
        ("", "^sinfo lists no partition that is up; ask your site$"),
        (
            "a|up|INVALID|4|8000|(null)",
            'partition a is "INVALID", .*; write slurm/site.yaml by hand$',
        ),
    ):
        monkeypatch.setattr(found, "said", lambda *command, text=text: text)
        with pytest.raises(InputError, match=message):
            found.partitions()


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo no >&2; echo 'plugin ' >&2; exit 1", "no plugin"),
        ("exit 3", "Command .* returned non-zero exit status 3."),
        ("echo retrying >&2; exec sleep 9", "retrying"),
        ("exec sleep 9", "Command .* timed out after 0.5 seconds"),
    ],
)
def test_why_a_command_fails_is_one_line(script: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "SECONDS", 0.5)
    with pytest.raises(InputError, match=rf"failed \({reason}\); ask your site$"):
        found.said("sh", "-c", script)


def test_what_sbatch_does_not_answer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*command: object, **_: object) -> None:
        raise subprocess.TimeoutExpired("sbatch", 60)

    monkeypatch.setattr(found.subprocess, "run", late)
    assert found.is_refused(["--gpus=1"])
