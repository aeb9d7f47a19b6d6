"""A model on the Hub is loaded at one commit, here from a cache on disk without a network."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import huggingface_hub
import pytest

from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models.asking import AskedModel, Job
from benchc.models.job import checkpoint_source
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision, revision_text
from tests.stages import call_stage, run_stage

REPO = "owner/tiny"
FIRST, SECOND = "1" * 40, "2" * 40


class HubCache:
    """The Hub's cache of one model: files as blobs, links to them by commit, and a commit by branch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "models--owner--tiny"

    def add(self, checkpoint: Path, commit: str, branch: str = "main") -> None:
        """Add a checkpoint as a commit, and move the branch to it."""
        snapshot = self.folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (self.folder / "blobs").mkdir(exist_ok=True)
        for path in checkpoint.iterdir():
            blob = self.folder / "blobs" / f"{commit[0]}-{path.name}"
            shutil.copy(path, blob)
            (snapshot / path.name).symlink_to(blob)
        self.move(branch, commit)

    def move(self, branch: str, commit: str) -> None:
        """Let the branch be at the commit."""
        (self.folder / "refs").mkdir(exist_ok=True)
        (self.folder / "refs" / branch).write_text(commit)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HubCache:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return HubCache(tmp_path / "hub")


def test_a_moved_branch_is_a_new_commit_and_a_new_key(hub: HubCache, checkpoints: dict[str, Path]) -> None:
    hub.add(checkpoints["llava"], FIRST)
    first = load_scorer("llava", "letter", CheckpointSource(REPO, family="llava")).identity()
    assert first["model"] == REPO
    assert first["revision"] == FIRST
    hub.add(checkpoints["llava"], SECOND)
    second = load_scorer("llava", "letter", CheckpointSource(REPO)).identity()
    # The identity is what the cache's key is made of.
    assert second == {**first, "revision": SECOND}
    pinned = load_scorer("llava", "letter", CheckpointSource(REPO, FIRST)).identity()
    assert pinned == first


def test_a_commit_needs_no_lookup_and_an_unknown_branch_is_one_line(hub: HubCache) -> None:
    assert commit_of(REPO, FIRST) == FIRST
    with pytest.raises(ModelError, match=r"^owner/tiny: the commit of its default branch cannot be found"):
        commit_of(REPO, None)
    with pytest.raises(ModelError, match=r"revision 'v2' cannot be found .*; check the id") as caught:
        commit_of(REPO, "v2")
    assert "\n" not in str(caught.value)


