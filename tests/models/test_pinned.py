"""Which commit of a model and of its adapter is loaded, and what is in the identity of its predictions."""

import os
from pathlib import Path
from typing import Any

import pytest
import torch

from benchc.models import pinned
from benchc.models.pinned import checkpoint_facts, file_times, pinned_adapter, pinned_commit
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.snapshot import snapshot_folder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A model in a folder; a branch of one on the Hub is at COMMIT."""
    monkeypatch.setattr(pinned, "commit_of", lambda repo, revision: COMMIT)
    for name, text in (("config.json", "{}"), ("model.safetensors", "w"), ("own.py", ""), ("notes.txt", "")):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("revision", "trusted", "sentence"),
    [
        (None, False, None),
        ("main", False, None),
        (COMMIT, True, None),
        (
            "main",
            True,
            "^o/m: its code can be trusted only at a commit, not at main, which may move; give",
        ),
        (
            None,
            True,
            "^o/m: its code can be trusted only at a commit, not at the default branch, which",
        ),
    ],
)
def test_code_is_trusted_at_a_commit_alone(folder, revision, trusted, sentence):
    source = CheckpointSource("o/m", revision, trust_remote_code=trusted)
    if sentence is None:
        assert pinned_commit(source) == COMMIT
        return
    with pytest.raises(ModelError, match=sentence):
        pinned_commit(source)


def test_a_folder_has_no_revision(folder):
    assert pinned_commit(CheckpointSource(str(folder), trust_remote_code=True)) is None
    with pytest.raises(
        ModelError, match=r"is a folder, which would be loaded instead of the revision 'main'"
    ):
        pinned_commit(CheckpointSource(str(folder), "main"))


def test_an_adapter_is_of_a_commit_or_a_folder(folder):
    assert pinned_adapter(CheckpointSource("o/m")) is None
    assert pinned_adapter(CheckpointSource("o/m", adapter="none")) is None
    assert pinned_adapter(CheckpointSource("o/m", adapter=str(folder))) == (folder, None)
    # It has no code that must be trusted at a commit, and a revision of its own.
    source = CheckpointSource("o/m", "main", adapter="o/lora", trust_remote_code=True)
    assert pinned_adapter(source) == (snapshot_folder("o/lora", COMMIT), COMMIT)
    with pytest.raises(ModelError, match=r"instead of the revision 'v2' of"):
        pinned_adapter(CheckpointSource("o/m", "main", adapter=str(folder), adapter_revision="v2"))


def test_the_facts_are_those_of_the_hub_or_of_the_files(folder, monkeypatch):
    source = CheckpointSource("o/m", "main")
    plain = {"model": "o/m", "revision": COMMIT, "trust_remote_code": "False"}
    assert checkpoint_facts(source, COMMIT) == {**plain, "dtype": "float32", "device": "cpu"}
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Card")
    assert checkpoint_facts(CheckpointSource("o/m", device="cuda"), COMMIT)["device"] == "Card"

    def facts(**options: Any) -> dict[str, str]:
        return checkpoint_facts(CheckpointSource(f"{folder}/../{folder.name}", **options), None)

    first = facts()
    assert first["model"] == folder.name and first == facts()
    # The code counts where it runs.
    assert first["revision"] != facts(trust_remote_code=True)["revision"]
    (folder / "own.py").write_text("A = 1")
    assert facts() == first
    (folder / "config.json").write_text("{ }")
    assert facts()["revision"] != first["revision"]


def test_a_change_of_a_file_that_decides_is_seen_by_its_time_or_size(folder):
    def names(**options: Any) -> list[str]:
        return sorted(Path(name).name for name, _, _ in file_times(CheckpointSource(str(folder), **options)))

    assert names() == ["config.json", "model.safetensors"]
    assert "own.py" in names(trust_remote_code=True)
    adapter = folder / "lora"
    adapter.mkdir()
    read = ["adapter_config.json", "adapter_model.safetensors"]
    # Of two formats, peft loads the first.
    for name in (*read, "adapter_model.bin"):
        (adapter / name).write_text("{}")
    assert set(names(adapter=str(adapter))) == {*read, *names()}
    (adapter / "adapter_config.json").unlink()
    assert set(names(adapter=str(adapter))) == {read[1], *names()}
    found = [file_times(CheckpointSource(str(folder)))]
    os.utime(folder / "config.json", ns=(0, 1))
    found.append(file_times(CheckpointSource(str(folder))))
    (folder / "config.json").write_text("{  }")
    os.utime(folder / "config.json", ns=(0, 1))
    found.append(file_times(CheckpointSource(str(folder))))
    assert found[0] != found[1] != found[2]
