"""Models are downloaded from the Hub, here from a server of the test, and loaded without a network."""

import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event
from types import ModuleType, SimpleNamespace

import huggingface_hub
import numpy as np
import pytest

from benchc.models.folder import deciding_files
from benchc.models.hub import errors
from benchc.models.hub import fetch as hub_fetch
from benchc.models.hub.cached import cached, files_of, require_cached
from benchc.models.hub.errors import gated, hub_errors
from benchc.models.hub.fetch import MB, Fetched, download_size, fetch, fetch_adapter, fetch_also, fetch_first
from benchc.models.hub.files import settings_files, weight_files
from benchc.models.hub.offline import work_offline
from benchc.models.hub.recorded_commit import record, recorded_commit
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code_families import SETTINGS_OF
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision, read_revision
from benchc.sources.transfer import Limits
from tests.models.conftest import QUESTIONS
from tests.models.hub_server import FIRST, SECOND, TOKEN, Hub, Repository

REPO = "owner/tiny"


@pytest.fixture
def hub(served: Hub, checkpoints: dict[str, Path]) -> Hub:
    served.repositories[REPO] = Repository()
    weights = dict.fromkeys(("pytorch_model.bin", "model.gguf", "onnx/model.onnx"), b"the same weights")
    others = {"README.md": b"about", "original/config.json": b"{}", **weights}
    served.repositories[REPO].add(checkpoints["llava"], FIRST, **others)
    return served


def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def fails(block: Callable[[], object]) -> str:
    """Return the message, of one line, of the error that a block raises."""
    with pytest.raises(ModelError) as caught:
        block()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_fetched_model_is_loaded_offline(hub, checkpoints, monkeypatch):
    assert cached(REPO, FIRST) is None
    progress, watched = hub_fetch._progress, []
    monkeypatch.setattr(hub_fetch, "_progress", lambda *of: watched.append(of[0]) or progress(*of))
    fetched = fetch(REPO, FIRST)
    # Where files arrive.
    assert watched and all(any(folder.iterdir()) for folder in watched)
    files = {path.name: path.stat().st_size for path in checkpoints["llava"].iterdir()}
    assert sorted(hub.downloaded()) == sorted(files)
    assert fetched.downloaded == sum(files.values())
    assert Fetched(Path("a"), 1_500_600_000).summary("o/m", "c") == "o/m@c: 1,501 MB downloaded, a"
    assert Fetched(Path("a"), 0).summary("o/m", "c") == "o/m@c: was here already, a"
    # Of the format that is taken alone, and not of subfolders.
    assert download_size(REPO, FIRST) == files["model.safetensors"]
    hub.requests.clear()
    assert fetch(REPO, FIRST).downloaded == 0 and hub.requests == []
    offline(monkeypatch)
    sources = (CheckpointSource(REPO, FIRST), CheckpointSource(str(checkpoints["llava"])))
    image = np.random.default_rng(1).integers(0, 256, (32, 32, 3), dtype=np.uint8)
    scorers = (load_scorer("llava", "letter", source) for source in sources)
    np.testing.assert_array_equal(*(scorer.score(QUESTIONS[0], [[image]]).logits for scorer in scorers))
    assert hub.requests == []


def test_the_hub_is_as_slow_as_a_source_may_be() -> None:
    assert (Limits.slow_s, Limits.least_rate) == (errors.SLOW_S, errors.LEAST_RATE)


def test_a_file_that_drips_is_asked_for_again(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errors, "SLOW_S", 0.5)
    hub.drips.add("model.safetensors")
    start = time.monotonic()
    assert cached(REPO, FIRST) is None and fetch(REPO, FIRST).downloaded > 0
    assert time.monotonic() - start < 6 and hub.downloaded().count("model.safetensors") == 2


