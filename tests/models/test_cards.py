"""GPUs that a model should not be loaded on: one line each, before it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from benchc.models import cards, gpus, in_process, job
from benchc.models.asking import AskedModel, Job
from benchc.models.cards import check_cards, weight_bytes
from benchc.models.gpus import held_gpus
from benchc.models.protocol import CheckpointSource, ModelError
from tests.models.stand_ins.nvidia_smi import TWO, use_machine, write_nvidia_smi

FIRST, SECOND = "GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5", "GPU-8c7c9c30-f12f-20bf-e14e-d3c4c965af32"
SLICED = f"""GPU 0: NVIDIA H100 80GB HBM3 (UUID: {FIRST})
  MIG 2g.20gb     Device  0: (UUID: MIG-377e0049-554c-540b-93c6-d0976f8426cb)
"""
H100, T4 = "NVIDIA H100 80GB HBM3", "Tesla T4"

Say = Callable[..., list[str]]


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of nvidia-smi, which lists two GPUs."""
    use_machine(tmp_path, monkeypatch)
    monkeypatch.setattr(cards, "SECONDS_TO_FREE", 0.0)
    for name in cards.TYPES_ASKED:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def said(machine: Path, capsys: pytest.CaptureFixture[str]) -> Say:
    """Return the lines about the first GPUs. ``facts``: of each GPU, as nvidia-smi prints them."""

    def lines(
        *facts: str, count: int = 1, listed: str = TWO, source: CheckpointSource | None = None
    ) -> list[str]:
        capsys.readouterr()
        rows = zip((FIRST, SECOND), facts, strict=False)
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
def test_a_card_of_another_type_than_asked_is_a_warning_with_both_names(
    said: Say, monkeypatch: pytest.MonkeyPatch, asked: str, card: str, is_another: bool
) -> None:
    monkeypatch.setenv(gpus.TYPE_ASKED, asked)
    found = said(f"{card}, 4, 81079, 9.0")
    text = f"warning: m: the job asked for a GPU of type {asked}, and has {card}; predictions of "
    assert [line.startswith(text) for line in found] == [True] * is_another


