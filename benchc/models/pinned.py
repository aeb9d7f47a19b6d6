"""Which checkpoint is loaded: its commit, its facts, and whether its files changed meanwhile."""

from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import torch

from benchc.models.adapter_files import NO_ADAPTER, adapter_files
from benchc.models.folder import deciding_files, files_digest, folder_digest
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.revisions import commit_of
from benchc.models.snapshot import snapshot_folder


def file_times(source: CheckpointSource) -> list[tuple[str, int, int]]:
    """Return name, time and size of the files that decide a local model, and those of a local adapter."""
    files = deciding_files(Path(source.location), remote_code=source.trust_remote_code)
    if source.adapter is not None:
        files += adapter_files(Path(source.adapter))
    return [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]


def pinned_commit(source: CheckpointSource) -> str | None:
    """Return the commit of a model on the Hub, so that all files are of one; None for a folder.

    Raises ModelError for a folder with a revision, and where code is trusted that is not at a commit.
    """
    if Path(source.location).is_dir():
        if source.revision is not None:
            raise ModelError(
                f"{source.location}: is a folder, which would be loaded instead of the revision "
                f"{source.revision!r} of the model on the Hub; rename the folder"
            )
        return None
    commit = commit_of(source.location, source.revision)
    if source.trust_remote_code and commit != source.revision:
        raise ModelError(
            f"{source.location}: its code can be trusted only at a commit, not at "
            f"{source.revision or 'the default branch'}, which may move; give the commit whose code you have "
            "read as the revision"
        )
    return commit


def pinned_adapter(source: CheckpointSource) -> tuple[Path, str | None] | None:
    """Return the folder of the adapter to merge, and the commit of one on the Hub; None where there is none.

    Raises ModelError as :func:`pinned_commit` does.
    """
    if source.adapter is None or source.adapter == NO_ADAPTER:
        return None
    commit = pinned_commit(
        replace(
            source,
            location=source.adapter,
            revision=source.adapter_revision,
            trust_remote_code=False,  # an adapter has no code
        )
    )
    if commit is None:
        return Path(source.adapter), None
    return snapshot_folder(source.adapter, commit), commit


def checkpoint_facts(source: CheckpointSource, commit: str | None) -> dict[str, str]:
    """Return which checkpoint is loaded and how, for the identity of its predictions."""
    folder = Path(source.location)
    adapter = pinned_adapter(source)
    return {
        # However the folder's path is written.
        "model": source.location if commit else folder.resolve().name,
        "revision": commit or folder_digest(folder, remote_code=source.trust_remote_code),
        "trust_remote_code": str(source.trust_remote_code),
        "dtype": source.dtype,
        "device": torch.cuda.get_device_name() if source.device == "cuda" else "cpu",
        **({} if adapter is None else _adapter_facts(str(source.adapter), *adapter)),
    }


def _adapter_facts(location: str, folder: Path, commit: str | None) -> dict[str, str]:
    return {
        "adapter": location if commit else folder.resolve().name,
        "adapter_revision": commit or files_digest(folder, adapter_files(folder)),
        "peft": version("peft"),
    }
