"""Download models of the Hugging Face Hub to its cache on disk."""

import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2 as httpx
import tenacity
from huggingface_hub import HfApi, constants, hf_hub_download, is_offline_mode, snapshot_download
from huggingface_hub.hf_api import RepoFile
from huggingface_hub.utils.tqdm import disable_progress_bars

from benchc.models.adapter_files import CONFIG as ADAPTER
from benchc.models.adapter_files import WEIGHTS as ADAPTER_WEIGHTS
from benchc.models.adapter_files import only_an_adapter
from benchc.models.hub.cached import cached, cached_adapter, files_of, not_here
from benchc.models.hub.errors import hub_errors
from benchc.models.hub.files import settings_files, weight_files
from benchc.models.protocol import ModelError
from benchc.models.remote_code_families import ALSO_READ, SETTINGS_OF
from benchc.models.snapshot import snapshot_folder
from benchc.progress import track

MB, GB = 10**6, 10**9
# Of a broken connection; the client itself tries again while a file arrives.
ATTEMPTS = 4
POLLING = 0.5  # seconds between two looks at the size of what has arrived
WEIGHTS = (".safetensors", ".bin")


@dataclass(frozen=True)
class Fetched:
    """A model in the Hub's cache. ``downloaded``: bytes; 0 where all was here and the Hub was not asked."""

    folder: Path
    downloaded: int

    def summary(self, repo: str, commit: str) -> str:
        """Return one line that says so."""
        what = f"{self.downloaded / MB:,.0f} MB downloaded" if self.downloaded else "was here already"
        return f"{repo}@{commit}: {what}, {self.folder}"


def fetch(repo: str, commit: str) -> Fetched:
    """Download what is read of a model at a commit, unless it is here; raises ModelError where it cannot be.

    Complete files are not downloaded again. A file whose connection breaks continues where it stopped.
    """
    here = cached(repo, commit)
    if here is not None and (is_offline_mode() or files_of(repo, commit) is not None):
        return Fetched(here, 0)
    if is_offline_mode():
        raise ModelError(not_here(repo, commit))
    disable_progress_bars()  # theirs say nothing in a log
    with hub_errors(repo, commit):
        try:
            sizes = hub_files(repo, commit)
        except httpx.TransportError:
            if here is None:
                raise
            return Fetched(here, 0)  # a folder that was copied here; without a network, nobody knows more
        files = settings_files(sizes)
        if not files:
            raise ModelError(f"{repo}: has no configuration at the commit {commit}; check the id")
        downloaded = _download(repo, commit, files, sizes)
        weights = weight_files(sizes, snapshot_folder(repo, commit))
        if not weights and ADAPTER in sizes:
            config = snapshot_folder(repo, commit) / ADAPTER
            raise ModelError(f"{repo}: {only_an_adapter(repo, config)}")
        if not weights:
            raise ModelError(
                f"{repo}: has no weights in the formats of transformers (safetensors or bin) at the commit "
                f"{commit}; name a repository with them"
            )
        if absent := [name for name in weights if name not in sizes]:
            raise ModelError(
                f"{repo}: its index names {absent[0]}, which it does not have at the commit {commit}; name "
                "another commit or repository"
            )
        downloaded += _download(repo, commit, weights, sizes)
    return Fetched(snapshot_folder(repo, commit), downloaded)


def fetch_adapter(repo: str, commit: str) -> Fetched:
    """Download the files of an adapter, unless they are here; raises ModelError where they cannot be."""
    here = cached_adapter(repo, commit)
    if here is not None:
        return Fetched(here, 0)
    if is_offline_mode():
        raise ModelError(not_here(repo, commit, adapter=True))
    parts = [fetch_first(repo, commit, names) for names in ((ADAPTER,), ADAPTER_WEIGHTS)]
    return Fetched(snapshot_folder(repo, commit), sum(part.downloaded for part in parts))


def fetch_also(repo: str, family: str | None) -> None:
    """Download what the code of a family reads besides the model; raises ModelError where it cannot be."""
    for revision, name in ALSO_READ.get(family or "", ()):
        with hub_errors(repo, revision):
            # By the revision, whose commit the code looks up in the cache.
            hf_hub_download(repo, name, revision=revision)
    for other in SETTINGS_OF.get(family or "", ()):
        fetch_settings(other)


