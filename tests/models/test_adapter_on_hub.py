"""Adapters on the Hub are fetched before a run, at one commit, and loaded without a network."""

import json
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import yaml

from benchc.checking.finding import Finding
from benchc.checking.locate import locate
from benchc.errors import InputError
from benchc.models import checkpoint
from benchc.models.asking import AskedModel, Job
from benchc.models.hub.fetch import fetch, fetch_adapter
from benchc.models.job import checkpoint_source
from benchc.models.protocol import CheckpointSource, ModelError
from tests.models.hub_fixtures import served  # noqa: F401
from tests.models.hub_server import FIRST, SECOND, Hub, Repository
from tests.models.test_adapter import base_model, entry_of, loaded, matrices, same_weights, write_adapter
from tests.models.test_models_command import REPO, Command, command, hub, rows  # noqa: F401
from tests.stages import call_stage

LORA, BOTH = "owner/lora", "owner/both"
ENTRIES: dict[str, dict[str, Any]] = {
    "adapted": {"repo": REPO, "adapter": LORA},
    "folder-adapted": {"path": "checkpoint", "adapter": LORA, "adapter_revision": FIRST},
}


@pytest.fixture
def lora(hub: Hub, checkpoints: dict[str, Path], tmp_path: Path) -> Path:  # noqa: F811
    """Add an adapter, and a model with an adapter beside it, to the hub; return the adapter's folder."""
    pairs = matrices(base_model(checkpoints["llava"]))
    # With a file of its training that is not read.
    folder = write_adapter(tmp_path / "lora", pairs, base_model_name_or_path=REPO)
    hub.repositories[LORA] = Repository()
    hub.repositories[LORA].add(folder, FIRST, **{"README.md": b"# Mine", "optimizer.pt": b"0"})
    both = {path.name: path.read_bytes() for path in checkpoints["llava"].iterdir()}
    hub.repositories[BOTH] = Repository()
    hub.repositories[BOTH].add(
        write_adapter(tmp_path / "other", pairs, base_model_name_or_path="owner/absent"), FIRST, **both
    )
    catalogue = yaml.safe_load(Path("models.yaml").read_text())
    catalogue |= {id_: {"label": id_, "scoring": "letter", **keys} for id_, keys in ENTRIES.items()}
    Path("models.yaml").write_text(yaml.safe_dump(catalogue, sort_keys=False))
    return folder


def test_an_adapter_is_fetched_with_its_model(lora: Path, command: Command, hub: Hub) -> None:  # noqa: F811
    before = rows(command("list")[1])
    assert before["adapted"][2] == "transformers + adapter" and before["adapted"][-2] == "no"
    assert before["folder-adapted"][-2] == "adapter: no"
    shown = " ".join(command("show", "folder-adapted")[1].split())
    assert f"to fetch its adapter benchc models fetch {LORA}@{FIRST} --adapter" in shown
    status, _, err = command("check", "folder-adapted")
    assert status == 1 and err.endswith(f"run: benchc models fetch {LORA}@{FIRST} --adapter")
    status, out, _ = command("fetch", "adapted", "folder-adapted")
    first, second, third, fourth = out.splitlines()
    assert status == 0 and first.startswith(f"{REPO}@{FIRST}: ") and second.startswith(f"{LORA}@{FIRST}: ")
    assert third == "folder-adapted: is the folder checkpoint, nothing to download"
    assert fourth.startswith(f"{LORA}@{FIRST}: was here already")
    assert hub.downloaded()[-2:] == ["adapter_config.json", "adapter_model.safetensors"]
    hub.requests.clear()
    after = rows(command("list")[1])
    assert after["adapted"][-2] == after["folder-adapted"][-2] == "yes"
    assert [line.partition(":")[0] for line in command("check", "adapted")[1].splitlines()][1] == "ok"
    assert hub.requests == []


