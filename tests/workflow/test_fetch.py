"""A run downloads its models once, at one commit, and its inference jobs without a network load them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.models.hub_server import FIRST, SECOND, Hub, Repository, serving
from tests.workflow.checkout import Checkout
from tests.workflow.conftest import small_checkout

REPO = "owner/tiny"
TARGET = "results/small/predictions/pool/letters/all.parquet"
RECORD = "results/small/revisions/letters.json"


@pytest.fixture
def hub(checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub with the model ``letters``, for new processes, whose cache is empty."""
    with serving() as hub:
        hub.repositories[REPO] = Repository()
        hub.repositories[REPO].add(checkpoints / "letters", FIRST)
        for name in ("HF_TOKEN", "HF_HUB_OFFLINE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
        yield hub


@pytest.fixture
def checkout(checkpoints: Path, tmp_path: Path, python: Path) -> Checkout:
    """The small run, in which the model ``letters`` is on the hub; its jobs read the hub's address.

    The python that starts faster has read another one, and so only plans, and makes what needs no hub.
    """
    found = small_checkout(tmp_path / "benchc", checkpoints)
    found.python, found.python_of_jobs = python, Path(sys.executable)
    found.configure(corruptions={"corrupted": "on_the_fly", "types": ["gaussian_blur"]}, sources=["shapes"])
    set_model(found, repo=REPO)
    return found


@pytest.fixture
def planner(checkout: Checkout, python: Path) -> Checkout:
    """The same checkout, with jobs that do not read the hub's address."""
    return Checkout.existing(checkout.folder, checkout.config, python)


def set_model(checkout: Checkout, **entry: str) -> None:
    path = checkout.folder / "config/small-models.yaml"
    models = yaml.safe_load(path.read_text())
    models["letters"] = {"label": "Letters", "family": "llava", "scoring": "letter", **entry}
    path.write_text(yaml.safe_dump(models))


def write_record(planner: Checkout) -> Path:
    """Write the record of a fetched model, as that of a run that was made elsewhere."""
    record = planner.folder / RECORD
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps({"repo": REPO, "revision": None, "commit": FIRST}))
    planner.make("--touch", "--forceall", "fetch_models")
    return record


def test_models_are_fetched_once_and_loaded_without_a_network(
    hub: Hub, checkout: Checkout, planner: Checkout, checkpoints
) -> None:
    checkout.make("fetch_models")
    record = checkout.folder / RECORD
    assert json.loads(record.read_text()) == {"repo": REPO, "revision": None, "commit": FIRST}
    assert "model.safetensors" in hub.downloaded()
    # From now on nobody is to ask the server.
    hub.requests.clear()
    planner.make("pool")
    checkout.make(TARGET)
    assert hub.requests == []
    assert len(pl.read_parquet(checkout.folder / TARGET)) > 0
    # The branch moves: a fetched run stays at its commit, also where the rule runs again.
    hub.repositories[REPO].add(checkpoints / "letters", SECOND)
    assert planner.plan(TARGET) == {}
    checkout.make("--forcerun", "fetch_model", "--", "fetch_models")
    assert json.loads(record.read_text())["commit"] == FIRST and hub.requests == []
    # To pin the model to this commit is no change, to pin it to another is one.
    set_model(checkout, repo=REPO, revision=FIRST)
    assert planner.plan(TARGET) == {}
    set_model(checkout, repo=REPO, revision=SECOND)
    assert planner.plan(TARGET) == {"fetch_model": 1, "infer": 1}
    # The commit of another repository is asked for, not its default branch.
    set_model(checkout, repo="owner/renamed", revision=FIRST)
    shown = planner.snakemake("-n", "-p", "fetch_models").stdout
    assert f"--repo=owner/renamed --revision={FIRST}" in shown


def test_an_inference_job_says_what_fetches_absent_weights(
    hub: Hub, checkout: Checkout, planner: Checkout
) -> None:
    write_record(planner)
    planner.make("pool")
    result = checkout.snakemake("--cores", "1", "--show-failed-logs", TARGET, check=False)
    assert result.returncode != 0
    assert f"shares this folder, run: benchc models fetch {REPO}@{FIRST}" in result.stdout
    assert hub.requests == []


def test_a_gated_model_stops_the_run_before_anything_is_computed(
    hub: Hub, checkout: Checkout, planner: Checkout
) -> None:
    hub.repositories[REPO].gated = True
    error = f"error: {REPO}: is gated: accept its licence on https://huggingface.co/{REPO}"
    result = checkout.snakemake("--cores", "1", "--show-failed-logs", TARGET, check=False)
    assert result.returncode != 0 and error in result.stdout
    assert not (checkout.folder / "results/small/pool").exists()
    # A failure does not lose the commit that a run has recorded.
    record = write_record(planner)
    forced = ("--cores", "1", "--forcerun", "fetch_model", "--", "fetch_models")
    assert error in checkout.snakemake(*forced, check=False).stdout
    assert json.loads(record.read_text())["commit"] == FIRST
