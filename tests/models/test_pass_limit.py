"""The tokens of a pass on GPUs: measured in the second pass, of the GPU with the least memory."""

import pytest
import torch

from benchc.models.pass_limit import TOKENS_ON_CPU, PassLimit

MB = 10**6


class Gpu:
    """The counts of torch about a GPU, of which a pass takes ``taken`` bytes more than it keeps."""

    def __init__(self, free: int, taken: int, held: int = 5 * MB, reserved: int = 7 * MB) -> None:
        self.free, self.taken, self.held, self.reserved = free, taken, held, reserved
        self.reset = 0


@pytest.fixture
def gpus(monkeypatch) -> list[Gpu]:
    found = [Gpu(998 * MB, 100 * MB), Gpu(398 * MB, 50 * MB)]
    counts = {
        "memory_allocated": lambda gpu: found[gpu].held,
        "max_memory_allocated": lambda gpu: found[gpu].held + found[gpu].taken,
        "memory_reserved": lambda gpu: found[gpu].reserved,
        "mem_get_info": lambda gpu: (found[gpu].free, 10**12),
    }
    for name, count in counts.items():
        monkeypatch.setattr(torch.cuda, name, count)

    def reset(gpu: int) -> None:
        found[gpu].reset += 1

    monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", reset)
    return found


def measured(limit: PassLimit, *passes: int) -> list[int]:
    """Return the limit after each pass of so many tokens."""
    found = []
    for tokens in passes:
        with limit.measured(tokens):
            pass
        found.append(limit.most)
    return found


@pytest.mark.parametrize(
    ("numbers", "most", "said"),
    [
        # With what the allocator keeps, 1,000 MB are free, half of which is for passes of 0.1 MB a token.
        ((0,), 4096, "units pass together up to 4,096 tokens, by 0.1 MB a token in a pass and 1 GB of free"),
        # 400 MB and 0.05 MB a token: 4,000 tokens, the fewer.
        ((0, 1), 2048, "units pass together up to 2,048 tokens, by 0.05 MB a token in a pass and 0.4 GB of"),
    ],
)
def test_the_second_pass_sets_the_limit_once(gpus, numbers, most, said):
    lines: list[str] = []
    limit = PassLimit(numbers, lines.append)
    assert limit.most == 0
    # A pass without tokens, as of a model that tells none, is not measured.
    assert measured(limit, 1000, 0, 1000) == [0, 0, most]
    assert len(lines) == 1 and lines[0].startswith(said) and lines[0].endswith(" GPU memory")
    gpus[0].free = 10**12
    assert measured(limit, 1000) == [most] and len(lines) == 1
    assert [gpu.reset for gpu in gpus] == [1, int(1 in numbers)]
    limit.lower()
    assert (limit.most, limit.lowered) == (most // 2, 1)


@pytest.mark.parametrize(
    ("free", "taken", "most", "each", "all_free"),
    [
        (0, 10**12, 0, "5e+05", "0"),
        (2 * MB, 2 * MB, 1, "1", "0.002"),
        (2 * MB, 0, 2**20, "5e-07", "0.002"),
        # Between two numbers of three digits.
        (1135 * MB, 2_270_000, 256, "1.14", "1.14"),
        (1125 * MB, 2_250_000, 256, "1.12", "1.12"),
    ],
)
def test_the_limit_of_little_memory_and_of_passes_that_take_none(gpus, free, taken, most, each, all_free):
    gpus[0].free, gpus[0].taken, gpus[0].reserved = free, taken, gpus[0].held
    lines: list[str] = []
    assert measured(PassLimit((0,), lines.append), 2, 2)[-1] == most
    assert f"by {each} MB a token in a pass and {all_free} GB of free" in lines[0]


def test_on_a_cpu_nothing_is_measured():
    limit = PassLimit()
    assert measured(limit, 10, 10, 10) == [TOKENS_ON_CPU] * 3


def test_a_pass_that_fails_sets_no_limit(gpus):
    limit = PassLimit((0,), lambda _: None)
    measured(limit, 10)
    with pytest.raises(KeyError), limit.measured(10):
        raise KeyError
    assert limit.most == 0