def test_a_check_says_that_an_adapter_is_fetched(lora: Path, hub: Hub) -> None:  # noqa: F811
    found = locate("m", entry_of(path="checkpoint", adapter=LORA), None)
    assert isinstance(found, Finding) and found.level == "fetch"
    assert found.text.startswith("its adapter, ") and found.text.endswith(f" from the Hub: {LORA}")
    hub.repositories[LORA].commits[FIRST].pop("adapter_config.json")
    with pytest.raises(InputError, match=f"{LORA}: has no file adapter_config.json at the commit {FIRST}"):
        fetch_adapter(LORA, FIRST)


def test_an_adapter_is_fetched_by_its_id(lora: Path, command: Command) -> None:  # noqa: F811
    status, _, err = command("fetch", f"{LORA}@{FIRST}")
    assert status == 1 and f"{LORA}: is an adapter (adapter_config.json), not a model; in the mode" in err
    assert f"base model ('{REPO}'), and `adapter: {LORA}`" in err
    assert command("fetch", f"{LORA}@{FIRST}", "--adapter")[0] == 0
    status, _, err = command("fetch", f"{REPO}@{FIRST}", "--adapter")
    assert status == 1 and f"{REPO}: has no file adapter_config.json at the commit {FIRST}" in err


def test_an_adapter_is_pinned_with_its_model(lora: Path, command: Command) -> None:  # noqa: F811
    assert command("pin", "adapted", "folder-adapted")[1].splitlines() == [
        f"adapted: its adapter: null -> {FIRST}, in models.yaml",
        f"adapted: null -> {FIRST}, in models.yaml",
        f"folder-adapted: its adapter: is pinned to {FIRST}",
    ]
    entry = yaml.safe_load(Path("models.yaml").read_text())["adapted"]
    assert (entry["revision"], entry["adapter_revision"]) == (FIRST, FIRST)


def test_a_job_loads_the_commit_that_was_recorded(
    lora: Path,
    hub: Hub,  # noqa: F811
    checkpoints: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = Path("results/run/revisions/adapters/m.json")
    call_stage("fetch_model", repo=LORA, adapter=True, output=record)
    assert json.loads(record.read_text()) == {"repo": LORA, "revision": None, "commit": FIRST}
    hub.repositories[LORA].add(lora, SECOND)
    hub.requests.clear()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    asked = AskedModel(label="m", location=str(checkpoints["llava"]), adapter=LORA)
    source = checkpoint_source(asked, Job(adapter_file=record), None)
    assert (source.adapter, source.adapter_revision) == (LORA, FIRST)
    found = checkpoint.load(source)
    assert (found.identity["adapter"], found.identity["adapter_revision"]) == (LORA, FIRST)
    assert same_weights(
        loaded(checkpoints["llava"], LORA, adapter_revision=FIRST), loaded(checkpoints["llava"], lora)
    )
    assert hub.requests == []
    with pytest.raises(ModelError, match=f"benchc models fetch {LORA}@{SECOND} --adapter"):
        checkpoint.load(CheckpointSource(str(checkpoints["llava"]), adapter=LORA, adapter_revision=SECOND))
    with pytest.raises(InputError, match=f"is the revision of {LORA}, not of owner/other"):
        checkpoint_source(
            AskedModel(label="m", location="a", adapter="owner/other"), Job(adapter_file=record), None
        )


def test_a_repository_with_both_is_what_the_entry_says(
    lora: Path, checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(BOTH, FIRST)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=f"set `adapter: {BOTH}` for the model with this adapter, or `ada"):
        checkpoint.load(CheckpointSource(BOTH, FIRST))
    # Not the base that the adapter names.
    alone = loaded(Path(BOTH), "none", revision=FIRST)
    assert same_weights(alone, loaded(checkpoints["llava"]))
    adapted = loaded(Path(BOTH), BOTH, revision=FIRST, adapter_revision=FIRST)
    assert same_weights(adapted, loaded(checkpoints["llava"], lora))