def test_no_message_has_the_token(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "hf_of_a_file_1234"
    Path(huggingface_hub.constants.HF_TOKEN_PATH).write_text(token)
    hub.tokens.add(token)
    hub.down = 418
    message = fails(lambda: fetch(REPO, FIRST))
    assert "the Hub answers 418 (the server is down (Bearer ***)" in message and token not in message


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
    del repository.commits[SECOND]["model-1-of-2.safetensors"]
    absent = "its index names model-1-of-2.safetensors, which it does not have"
    assert absent in fails(lambda: fetch(REPO, SECOND))


def test_a_cut_connection_continues_where_it_stopped(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 2**14)
    size = len(hub.repositories[REPO].commits[FIRST]["model.safetensors"])
    hub.cut["model.safetensors"] = size // 2
    fetch(REPO, FIRST)
    asked = [each for each in hub.requests if each[0] == "GET" and ".safetensors" in each[1]]
    first, second = (start for _, _, start in asked)
    assert first is None and second is not None
    assert size // 2 - 2**14 <= int(second[len("bytes=") : -1]) <= size // 2
    assert cached(REPO, FIRST) is not None


def test_a_connection_that_breaks_is_tried_four_times(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def broken(*_: object, **__: object) -> None:
        asked.append(1)
        raise hub_fetch.httpx.ReadError("cut off")

    monkeypatch.setattr("time.sleep", lambda _: None)
    monkeypatch.setattr(hub_fetch, "snapshot_download", broken)
    text = fails(lambda: fetch(REPO, FIRST))
    assert text.startswith(f"{REPO}: the Hub cannot be reached (ReadError: cut off); check the network")
    assert len(asked) == 4


def test_files_of_subfolders_that_are_read_are_fetched(hub: Hub, checkpoints: dict[str, Path]) -> None:
    name = "additional_chat_templates/short.jinja"
    # A model may have an adapter, too.
    files = {name: b"{{ 1 }}", "adapter_config.json": b"{}"}
    hub.repositories[REPO].add(checkpoints["llava"], SECOND, **files)
    assert (fetch(REPO, SECOND).folder / name).read_bytes() == b"{{ 1 }}"


def test_an_interrupted_download_continues_with_the_missing_files(hub, monkeypatch):
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


def test_a_moved_branch_is_another_commit_and_the_old_one_stays(hub, checkpoints, monkeypatch):
    fetch(REPO, commit_of(REPO, None))
    hub.repositories[REPO].add(checkpoints["llava"], SECOND)
    assert commit_of(REPO, None) == SECOND
    assert cached(REPO, FIRST) is not None and cached(REPO, SECOND) is None
    offline(monkeypatch)
    require_cached(REPO, FIRST)
    # The branch is at SECOND now, which is not here; of another model, no branch is known.
    assert f"run: benchc models fetch {REPO}" in fails(lambda: require_cached(REPO, None))
    assert "its default branch is not in the Hub's cache" in fails(
        lambda: require_cached("owner/other", None)
    )
    assert "a/b/c: there is no such folder, and this is no id" in fails(lambda: require_cached("a/b/c", None))


def resolved(repo: str, revision: str | None = None) -> object:
    with hub_errors(repo, revision):
        return commit_of(repo, revision)


def test_who_is_denied_is_told_what_to_do(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repositories[REPO].gated = True
    page = f"https://huggingface.co/{REPO}"
    accept = f"accept its licence on {page}, then set HF_TOKEN to a token of your account"
    assert fails(lambda: fetch(REPO, FIRST)) == f"{REPO}: is gated: {accept}"
    assert f"{REPO}: has no revision 'v9'; correct `revision`" in fails(lambda: resolved(REPO, "v9"))
    absent = "there is no such model on the Hub; check the id, and set HF_TOKEN if it is private"
    assert absent in fails(lambda: resolved("owner/tinny"))
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "the Hub refuses your token (HF_TOKEN); correct or unset it" in fails(lambda: resolved(REPO))
    assert "the Hub refuses your token" in fails(lambda: fetch(REPO, FIRST))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert "check the id, and check that your token has access" in fails(lambda: resolved("owner/tinny"))
    assert gated(REPO).endswith(f"your token (HF_TOKEN) has no access: accept its licence on {page}")
    assert fetch(REPO, FIRST).downloaded > 0
    hub.down = 403
    assert "the Hub denies access; check the permissions of your token" in fails(lambda: resolved(REPO))
    hub.down = 400
    assert f"{REPO}: the Hub answers 400" in fails(lambda: resolved(REPO))


def test_without_a_network_the_sentence_says_so(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.down = 503
    monkeypatch.setattr("time.sleep", lambda _: None)
    assert f"{REPO}: the Hub answers 503" in fails(lambda: fetch(REPO, FIRST))
    monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", "http://127.0.0.1:9")
    assert f"{REPO}: the Hub cannot be reached (ConnectError" in fails(lambda: resolved(REPO))
    offline(monkeypatch)
    blocks: list[Callable[[], object]] = [lambda: fetch(REPO, FIRST), lambda: require_cached(REPO, FIRST)]
    blocks.append(lambda: fetch_first(REPO, FIRST, ["config.json"]))
    for block in blocks:
        text = fails(block)
        assert f"its revision {FIRST} is not in the Hub's cache on this machine (" in text
        assert text.endswith(f"shares this folder, run: benchc models fetch {REPO}@{FIRST}")
    assert fails(lambda: resolved(REPO)).endswith(f"run: benchc models fetch {REPO}")
    adapter = fails(lambda: fetch_adapter(REPO, FIRST))
    assert adapter.endswith(f"run: benchc models fetch {REPO}@{FIRST} --adapter")


def test_a_full_disk_is_one_sentence(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(hub_fetch.shutil, "disk_usage", lambda _: SimpleNamespace(free=10))
        text = fails(lambda: fetch(REPO, FIRST))
        assert f"{REPO}: needs 0.0 GB more, but " in text and text.endswith("folder on another disk")
        # As large as the disk is not too large.
        patched.setattr(hub_fetch.shutil, "disk_usage", lambda _: SimpleNamespace(free=2_500_000_000))
        hub_fetch._check_space(REPO, 2_500_000_000)
        text = fails(lambda: hub_fetch._check_space(REPO, 12_340_000_000))
        assert "needs 12.3 GB more, but " in text and " has only 2.5 GB free; free" in text

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(hub_fetch, "snapshot_download", full)
    assert "is full; free space, or set HF_HOME" in fails(lambda: fetch(REPO, FIRST))


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.EDQUOT, "quota"), "the disk of .* is full; free space, or set HF_HOME"),
        (OSError(errno.EROFS, "read-only"), "cannot be written; correct its permissions, or set HF_HOME"),
        (OSError(errno.EIO, "broken\ndisk"), r"cannot be fetched \(OSError: .* broken disk\); run it again"),
        (ModelError("owner/tiny: as it is"), "^owner/tiny: as it is$"),
        # What was first explains the others.
        (caused(ModelError("other"), OSError(errno.ENOSPC, "full")), "the disk of .* is full; free space"),
        (caused(hub_fetch.httpx.ReadError("a"), OSError(errno.EACCES, "b")), "cannot be written; correct"),
    ],
)
def test_an_error_of_the_machine_is_one_sentence(error, sentence, monkeypatch) -> None:
    offline(monkeypatch)  # where it is no absent file
    with pytest.raises(ModelError, match=sentence) as caught, hub_errors(REPO):
        raise error
    assert str(caught.value).startswith(f"{REPO}: ") and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        (["README.md", "model.safetensors"], f"has no configuration at the commit {SECOND}; check the id"),
        (["config.json"], "has no weights in the formats of transformers (safetensors or bin) at the comm"),
        (["adapter_config.json", "adapter_model.safetensors"], "is an adapter (adapter_config.json), not a "),
    ],
)
def test_a_repository_without_a_model_is_one_sentence(hub: Hub, files: list[str], sentence: str) -> None:
    hub.repositories[REPO].commits[SECOND] = dict.fromkeys(files, b"{}")
    assert fails(lambda: fetch(REPO, SECOND)).startswith(f"{REPO}: {sentence}")
    assert cached(REPO, SECOND) is None


