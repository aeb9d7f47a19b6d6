"""Models are downloaded from the Hub, here from a server of the test, and loaded without a network."""

import errno
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import numpy as np
import pytest

from benchc.models.hub import fetch as hub_fetch
from benchc.models.hub.cached import cached, require_cached
from benchc.models.hub.errors import hub_errors
from benchc.models.hub.fetch import fetch, fetch_also, fetch_first
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code_families import SETTINGS_OF
from benchc.models.revisions import commit_of
from tests.models.conftest import QUESTIONS
from tests.models.hub_fixtures import served  # noqa: F401
from tests.models.hub_server import FIRST, SECOND, TOKEN, Hub, Repository

REPO = "owner/tiny"


@pytest.fixture
def hub(served: Hub, checkpoints: dict[str, Path]) -> Hub:  # noqa: F811
    """A hub with one model."""
    served.repositories[REPO] = repository = Repository()
    repository.add(
        checkpoints["llava"],
        FIRST,
        **{
            "README.md": b"about",
            "pytorch_model.bin": b"the same weights",
            "model.gguf": b"the same weights",
            "onnx/model.onnx": b"the same weights",
            "original/config.json": b"{}",
        },
    )
    return served


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def fails(block: Callable[[], object]) -> str:
    """Return the message, of one line, of the error that a block raises."""
    with pytest.raises(ModelError) as caught:
        block()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_fetched_model_is_loaded_offline(
    hub: Hub, checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cached(REPO, FIRST) is None
    fetched = fetch(REPO, FIRST)
    files = {path.name: path.stat().st_size for path in checkpoints["llava"].iterdir()}
    assert sorted(hub.downloaded()) == sorted(files)
    assert fetched.downloaded == sum(files.values())
    hub.requests.clear()
    assert fetch(REPO, FIRST).downloaded == 0 and hub.requests == []
    offline(monkeypatch)
    scorers = [
        load_scorer("llava", "letter", source)
        for source in (CheckpointSource(REPO, FIRST), CheckpointSource(str(checkpoints["llava"])))
    ]
    image = np.random.default_rng(1).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    first, second = (scorer.score(QUESTIONS[0], [[image]]).logits for scorer in scorers)
    np.testing.assert_array_equal(first, second)
    assert hub.requests == []


def test_shards_are_those_of_the_index(hub: Hub, checkpoints: dict[str, Path], tmp_path: Path) -> None:
    index = {"weight_map": {"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"}}
    parts = {name: name.encode() for name in index["weight_map"].values()}
    folder = tmp_path / "sharded"
    shutil.copytree(checkpoints["llava"], folder, ignore=shutil.ignore_patterns("model.safetensors"))
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    repository = hub.repositories[REPO]
    repository.add(folder, SECOND, **parts, **{"consolidated.safetensors": b"all of it"})
    fetch(REPO, SECOND)
    assert set(parts) <= set(hub.downloaded()) and "consolidated.safetensors" not in hub.downloaded()
    del repository.commits[SECOND]["model-2-of-2.safetensors"]
    shutil.rmtree(tmp_path / "hub")
    assert "its index names model-2-of-2.safetensors, which it does not have" in fails(
        lambda: fetch(REPO, SECOND)
    )


def test_a_cut_connection_continues_where_it_stopped(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 2**14)
    size = len(hub.repositories[REPO].commits[FIRST]["model.safetensors"])
    hub.cut["model.safetensors"] = size // 2
    fetch(REPO, FIRST)
    weights = [
        (start, path) for method, path, start in hub.requests if method == "GET" and ".safetensors" in path
    ]
    (first, _), (second, _) = weights
    assert first is None and second is not None
    assert size // 2 - 2**14 <= int(second[len("bytes=") : -1]) <= size // 2
    assert cached(REPO, FIRST) is not None


def test_an_interrupted_download_continues_with_the_missing_files(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    download = hub_fetch.snapshot_download

    def interrupted(*arguments: object, **options: object) -> object:
        if options["allow_patterns"] == ["model.safetensors"]:
            raise KeyboardInterrupt
        return download(*arguments, **options)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(hub_fetch, "snapshot_download", interrupted)
        fetch(REPO, FIRST)
    assert cached(REPO, FIRST) is None
    offline(monkeypatch)
    assert f"run: benchc models fetch {REPO}@{FIRST}" in fails(lambda: require_cached(REPO, FIRST))
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    hub.requests.clear()
    fetch(REPO, FIRST)
    assert hub.downloaded() == ["model.safetensors"]


def test_a_moved_branch_is_another_commit_and_the_old_one_stays(
    hub: Hub, checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(REPO, commit_of(REPO, None))
    hub.repositories[REPO].add(checkpoints["llava"], SECOND)
    assert commit_of(REPO, None) == SECOND
    assert cached(REPO, FIRST) is not None and cached(REPO, SECOND) is None
    offline(monkeypatch)
    require_cached(REPO, FIRST)
    # The branch is at SECOND now, which is not here.
    assert f"run: benchc models fetch {REPO}" in fails(lambda: require_cached(REPO, None))


def resolved(repo: str, revision: str | None = None) -> object:
    with hub_errors(repo, revision):
        return commit_of(repo, revision)


def test_who_is_denied_is_told_what_to_do(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repositories[REPO].gated = True
    page = f"https://huggingface.co/{REPO}"
    assert fails(lambda: fetch(REPO, FIRST)) == (
        f"{REPO}: is gated: accept its licence on {page}, then set HF_TOKEN to a token of your account"
    )
    assert f"{REPO}: has no revision 'v9'; correct `revision`" in fails(lambda: resolved(REPO, "v9"))
    assert "there is no such model on the Hub; check the id, and set HF_TOKEN if it is private" in fails(
        lambda: resolved("owner/tinny")
    )
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "the Hub refuses your token (HF_TOKEN); correct or unset it" in fails(lambda: resolved(REPO))
    assert "the Hub refuses your token" in fails(lambda: fetch(REPO, FIRST))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert "check the id, and check that your token has access" in fails(lambda: resolved("owner/tinny"))
    assert fetch(REPO, FIRST).downloaded > 0


def test_without_a_network_the_sentence_says_so(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.down = 503
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert f"{REPO}: the Hub answers 503" in fails(lambda: fetch(REPO, FIRST))
    monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", "http://127.0.0.1:9")
    assert f"{REPO}: the Hub cannot be reached (ConnectError" in fails(lambda: resolved(REPO))
    offline(monkeypatch)
    for block in (lambda: fetch(REPO, FIRST), lambda: require_cached(REPO, FIRST)):
        text = fails(block)
        assert f"its revision {FIRST} is not in the Hub's cache on this machine (" in text
        assert text.endswith(f"shares this folder, run: benchc models fetch {REPO}@{FIRST}")
    assert fails(lambda: resolved(REPO)).endswith(f"run: benchc models fetch {REPO}")


def test_a_full_disk_is_one_sentence(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(hub_fetch.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
        text = fails(lambda: fetch(REPO, FIRST))
        assert (
            f"{REPO}: needs 0.0 GB more, but " in text and "set HF_HOME to a folder on another disk" in text
        )

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(hub_fetch, "snapshot_download", full)
    assert "is full; free space, or set HF_HOME" in fails(lambda: fetch(REPO, FIRST))


def test_a_file_of_several_is_fetched(hub: Hub) -> None:
    assert fetch_first(REPO, FIRST, ["weights.safetensors", "pytorch_model.bin"]).downloaded > 0
    assert hub.downloaded() == ["pytorch_model.bin"]
    hub.requests.clear()
    assert fetch_first(REPO, FIRST, ["pytorch_model.bin"]).downloaded == 0 and hub.requests == []
    assert "has no file a.pt or b.pt at the commit" in fails(
        lambda: fetch_first(REPO, FIRST, ["a.pt", "b.pt"])
    )


def test_a_snapshot_that_a_person_copied_needs_no_network(
    hub: Hub, checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offline(monkeypatch)
    folder = tmp_path / f"hub/models--owner--tiny/snapshots/{FIRST}"
    shutil.copytree(checkpoints["llava"], folder)
    assert fetch(REPO, FIRST).folder == folder and hub.requests == []
    (folder / "model.safetensors").unlink()
    assert cached(REPO, FIRST) is None


def test_single_files_that_another_program_downloaded_are_no_complete_model(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("config.json", "model.safetensors"):
        huggingface_hub.hf_hub_download(REPO, name, revision=FIRST)
    hub.requests.clear()
    folder = fetch(REPO, FIRST).folder
    assert "chat_template.jinja" in hub.downloaded() and "model.safetensors" not in hub.downloaded()
    assert (folder / "tokenizer.json").is_file()


def test_a_copied_folder_is_enough_where_the_hub_cannot_be_reached(
    hub: Hub, checkpoints: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(huggingface_hub.constants.HF_HUB_CACHE) / "models--owner--tiny/snapshots" / FIRST
    shutil.copytree(checkpoints["llava"], folder)

    def unreachable(*_: object) -> dict[str, int]:
        raise hub_fetch.httpx.ConnectError("no route")

    monkeypatch.setattr(hub_fetch, "hub_files", unreachable)
    assert fetch(REPO, FIRST).folder == folder
    (folder / "config.json").unlink()
    (folder / "processor_config.json").unlink()
    shutil.rmtree(folder)
    fails(lambda: fetch(REPO, FIRST))


def test_what_the_code_of_a_family_reads_of_another_revision_is_fetched_too(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.repositories[REPO].commits[SECOND] = {"tokenizer.json": b"{}", "model.safetensors": b"old"}
    hub.repositories[REPO].branches["2024-08-26"] = SECOND
    fetch_also(REPO, "moondream")
    assert hub.downloaded() == ["tokenizer.json"]
    fetch_also(REPO, "llava")
    fetch_also(REPO, None)
    offline(monkeypatch)
    # As the code does in a job.
    path = huggingface_hub.hf_hub_download(REPO, "tokenizer.json", revision="2024-08-26")
    assert Path(path).read_bytes() == b"{}"
    fetch_also(REPO, "moondream")


def test_of_other_repositories_that_the_code_of_a_family_reads_the_settings_are_fetched(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    for repo in SETTINGS_OF["eagle"]:
        hub.repositories[repo] = Repository(
            {
                SECOND: {
                    "config.json": b"{}",
                    "preprocessor_config.json": b"{ }",
                    "model.safetensors": b"many",
                }
            },
            {"main": SECOND},
        )
    fetch_also(REPO, "eagle")
    assert sorted(set(hub.downloaded())) == ["config.json", "preprocessor_config.json"]
    offline(monkeypatch)
    # As the code does in a job: by the repository's id alone.
    for repo in SETTINGS_OF["eagle"]:
        assert Path(huggingface_hub.hf_hub_download(repo, "config.json")).read_bytes() == b"{}"


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "chat_template.jinja"])
def test_a_model_without_one_of_its_files_is_not_here(hub: Hub, name: str) -> None:
    folder = fetch(REPO, FIRST).folder
    (folder / name).unlink()
    assert cached(REPO, FIRST) is None
    assert fetch(REPO, FIRST).downloaded > 0 and (folder / name).is_file()