def test_the_hub_is_asked_before_its_cache(
    hub: HubCache, checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def info(self: object, **options: object) -> SimpleNamespace:
        if (options["repo_id"], options["revision"]) == (REPO, None):
            return SimpleNamespace(sha=SECOND)
        raise httpx2.ConnectError("no network")

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", info)
    hub.add(checkpoints["llava"], FIRST)
    hub.move("v1", FIRST)
    assert commit_of(REPO, None) == SECOND
    assert commit_of(REPO, "v1") == FIRST


def test_a_model_that_cannot_be_downloaded_is_one_line(
    hub: HubCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match=r"owner/tiny: cannot be loaded .*couldn't connect"):
        load_scorer("llava", "letter", CheckpointSource(REPO, FIRST))

    def denied(*arguments: object, **options: object) -> None:
        raise OSError("You are trying to access a gated repo.\nMake sure to have access to it")

    monkeypatch.setattr(transformers.utils, "cached_file", denied)
    with pytest.raises(
        ModelError, match=r"cannot be loaded \(You are .* a gated repo. Make sure .*\); check"
    ) as caught:
        load_scorer("llava", "letter", CheckpointSource(REPO, FIRST))
    assert "\n" not in str(caught.value)


def test_a_folder_is_not_loaded_in_place_of_a_revision(
    checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(checkpoints["llava"], tmp_path / REPO)
    with pytest.raises(ModelError, match=f"owner/tiny: is a folder, .*instead of the revision '{FIRST}'"):
        load_scorer("llava", "letter", CheckpointSource(REPO, FIRST))


@pytest.mark.parametrize("revision", [None, "main"])
def test_only_the_code_of_a_commit_can_be_trusted(
    hub: HubCache,
    checkpoints: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    revision: str | None,
) -> None:
    hub.add(checkpoints["llava"], FIRST)
    with pytest.raises(
        ModelError, match=r"its code can be trusted only at a commit, not at (main|the default branch), which"
    ):
        load_scorer("llava", "letter", CheckpointSource(REPO, revision, trust_remote_code=True))
    # The Hub's configurations often name their own repository.
    config = hub.folder / "snapshots" / FIRST / "config.json"
    content = json.loads(config.read_text()) | {"auto_map": {"AutoConfig": f"{REPO}--own.OwnConfig"}}
    config.write_text(json.dumps(content))
    (config.parent / "own.py").write_text("from transformers import LlavaConfig as OwnConfig\n")
    # Set for classes of code that was run, and then for all later checkpoints that are saved.
    monkeypatch.setattr(transformers.LlavaConfig, "_auto_class", None)
    pinned = load_scorer("llava", "letter", CheckpointSource(REPO, FIRST, trust_remote_code=True)).identity()
    assert (pinned["revision"], pinned["trust_remote_code"]) == (FIRST, "True")


def test_the_script_keeps_the_commit_of_a_branch_that_moves(
    hub: HubCache, checkpoints: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "revisions" / "tiny.json"

    def fetched(revision: str) -> dict[str, str]:
        call_stage("fetch_model", repo=REPO, revision=revision, output=path)
        found: dict[str, str] = json.loads(path.read_text())
        return found

    hub.add(checkpoints["llava"], FIRST, branch="v1")
    first = {"repo": REPO, "revision": "v1", "commit": FIRST}
    assert fetched("v1") == first
    hub.add(checkpoints["llava"], SECOND, branch="v1")
    assert fetched("v1") == first
    # To pin what was fetched is no other model.
    assert fetched(FIRST) == first
    assert fetched(SECOND)["commit"] == SECOND
    # Another repository with the same commit of a branch is another model.
    path.write_text(revision_text(Revision("other/tiny", "v1", FIRST)))
    assert fetched("v1") == {"repo": REPO, "revision": "v1", "commit": SECOND}
    path.unlink()
    assert fetched("v1")["commit"] == SECOND
    path.write_text("{}")
    with pytest.raises(InputError, match=r"tiny.json: does not contain a model's repo, revision and commit"):
        fetched("v1")


def test_the_command_works_offline_in_a_process_of_its_own(
    checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    HubCache(tmp_path).add(checkpoints["llava"], FIRST)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    output = tmp_path / "tiny.json"
    done = run_stage("fetch_model", repo=REPO, output=output)
    folder = HubCache(tmp_path).folder / "snapshots" / FIRST
    assert (done.returncode, done.stderr) == (0, f"{REPO}@{FIRST}: was here already, {folder}\n")
    assert json.loads(output.read_text())["commit"] == FIRST


def test_a_job_takes_the_recorded_commit(tmp_path: Path) -> None:
    def source(file: Path | None = None, **options: Any) -> CheckpointSource:
        asked = AskedModel(label="tiny", location=REPO, family="llava", **options)
        return checkpoint_source(asked, Job(gpus=2), file)

    path = tmp_path / "tiny.json"
    path.write_text(revision_text(Revision(REPO, "main", FIRST)))
    assert source(path).revision == FIRST
    # Of a rule that has no such file.
    assert source(revision=SECOND).revision == SECOND
    assert (source().family, source().gpus) == ("llava", 2)
    assert [source(**options).trust_remote_code for options in ({}, {"trust_remote_code": True})] == [
        False,
        True,
    ]
    with pytest.raises(InputError, match="the family 'lava' is no model type of transformers"):
        checkpoint_source(AskedModel(label="tiny", location=REPO, family="lava"), Job(), None)