def test_an_adapter_is_its_configuration_and_the_first_format_of_its_weights(hub, monkeypatch):
    names = ["adapter_config.json", "adapter_model.bin", "adapter_model.safetensors"]
    # Of files with equal contents, one is downloaded.
    sizes = dict(zip([*names, "model.safetensors"], (1, 20, 300, 4000), strict=True))
    hub.repositories[REPO].commits[SECOND] = {name: bytes(size) for name, size in sizes.items()}
    fetched = fetch_adapter(REPO, SECOND)
    assert sorted(hub.downloaded()) == [names[0], names[2]] and fetched.downloaded == 301
    offline(monkeypatch)
    assert fetch_adapter(REPO, SECOND) == Fetched(fetched.folder, 0)
    (fetched.folder / names[2]).unlink()
    assert "--adapter" in fails(lambda: fetch_adapter(REPO, SECOND))


def test_a_name_is_no_pattern(hub: Hub) -> None:
    hub.repositories[REPO].commits[SECOND] = {"a1.pt": b"1", "a[1].pt": b"2"}
    fetch_first(REPO, SECOND, ["a[1].pt"])
    assert hub.downloaded() == ["a[1].pt"]
    # Of no format that is loaded by itself.
    assert download_size(REPO, SECOND) == 0


def test_the_progress_of_a_download_is_the_growth_of_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new"
    for name in "abcdefgh":
        (tmp_path / name).symlink_to(tmp_path / "renamed since")
    (tmp_path / "old").write_bytes(b"")
    os.truncate(tmp_path / "old", 5 * MB)
    sizes = [(MB, False), (3 * MB - 1, False), (0, False), (4 * MB, True)]

    class Arriving(Event):
        def wait(self, timeout: float | None = None) -> bool:
            assert timeout and 0 < timeout <= 1
            size, finished = sizes.pop(0)
            file.touch()
            os.truncate(file, size)
            return finished

    found = hub_fetch._megabytes(tmp_path, Arriving())
    assert next(found) == 0 and len(sizes) == 3
    assert [*found] == [1, 2, 3] and sizes == []


