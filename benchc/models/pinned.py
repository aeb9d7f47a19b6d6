"""Which checkpoint is loaded: its commit, its facts, and whether its files changed meanwhile."""

from pathlib import Path

import torch

from benchc.models.folder import deciding_files, folder_digest
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.revisions import commit_of


def file_times(source: CheckpointSource) -> list[tuple[str, int, int]]:
    """Return name, time and size of the files that decide a local model; none for a model on the Hub."""
    files = deciding_files(Path(source.location), remote_code=source.trust_remote_code)
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


def checkpoint_facts(source: CheckpointSource, commit: str | None) -> dict[str, str]:
    """Return which checkpoint is loaded and how, for the identity of its predictions."""
    folder = Path(source.location)
    return {
        # However the folder's path is written.
        "model": source.location if commit else folder.resolve().name,
        "revision": commit or folder_digest(folder, remote_code=source.trust_remote_code),
        "trust_remote_code": str(source.trust_remote_code),
        "dtype": source.dtype,
        "device": torch.cuda.get_device_name() if source.device == "cuda" else "cpu",
    }