@pytest.mark.parametrize("name", cards.TYPES_ASKED[1:])
def test_the_type_of_a_script_of_slurm_is_known(
    said: Say, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    facts = f"{H100}, 4, 81079, 9.0"
    monkeypatch.setenv(gpus.TYPE_ASKED, "")
    # Of one job, the first has a number alone.
    monkeypatch.setenv("SLURM_GPUS", "2")
    monkeypatch.setenv(name, "a100:2")
    assert "type a100:2, and has NVIDIA H100 80GB HBM3" in said(facts)[0]
    monkeypatch.setenv(name, "a100:1,h100:1")
    assert said(facts) == []
    monkeypatch.setenv(name, "2")
    assert said(facts) == []


def test_a_card_in_use_by_others_is_a_warning(said: Say) -> None:
    used, unused = f"{H100}, 40512, 40571, 9.0", f"{H100}, 953, 80130, 9.0"
    line = (
        "warning: m: other processes use 42.5 GB of GPU {} (NVIDIA H100 80GB HBM3), and 42.5 GB are "
        "free; if that is too little, wait, or ask for another"
    )
    assert said(used, unused) == [line.format(0)]
    # The second is not the job's.
    assert said(unused, used) == []
    assert said(unused, used, count=2) == [line.format(1)]


@pytest.mark.parametrize(
    ("facts", "listed"),
    [
        ("NVIDIA GB10, [N/A], [N/A], 12.1", TWO),
        # Files of the host may be in it.
        ("NVIDIA GH200 480GB, 40512, 57000, 9.0", TWO),
        # The numbers are those of all its slices.
        (f"{H100}, 40512, 40571, 9.0", SLICED),
        ("", TWO),
    ],
)
def test_memory_that_is_not_known_is_not_judged(said: Say, tmp_path: Path, facts: str, listed: str) -> None:
    write_weights(tmp_path)
    source = model(tmp_path)
    assert said(facts, listed=listed, source=source) == []


def test_the_memory_of_a_job_that_has_just_ended_is_waited_for(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cards, "SECONDS_TO_FREE", 10.0)
    before, after = (f"{FIRST}, {H100}, {memory}, 9.0\n" for memory in ("40512, 40571", "4, 81079"))
    monkeypatch.setattr("time.sleep", lambda _: write_nvidia_smi(machine, TWO, after))
    write_nvidia_smi(machine, TWO, before)
    with held_gpus(1, "m") as held:
        check_cards(held.gpus, "m")
    assert capsys.readouterr().err == ""


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
def test_bfloat16_on_a_card_without_it_is_a_warning(
    said: Say, facts: str, dtype: str, is_emulated: bool
) -> None:
    found = said(facts, facts, count=2, source=model(dtype=dtype, gpus=2))
    text = "warning: m: Tesla T4 (compute capability 7.5) has no bfloat16: torch computes it in float32 and"
    # Once for both.
    assert [line.startswith(text) for line in found] == [True] * is_emulated


def test_an_old_driver_tells_no_capability(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = f"{FIRST}, {T4}, 4000, 11000\n"
    write_nvidia_smi(machine, TWO, rows)
    program = machine / "nvidia-smi"
    refusing = (
        'case "$*" in *compute_cap*) echo Field "compute_cap" is not a valid field to query.; exit 2;; esac'
    )
    program.write_text(program.read_text().replace("\n", f"\n{refusing}\n", 1))
    with held_gpus(1, "m") as held:
        check_cards(held.gpus, "m", model(dtype="bfloat16"))
    assert capsys.readouterr().err.startswith("warning: m: other processes use 4.2 GB of GPU 0 (Tesla T4)")


def test_a_card_too_old_for_flash_attention_or_torch_is_an_error(
    said: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = model(dtype="float16", attention="flash_attention_2")
    with pytest.raises(ModelError) as caught:
        said(f"{T4}, 4, 15000, 7.5", source=source)
    assert str(caught.value) == (
        "m: `attention: flash_attention_2` needs a GPU of compute capability 8.0 or later, and this is "
        "Tesla T4 (compute capability 7.5); remove the key in the model catalogue, or ask for another GPU"
    )
    assert said("NVIDIA A100-SXM4-80GB, 4, 81000, 8.0", source=source) == []
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: ["sm_75", "sm_90a", "compute_120"])
    assert said(f"{T4}, 4, 15000, 7.5", source=model()) == []
    with pytest.raises(
        ModelError, match=r"^m: torch \S+ has no kernels for Tesla V100 \(compute .* from 7\.5 on;"
    ):
        said("Tesla V100, 4, 32000, 7.0", source=model())
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


def test_weights_that_cannot_fit_are_an_error(
    said: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    # Of 1.1 MB, a part may not be loaded into the 1.05 MB that are free.
    assert said(small, source=model(tmp_path, dtype="float16")) == []
    # On both together.
    assert said(small, small, count=2, source=model(tmp_path, gpus=2)) == []


def test_a_job_checks_its_cards_before_it_loads_the_model(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_process, "opened", lambda *_: pytest.fail("it is loaded"))
    monkeypatch.setenv(gpus.CUDA, "1")
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "")  # both are put back
    write_nvidia_smi(machine, TWO, f"{FIRST}, {H100}, 4, 81079, 9.0\n{SECOND}, {T4}, 4, 15000, 7.5\n")
    asked = AskedModel(
        label="m",
        location="m",
        device="cuda",
        dtype="float16",
        attention="flash_attention_2",
        revision="1" * 40,
    )
    try:
        with pytest.raises(ModelError, match=r"^m: `attention: flash_attention_2` needs a GPU of"):
            job._opened(asked, "letter", None, Job(), None, [])
    finally:
        gpus._kept.close()
        gpus.take_gpus.cache_clear()
