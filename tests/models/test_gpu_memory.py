"""What is said where a model does not fit into the memory of its GPUs, and of which errors."""

from types import SimpleNamespace

import pytest
import torch

from benchc.models.gpu_memory import enough_memory, is_out_of_memory, too_little
from benchc.models.protocol import CheckpointSource, ModelError


def caused(error: BaseException, by: BaseException, *, explicit: bool) -> BaseException:
    error.__cause__, error.__context__ = (by, None) if explicit else (None, by)
    return error


FULL = torch.OutOfMemoryError("full")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (FULL, True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("cuBLAS: CUBLAS_STATUS_ALLOC_FAILED when calling"), True),
        (RuntimeError("size mismatch"), False),
        # Of the host, which another GPU does not help.
        (MemoryError("out of memory"), False),
        (caused(KeyError("weights"), FULL, explicit=True), True),
        (caused(KeyError("weights"), FULL, explicit=False), True),
        (caused(KeyError("a"), caused(ValueError("b"), FULL, explicit=True), explicit=False), True),
        (caused(KeyError("a"), ValueError("b"), explicit=True), False),
        (None, False),
    ],
)
def test_an_error_of_a_full_gpu_is_known_by_its_type_its_words_or_its_cause(error, expected):
    assert is_out_of_memory(error) is expected


@pytest.fixture
def cards(monkeypatch) -> None:
    def info(number: int) -> tuple[int, int]:
        if number == 1:
            raise RuntimeError("out of memory")
        return 2_400_000_000, 24_300_000_000

    properties = SimpleNamespace(name="Card", total_memory=24_300_000_000)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    monkeypatch.setattr(torch.cuda, "mem_get_info", info)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 3_000_000_000)


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize(
    ("dtype", "gpus", "divides", "advice"),
    [
        ("float32", 1, True, "set `dtype: bfloat16`, or raise `gpus` above 1, or use a larger GPU"),
        ("bfloat16", 1, True, "raise `gpus` above 1, or use a larger GPU"),
        ("float16", 2, True, "raise `gpus` above 2, or use larger GPUs"),
        ("bfloat16", 1, False, "use a larger GPU"),
    ],
)
def test_the_advice_is_what_the_entry_leaves_open(dtype, gpus, divides, advice):
    source = CheckpointSource("m", dtype=dtype, device="cuda", gpus=gpus)
    # What this process has reserved is free for a smaller model.
    listed = "Card: 5.4 of 24.3 GB free" + (", Card: nothing of 24.3 GB free" if gpus == 2 else "")
    assert str(too_little(source, **({} if divides else {"divides": False}))) == (
        f"m: does not fit into the GPU memory of its job with `gpus: {gpus}` and `dtype: {dtype}` in the "
        f"model catalogue ({listed}); {advice}"
    )


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize(("size", "gb"), [(24_949_999_990, "24.9"), (24_950_000_010, "25.0")])
def test_memory_is_in_billions_of_bytes(monkeypatch, size, gb):
    properties = SimpleNamespace(name="Card", total_memory=size)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: properties)
    info = torch.cuda.mem_get_info
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda gpu: info(gpu) and (size - 3_000_000_000, size))
    source = CheckpointSource("m", device="cuda", gpus=2)
    assert f"(Card: {gb} of {gb} GB free, Card: nothing of {gb} GB free)" in str(too_little(source))


@pytest.mark.usefixtures("cards")
@pytest.mark.parametrize(
    ("device", "error", "expected"),
    [
        ("cuda", FULL, ModelError),
        ("cpu", FULL, torch.OutOfMemoryError),
        ("cuda", KeyError("a"), KeyError),
        ("cuda", caused(ModelError("already said"), FULL, explicit=True), ModelError),
    ],
)
def test_only_a_full_gpu_is_said_to_be_one(device, error, expected):
    with pytest.raises(expected) as caught, enough_memory(CheckpointSource("m", device=device)):
        raise error
    is_said = device == "cuda" and error is FULL
    assert ("does not fit" in str(caught.value)) == is_said
    assert ("or raise `gpus` above 1" in str(caught.value)) == is_said
