"""What SLURM says of partitions, as sinfo writes it."""

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
"""


def test_the_limits_are_those_of_the_largest_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found, "said", lambda *command: LINES)
    partitions = found.partitions()
    assert list(partitions) == ["main", "debug", "gpu", "virtual", "slices"]
    main, gpu = partitions["main"], partitions["gpu"]
    assert (main.max_runtime, main.max_threads, main.max_mem_mb, main.max_gpu) == (2880, 64, 500_000, 0)
    assert partitions["debug"].max_runtime == 30
    assert (gpu.max_runtime, gpu.max_gpu, gpu.gpu_types) == (None, 4, ("a100", "v100"))
    assert partitions["virtual"].max_gpu == 0
    assert (partitions["slices"].max_gpu, partitions["slices"].gpu_types) == (7, ("1g.10gb+me",))


def test_a_cluster_without_partitions_and_a_node_without_slurm_are_errors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(InputError, match="there is no such command here; call benchc site on a node"):
        found.said("no-such-command")
    monkeypatch.setattr(found, "said", lambda *command: "")
    with pytest.raises(InputError, match="no partition that is up"):
        found.partitions()
