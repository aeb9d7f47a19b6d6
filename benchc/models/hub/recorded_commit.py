"""The file with the commit at which a run fetched a model, so that a branch is looked up once."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.schemas.revision import Revision, read_revision, revision_text


def recorded_commit(path: Path, repo: str, revision: str | None) -> str | None:
    """Return the commit that a file has for a revision of a model; None where there is no such file."""
    if not path.exists():
        return None
    found = read_revision(path, None)
    return found.commit if (found.repo, found.revision) == (repo, revision) else None


def record(path: Path, found: Revision) -> None:
    """Write a commit, unless the file has it: a branch that is pinned to its commit is no other model."""
    if path.exists():
        before = read_revision(path, None)
        if (before.repo, before.commit) == (found.repo, found.commit):
            return
    write_text(path, revision_text(found))
