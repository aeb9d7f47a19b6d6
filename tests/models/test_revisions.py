"""A model on the Hub is loaded at one commit, here from a cache on disk without a network."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import huggingface_hub
import pytest

from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models.asking import AskedModel, Job
from benchc.models.folder import deciding_files, folder_digest
from benchc.models.job import checkpoint_source
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision, revision_text
from tests.models.conftest import FAMILIES
from tests.stages import call_stage, run_stage

REPO = "owner/tiny"
FIRST, SECOND = "1" * 40, "2" * 40


class HubCache:
    """The Hub's cache of one model: files as blobs, links to them by commit, and a commit by branch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "models--owner--tiny"

    def add(self, checkpoint: Path, commit: str, branch: str = "main") -> None:
        snapshot = self.folder / "snapshots" / commit
        snapshot.mkdir(parents=True)
        (self.folder / "blobs").mkdir(exist_ok=True)
        for path in checkpoint.iterdir():
            blob = self.folder / "blobs" / f"{commit[0]}-{path.name}"
            shutil.copy(path, blob)
            (snapshot / path.name).symlink_to(blob)
        self.move(branch, commit)

    def move(self, branch: str, commit: str) -> None:
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


def test_the_hub_is_asked_for_a_branch_before_its_cache_and_for_no_commit(hub, checkpoints, monkeypatch):
    imported: list[str] = []
    load = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", lambda *name: imported.append(name[0]) or load(*name))
    assert commit_of(REPO, FIRST) == FIRST
    with pytest.raises(ModelError, match=r"^owner/tiny: the commit of its default branch cannot be found"):
        commit_of(REPO, None)
    with pytest.raises(ModelError, match=r"revision 'v2' cannot be found .*; check the id") as caught:
        commit_of(REPO, "v2")
    assert "\n" not in str(caught.value)

    # What limits the time of requests is loaded before the first.
    limiting = "benchc.models.hub.errors"
    assert limiting not in imported

    # The Hub is asked before its cache.
    def info(self: object, **options: object) -> SimpleNamespace:
        assert limiting in imported
        if (options["repo_id"], options["revision"]) == (REPO, None):
            return SimpleNamespace(sha=SECOND)
        raise httpx2.ConnectError("no network")

    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", info)
    hub.add(checkpoints["llava"], FIRST)
    hub.move("v1", FIRST)
    assert commit_of(REPO, None) == SECOND
    assert commit_of(REPO, "v1") == FIRST


def test_a_model_that_cannot_be_downloaded_is_one_line(hub, monkeypatch):
    with pytest.raises(ModelError, match=r"owner/tiny: cannot be loaded .*couldn't connect"):
        load_scorer("llava", "letter", CheckpointSource(REPO, FIRST))

    def denied(*arguments: object, **options: object) -> None:
        raise OSError("You are trying to access a gated repo.\nMake sure to have access to it")

    monkeypatch.setattr(transformers.utils, "cached_file", denied)
    sentence = r"cannot be loaded \(You are .* a gated repo. Make sure .*\); check"
    with pytest.raises(ModelError, match=sentence) as caught:
        load_scorer("llava", "letter", CheckpointSource(REPO, FIRST))
    assert "\n" not in str(caught.value)