@pytest.mark.parametrize(("size", "total"), [(2_500_000, 2), (400_000, None)])
def test_progress_is_in_whole_megabytes(size: int, total: int | None, monkeypatch, tmp_path: Path) -> None:
    shown: list[object] = []

    def track(megabytes: Iterable[int], **how: object) -> Iterator[int]:
        shown.append(how)
        yield from megabytes
        shown.append("end")

    monkeypatch.setattr(hub_fetch, "track", track)
    with hub_fetch._progress(tmp_path, "download", size):
        pass
    assert shown == [{"label": "download", "unit": "MB", "total": total}, "end"]


def test_a_client_that_keeps_no_list_of_files_knows_none(hub, monkeypatch):
    """As that of models which need an old transformers (envs/)."""
    fetch(REPO, FIRST)
    assert set(files_of(REPO, FIRST) or ()) == set(hub.repositories[REPO].commits[FIRST])
    assert files_of(REPO, SECOND) is None
    monkeypatch.setitem(sys.modules, "huggingface_hub", ModuleType("huggingface_hub"))
    assert files_of(REPO, FIRST) is None


def test_a_process_works_offline_whether_or_not_the_client_is_imported(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    work_offline()
    assert os.environ["HF_HUB_OFFLINE"] == "1" and huggingface_hub.is_offline_mode()
    monkeypatch.delitem(sys.modules, "huggingface_hub.constants")
    work_offline()


def test_the_commit_of_a_run_is_that_of_its_model_and_revision(tmp_path: Path) -> None:
    path = tmp_path / "revision.json"
    assert recorded_commit(path, REPO, "main") is None
    record(path, first := Revision(REPO, "main", FIRST))
    assert recorded_commit(path, REPO, "main") == FIRST
    assert recorded_commit(path, REPO, None) is None and recorded_commit(path, "o/m", "main") is None
    # The branch is pinned to its commit, then to another one, and then the model is another one.
    for found, kept in (
        (Revision(REPO, FIRST, FIRST), first),
        (later := Revision(REPO, "main", SECOND), later),
        (other := Revision("o/m", "main", SECOND), other),
    ):
        record(path, found)
        assert read_revision(path) == kept


def test_a_file_of_several_is_fetched(hub: Hub) -> None:
    assert fetch_first(REPO, FIRST, ["weights.safetensors", "pytorch_model.bin"]).downloaded > 0
    assert hub.downloaded() == ["pytorch_model.bin"]
    hub.requests.clear()
    assert fetch_first(REPO, FIRST, ["pytorch_model.bin"]).downloaded == 0 and hub.requests == []
    error = fails(lambda: fetch_first(REPO, FIRST, ["a.pt", "b.pt"]))
    assert error == f"{REPO}: has no file a.pt or b.pt at the commit {FIRST}; check the name"


def test_single_files_that_another_program_downloaded_are_no_complete_model(hub, monkeypatch):
    for name in ("config.json", "model.safetensors"):
        huggingface_hub.hf_hub_download(REPO, name, revision=FIRST)
    hub.requests.clear()
    folder = fetch(REPO, FIRST).folder
    assert "chat_template.jinja" in hub.downloaded() and "model.safetensors" not in hub.downloaded()
    assert (folder / "tokenizer.json").is_file()


def test_a_copied_folder_is_enough_where_the_hub_cannot_be_reached(hub, checkpoints, monkeypatch):
    folder = Path(huggingface_hub.constants.HF_HUB_CACHE) / "models--owner--tiny/snapshots" / FIRST
    shutil.copytree(checkpoints["llava"], folder)

    def unreachable(*_: object) -> dict[str, int]:
        raise hub_fetch.httpx.ConnectError("no route")

    with monkeypatch.context() as patched:
        patched.setattr(hub_fetch, "hub_files", unreachable)
        assert fetch(REPO, FIRST) == Fetched(folder, 0)
        shutil.rmtree(folder)
        fails(lambda: fetch(REPO, FIRST))
    # Offline, it needs no question; without a file, it is not here.
    shutil.copytree(checkpoints["llava"], folder)
    offline(monkeypatch)
    hub.requests.clear()
    assert fetch(REPO, FIRST).folder == folder and hub.requests == []
    (folder / "model.safetensors").unlink()
    assert cached(REPO, FIRST) is None


def test_what_the_code_of_a_family_reads_of_another_revision_is_fetched_too(hub, monkeypatch):
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


def test_of_other_repositories_that_the_code_of_a_family_reads_the_settings_are_fetched(hub, monkeypatch):
    files = {"config.json": b"{}", "preprocessor_config.json": b"{ }", "model.safetensors": b"many"}
    for repo in SETTINGS_OF["eagle"]:
        hub.repositories[repo] = Repository({SECOND: files}, {"main": SECOND})
    fetch_also(REPO, "eagle")
    assert sorted(set(hub.downloaded())) == ["config.json", "preprocessor_config.json"]
    offline(monkeypatch)
    # As the code does in a job: by the repository's id alone.
    for repo in SETTINGS_OF["eagle"]:
        assert Path(huggingface_hub.hf_hub_download(repo, "config.json")).read_bytes() == b"{}"
    hub.requests.clear()
    fetch_also(REPO, "eagle")
    assert hub.requests == []


@pytest.mark.parametrize("name", ["tokenizer.json", "model.safetensors", "chat_template.jinja"])
def test_a_model_without_one_of_its_files_is_not_here(hub: Hub, name: str) -> None:
    folder = fetch(REPO, FIRST).folder
    (folder / name).unlink()
    assert cached(REPO, FIRST) is None
    assert fetch(REPO, FIRST).downloaded > 0 and (folder / name).is_file()


SETTINGS = ["chat_template.jinja", "config.json", "merges.txt", "tokenizer.json", "tokenizer.model"]
WEIGHTS = ["model.safetensors", "pytorch_model.bin"]
OTHERS = [
    *("README.md", ".gitattributes", "picture.png", "model.gguf", "flax_model.msgpack", "tf_model.h5"),
    *("onnx/model.onnx", "onnx/config.json", "original/params.json", "original/consolidated.00.pth"),
]


def test_of_a_native_model_settings_and_one_format_of_weights_are_read(tmp_path):
    names = [*SETTINGS, *WEIGHTS, *OTHERS]
    assert settings_files(names) == SETTINGS
    assert weight_files(names, tmp_path) == ["model.safetensors"]
    assert weight_files([*SETTINGS, "pytorch_model.bin"], tmp_path) == ["pytorch_model.bin"]
    assert weight_files(SETTINGS, tmp_path) == []
    # They are those that decide the predictions of a folder.
    for name in [*SETTINGS, *WEIGHTS, *OTHERS, "additional_chat_templates/short.jinja"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    names = [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()]
    decide = {path.relative_to(tmp_path).as_posix() for path in deciding_files(tmp_path)}
    assert {*settings_files(names), *weight_files(names, tmp_path)} == decide


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ["a.safetensors", "b.safetensors"]),
        ({"transformers_weights": "other.safetensors"}, ["other.safetensors"]),
    ],
)
def test_shards_and_named_weights(tmp_path: Path, config: dict[str, str], expected: list[str]) -> None:
    index = {"weight_map": {"x": "b.safetensors", "y": "a.safetensors", "z": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    (tmp_path / "config.json").write_text(json.dumps(config))
    names = [*expected, "model.safetensors.index.json", "consolidated.safetensors", "pytorch_model.bin"]
    assert weight_files(names, tmp_path) == expected


OWN = ["configuration_own.py", "fonts/SimSun.ttf", "qwen.tiktoken", "vision/config.json", "vision/own.py"]
LORA = ["vision-lora/adapter_config.json", "vision-lora/adapter_model.safetensors"]
PARTS = ["1_Pooling/config.json", "2_Dense/config.json", "config.json", "modules.json", "vocab.txt"]
SHARDS = ["part-1.safetensors", "part-2.safetensors"]
DENSE = ["2_Dense/pytorch_model.bin", "model.safetensors"]


@pytest.mark.parametrize(
    ("settings", "weights", "others"),
    [
        # What own code may read.
        (sorted([*SETTINGS, *OWN]), [], []),
        (
            OWN,
            SHARDS,
            ["figures/a.png", "README.md", "weights/old.pth", ".gitattributes", ".old.safetensors"],
        ),
        # Adapters in subfolders, and none that is no weights of a model.
        (sorted([*SETTINGS, *LORA]), [], ["vision-lora/README.md"]),
        (["config.json"], [], ["adapter_model.safetensors"]),
        (["config.json"], ["own_weights.safetensors"], ["adapter_model.safetensors", "own.bin"]),
        (["config.json"], ["own.pt"], ["own.pth"]),
        # The parts of a text encoder.
        (PARTS, DENSE, ["pytorch_model.bin", "onnx/config.json", "onnx/model.onnx", "openvino/a.bin"]),
    ],
)
def test_what_further_models_need_is_fetched(tmp_path: Path, settings, weights, others) -> None:
    names = [*settings, *weights, *others]
    assert weight_files(names, tmp_path) == weights
    assert [name for name in settings_files(names) if name != "adapter_model.safetensors"] == settings
