"""Models in the Hugging Face Hub's cache on disk."""

from pathlib import Path

from huggingface_hub import constants
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id

from benchc.models.adapter_files import adapter_files
from benchc.models.hub.files import settings_files, weight_files
from benchc.models.protocol import ModelError
from benchc.models.revisions import commit_of
from benchc.models.snapshot import snapshot_folder


def cached(repo: str, commit: str) -> Path | None:
    """Return the folder of a model in the Hub's cache; None unless it has all files that are read."""
    folder = snapshot_folder(repo, commit)
    if not folder.is_dir():
        return None
    names = files_of(repo, commit)
    if names is None:  # an older client, a person, or a download of single files put it there
        names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    weights = weight_files(names, folder)
    complete = weights and all((folder / name).is_file() for name in [*settings_files(names), *weights])
    return folder if complete else None


def files_of(repo: str, commit: str) -> list[str] | None:
    """Return the files that the repository has; None where the cache does not know."""
    try:
        from huggingface_hub import get_cached_repo_tree
        from huggingface_hub.errors import CachedRepoTreeNotFoundError
    except ImportError:  # the huggingface_hub of models that need an old transformers (envs/)
        return None
    try:
        return [file.path for file in get_cached_repo_tree(repo, revision=commit)]
    except CachedRepoTreeNotFoundError:
        return None


def require_cached(repo: str, revision: str | None) -> None:
    """Raise ModelError, with the command that downloads it, unless a model is in the Hub's cache.

    ``revision`` is a commit, tag or branch; None is the default branch.
    """
    try:
        validate_repo_id(repo)
    except HFValidationError as error:
        raise ModelError(
            f"{repo}: there is no such folder, and this is no id of a model on the Hub (owner/name); correct "
            "the path or id in the model catalogue"
        ) from error
    try:
        here = cached(repo, commit_of(repo, revision))
    except ModelError:  # the cache does not know the branch
        here = None
    if here is None:
        raise ModelError(not_here(repo, revision))


def cached_adapter(repo: str, commit: str) -> Path | None:
    """Return the folder of an adapter in the Hub's cache; None unless it has the files that are read."""
    folder = snapshot_folder(repo, commit)
    return folder if len(adapter_files(folder)) > 1 else None


def not_here(repo: str, revision: str | None, *, adapter: bool = False) -> str:
    """Return the sentence about a model, or an adapter, that is absent where the Hub is offline."""
    what = "its default branch" if revision is None else f"its revision {revision}"
    return (
        f"{repo}: {what} is not in the Hub's cache on this machine ({constants.HF_HUB_CACHE}), and jobs "
        "download nothing; on a machine that has a network and shares this folder, run: "
        f"{fetch_command(repo, revision)}{' --adapter' if adapter else ''}"
    )


def fetch_command(repo: str, revision: str | None) -> str:
    """Return the command that downloads a model."""
    return f"benchc models fetch {repo if revision is None else f'{repo}@{revision}'}"
