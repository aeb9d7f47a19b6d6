"""A run whose jobs may need more GPUs at once than there are says so, unless Snakemake is told how many."""

from pathlib import Path

import pytest
import yaml

from benchc.workflow.gpus import unlimited_gpus
from tests.models.stand_ins.nvidia_smi import use_machine
from tests.workflow.checkout import Checkout

MODELS = ("tiny-llava-s", "tiny-llava-m", "tiny-llava-l")


@pytest.mark.parametrize(
    ("jobs", "cores", "said"),
    [
        ([(1, 1)] * 3, 4, "3 jobs with 3 GPUs fit into 4 cores at once"),
        ([(9, 1), (1, 2), (1, 0)], 10, "2 jobs with 3 GPUs fit into 10 cores at once"),
        # Whichever is first, the small ones may run at once.
        ([(9, 1), (1, 2), (1, 2)], 9, "2 jobs with 4 GPUs fit into 9 cores at once"),
        # Cores suffice for one of them, or for as many as there are GPUs.
        ([(9, 1)] * 3, 9, None),
        ([(9, 1)] * 3, 26, None),
        # One waits for no other; it says itself that it needs more.
        ([(1, 4)], 4, None),
        ([(1, 0)] * 9, 9, None),
        ([], 4, None),
    ],
)
def test_jobs_that_fit_into_the_cores_and_not_onto_two_gpus(tmp_path, monkeypatch, jobs, cores, said):
    use_machine(tmp_path, monkeypatch)
    found = unlimited_gpus(jobs, cores)
    if said is None:
        assert found is None
    else:
        assert found is not None and found.startswith(said) and "add --resources gpu=2, or" in found


def test_without_nvidia_smi_nobody_knows_whether_two_jobs_fit(tmp_path, monkeypatch):
    use_machine(tmp_path, monkeypatch)
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    assert "add --resources gpu=N, or" in str(unlimited_gpus([(1, 1)] * 2, 2))


def test_snakemake_warns_at_its_start_unless_it_is_told(tmp_path: Path, python: Path, monkeypatch) -> None:
    checkout = Checkout(tmp_path / "benchc", "config/demo.yaml")
    checkout.python = python
    use_machine(tmp_path, monkeypatch)
    catalogue = checkout.folder / "config/demo-models.yaml"
    models = yaml.safe_load(catalogue.read_text())
    for model in MODELS:
        models[model]["gpus"] = 1
    catalogue.write_text(yaml.safe_dump(models))
    checkout.configure(inference={"workers": 0})
    targets = [f"results/demo/predictions/pool/{model}/all.parquet" for model in MODELS[:1]]
    targets += [f"results/demo/predictions/selected/{model}/all.parquet" for model in MODELS[1:]]
    for name in checkout.snakemake("--summary", *targets).stdout.splitlines():
        if name.startswith("results/"):
            path = checkout.folder / name.split("\t")[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    touched = checkout.snakemake("--touch", "--forceall", "--cores", "3", *targets)
    # The jobs fail at once, as the pool is empty.
    again = ["--cores", "3", "--allowed-rules", "infer", "--forcerun", "infer"]
    plain = checkout.snakemake(*again, "--", *targets, check=False).stdout
    limited = checkout.snakemake(*again, "--resources", "gpu=2", "--", *targets, check=False).stdout
    line = "3 jobs with 3 GPUs fit into 3 cores at once, and Snakemake is not told how many GPUs there are"
    assert [line in text for text in (touched.stdout, plain, limited)] == [False, True, False]
    assert plain.index(line) < plain.index("Error in rule infer") and "Error in rule infer" in limited