def fetch_first(repo: str, commit: str, names: Sequence[str]) -> Fetched:
    """Download the first of several files that a repository has; raises ModelError where it cannot be."""
    folder = snapshot_folder(repo, commit)
    if any((folder / name).is_file() for name in names):
        return Fetched(folder, 0)
    if is_offline_mode():
        raise ModelError(not_here(repo, commit))
    disable_progress_bars()
    with hub_errors(repo, commit):
        sizes = hub_files(repo, commit)
        found = next((name for name in names if name in sizes), None)
        if found is None:
            raise ModelError(
                f"{repo}: has no file {' or '.join(names)} at the commit {commit}; check the name"
            )
        return Fetched(folder, _download(repo, commit, [found], sizes))


def fetch_settings(repo: str) -> None:
    """Download configuration and tokenizer of a repository, of its default branch, as libraries look them up.

    Raises ModelError where they cannot be; without a network, their absence is noticed when they are loaded.
    """
    if is_offline_mode():
        return
    disable_progress_bars()
    with hub_errors(repo):
        for name in settings_files(hub_files(repo, constants.DEFAULT_REVISION)):
            hf_hub_download(repo, name)


def hub_files(repo: str, commit: str) -> dict[str, int]:
    """Return the bytes of each file of a repository on the Hub. Raises errors of the Hub's client."""
    tree = HfApi().list_repo_tree(repo, recursive=True, revision=commit)
    return {file.path: file.size for file in tree if isinstance(file, RepoFile)}


def download_size(repo: str, commit: str) -> int:
    """Return the bytes of the weights that :func:`fetch` would download if none were here."""
    sizes = hub_files(repo, commit)
    # Without the index, whose content names the shards: all files of the format that is taken.
    names = [name for name in sizes if "/" not in name]
    formats = (sum(sizes[name] for name in names if name.endswith(end)) for end in WEIGHTS)
    return next(filter(None, formats), 0)


def _download(repo: str, commit: str, files: Iterable[str], sizes: Mapping[str, int]) -> int:
    """Download files, and return the bytes of those that were not here."""
    folder = snapshot_folder(repo, commit)
    missing = [name for name in files if not (folder / name).is_file()]
    size = sum(sizes[name] for name in missing)
    _check_space(repo, size)
    if missing:
        with _progress(folder.parents[1] / "blobs", f"download {repo}", size):
            _snapshot(repo, commit, [_escaped(name) for name in missing])
    return size


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(httpx.TransportError),
    stop=tenacity.stop_after_attempt(ATTEMPTS),
    wait=tenacity.wait_random_exponential(),  # at most 1, 2 and 4 seconds
)
def _snapshot(repo: str, commit: str, patterns: list[str]) -> None:
    snapshot_download(repo, revision=commit, allow_patterns=patterns)


def _escaped(name: str) -> str:
    """Return a pattern that matches a file's name alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _check_space(repo: str, needed: int) -> None:
    """Raise ModelError before hours are lost on a full disk."""
    cache = Path(constants.HF_HUB_CACHE)
    existing = next(path for path in (cache, *cache.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise ModelError(
            f"{repo}: needs {needed / GB:.1f} GB more, but {cache} has only {free / GB:.1f} GB free; free "
            "space, or set HF_HOME to a folder on another disk"
        )


@contextmanager
def _progress(folder: Path, label: str, size: int) -> Iterator[None]:
    """Show how the files in ``folder`` grow by ``size`` bytes while the block runs."""
    done = threading.Event()

    def show() -> None:
        megabytes = _megabytes(folder, done)
        for _ in track(megabytes, label=label, unit="MB", total=size // MB or None):
            pass

    thread = threading.Thread(target=show)
    try:
        thread.start()
        yield
    finally:
        done.set()
        thread.join()


def _megabytes(folder: Path, done: threading.Event) -> Iterator[int]:
    """Yield once for each megabyte by which the files in ``folder`` have grown, until ``done``."""
    before, count, finished = _size(folder), 0, False
    while not finished:
        finished = done.wait(POLLING)
        grown = (_size(folder) - before) // MB
        yield from range(count, grown)
        count = max(count, grown)


def _size(folder: Path) -> int:
    sizes = 0
    for path in folder.glob("*"):
        try:
            sizes += path.stat().st_size
        except OSError:  # renamed since: it is complete
            continue
    return sizes
