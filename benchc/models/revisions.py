"""Commits of models on the Hugging Face Hub."""

import importlib
import re

from benchc.models.protocol import ModelError


def commit_of(repo: str, revision: str | None) -> str:
    """Return the commit, 40 hex digits, that a revision of a model on the Hub is now.

    Args:
        repo: ``owner/name``.
        revision: a branch or tag; None is the default branch. A commit is returned as it is.

    The Hub is asked. With HF_HUB_OFFLINE=1, or where the Hub cannot be reached, the commit is the one that
    the Hub's cache on disk has for the revision. Raises ModelError where neither knows it.
    """
    if revision is not None and re.fullmatch("[0-9a-f]{40}", revision):
        return revision
    # The huggingface_hub of models that need an old transformers (envs/) lacks it; jobs give these a commit.
    from huggingface_hub import is_offline_mode, resolve_revision

    offline = is_offline_mode()
    if not offline:  # no job, so that what limits the time of requests is no code of a job
        importlib.import_module("benchc.models.hub.errors")
    try:
        resolved: str = resolve_revision(repo, revision=revision, local_files_only=offline).resolved
    except Exception as error:  # the Hub's client and its HTTP library raise many types
        what = f"its revision {revision!r}" if revision else "its default branch"
        raise ModelError(
            f"{repo}: the commit of {what} cannot be found ({' '.join(str(error).split())}); check the id or "
            "folder and the revision in the model catalogue or the configuration, and that the Hub can be "
            "reached or the model is in its cache"
        ) from error
    return resolved