def test_a_folder_is_not_loaded_in_place_of_a_revision(checkpoints, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(checkpoints["llava"], tmp_path / REPO)
    with pytest.raises(ModelError, match=f"owner/tiny: is a folder, .*instead of the revision '{FIRST}'"):
        load_scorer("llava", "letter", CheckpointSource(REPO, FIRST))


@pytest.mark.parametrize("revision", [None, "main"])
def test_only_the_code_of_a_commit_can_be_trusted(hub, checkpoints, tmp_path, monkeypatch, revision):
    hub.add(checkpoints["llava"], FIRST)
    with pytest.raises(ModelError, match=r"its code can be trusted only at a commit, not at (main|the def)"):
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


def test_the_script_keeps_the_commit_of_a_branch_that_moves(hub, checkpoints, tmp_path):
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


def test_the_command_works_offline_in_a_process_of_its_own(checkpoints, tmp_path, monkeypatch):
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
    assert not source().trust_remote_code and source(trust_remote_code=True).trust_remote_code
    with pytest.raises(InputError, match="the family 'lava' is no model type of transformers"):
        checkpoint_source(AskedModel(label="tiny", location=REPO, family="lava"), Job(), None)


ROOT = Path(__file__).resolve().parents[2]
IGNORED = (
    *("README.md", "LICENSE.txt", ".gitattributes", ".cache/huggingface/config.json", ".hidden/config.json"),
    *("plot.png", "modeling.py", "examples/config.json", "consolidated.safetensors", "model.gguf"),
    *("pytorch_model.bin", "pytorch_model.bin.index.json", "model-00001-of-00002.safetensors"),
    "onnx/model.onnx",
)
DECIDING = (
    *("vocab.json", "merges.txt", "tokenizer.model", "source.spm", "adapter_model.safetensors"),
    *("chat_template.json", "preprocessor_config.json", "additional_chat_templates/tools.jinja"),
)


def write(folder: Path, name: str, content: str = "x") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


@pytest.mark.parametrize("family", FAMILIES)
def test_all_files_of_a_saved_model_decide(checkpoints: dict[str, Path], family: str) -> None:
    assert deciding_files(checkpoints[family]) == sorted(checkpoints[family].iterdir())


def test_a_new_file_that_is_loaded_is_another_model_and_no_other_is(folder: Path) -> None:
    before = folder_digest(folder)
    for name in IGNORED:
        write(folder, name)
        assert folder_digest(folder) == before, name
    for name in DECIDING:
        write(folder, name)
        after, before = before, folder_digest(folder)
        assert after != before, name


def test_every_byte_and_name_of_a_deciding_file_counts(folder: Path) -> None:
    digests = {folder_digest(folder)}
    paths = deciding_files(folder)
    for path in paths:
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        digests.add(folder_digest(folder))
        path.write_bytes(content)
    (folder / "chat_template.jinja").rename(folder / "another.jinja")
    digests.add(folder_digest(folder))
    assert len(digests) == len(paths) + 2


def test_code_decides_only_where_it_is_run(folder: Path) -> None:
    plain, with_code = folder_digest(folder), folder_digest(folder, remote_code=True)
    assert plain == with_code
    write(folder, "modeling.py")
    write(folder, "layers/attention.py")
    assert folder_digest(folder) == plain
    names = {path.name for path in deciding_files(folder, remote_code=True)}
    assert {"modeling.py", "attention.py"} <= names


@pytest.mark.parametrize("name", ["modeling.py", "layers/attention.py", "consolidated.safetensors", "a.gguf"])
def test_a_server_may_load_code_and_other_weights(folder: Path, name: str) -> None:
    plain, on_server = folder_digest(folder), folder_digest(folder, on_server=True)
    assert plain == on_server
    write(folder, name)
    assert folder_digest(folder) == plain != folder_digest(folder, on_server=True)


def test_all_shards_of_the_loaded_format_count(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    shards = {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"}
    write(folder, "model.safetensors.index.json", json.dumps({"weight_map": shards}))
    for name in ("model-1.safetensors", "model-2.safetensors", "model-3.safetensors", "pytorch_model.bin"):
        write(folder, name)
    names = {path.name for path in deciding_files(folder)}
    weights = {name for name in names if name.startswith(("model", "pytorch"))}
    assert weights == {"model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"}


def test_older_and_named_weights_count(folder: Path) -> None:
    write(folder, "pytorch_model.bin")
    (folder / "model.safetensors").rename(folder / "own.safetensors")
    assert "pytorch_model.bin" in {path.name for path in deciding_files(folder)}
    write(folder, "config.json", json.dumps({"transformers_weights": "own.safetensors"}))
    names = {path.name for path in deciding_files(folder)}
    assert "own.safetensors" in names and "pytorch_model.bin" not in names


@pytest.mark.parametrize("content", ["{", "[1]", '{"weight_map": [1]}'])
def test_a_damaged_index_is_left_to_the_loading(folder: Path, content: str) -> None:
    (folder / "model.safetensors").unlink()
    write(folder, "model.safetensors.index.json", content)
    assert folder / "model.safetensors.index.json" in deciding_files(folder)


@pytest.mark.parametrize(
    "outside",
    # The last is longer than the name of any file.
    ["../outside.safetensors", "a/../../outside.safetensors", "{absolute}", pytest.param("x" * 300, id="x")],
)
def test_weights_outside_the_folder_are_left_to_the_loading(folder: Path, outside: str) -> None:
    named = outside.format(absolute=folder.parent / "outside.safetensors")
    (folder / "model.safetensors").rename(folder.parent / "outside.safetensors")
    (folder / "a").mkdir()
    settings = set(deciding_files(folder))
    write(folder, "inside.safetensors")
    index = {"weight_map": {"a": named, "b": "inside.safetensors"}}
    write(folder, "model.safetensors.index.json", json.dumps(index))
    more = {folder / "model.safetensors.index.json", folder / "inside.safetensors"}
    assert set(deciding_files(folder)) == settings | more
    write(folder, "config.json", json.dumps({"transformers_weights": named}))
    assert set(deciding_files(folder)) == settings


def test_the_identity_does_not_depend_on_how_the_path_is_written(folder, monkeypatch):
    expected = load_scorer("llava", "letter", CheckpointSource(str(folder))).identity()
    write(folder, "README.md")
    monkeypatch.chdir(folder)
    for path in (".", "../model", f"{folder}/", os.path.relpath(folder)):
        assert load_scorer("llava", "letter", CheckpointSource(path)).identity() == expected


def test_rules_that_import_the_module_need_no_torch() -> None:
    code = "import sys, benchc.models.folder, benchc.schemas.revision; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True, check=True)
    assert {"torch", "transformers", "numpy", "huggingface_hub"}.isdisjoint(done.stdout.split())
