"""Download a model or text encoder of the Hugging Face Hub to its cache on disk, and write its commit.

Inference jobs download nothing: they load the commit from the cache. Complete files are not downloaded again.
A branch is looked up once: where the output exists, its commit stays, until the file is deleted.
"""

import sys
from pathlib import Path

from benchc.atomic import write_text
from benchc.models.hub_errors import hub_errors
from benchc.models.hub_fetch import Fetched, fetch, fetch_also
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision, read_revision, revision_text
from scripts.command import Parser, run

MB = 10**6


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--repo", required=True, help="the model's id on the Hub, owner/name")
    add("--revision", help="commit, tag or branch; default: the default branch")
    add("--family", help="the model's family, whose code may read other revisions, too")
    add("--output", type=Path, required=True, help="revisions/{model}.json to write")
    arguments = parser.parse_args()
    repo, revision, output = arguments.repo, arguments.revision, arguments.output
    commit = recorded_commit(output, repo, revision)
    if commit is None:
        with hub_errors(repo, revision):
            commit = commit_of(repo, revision)
    print(summary(repo, commit, fetch(repo, commit)), file=sys.stderr)
    fetch_also(repo, arguments.family)
    record(output, Revision(repo, revision, commit))


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


def summary(repo: str, commit: str, fetched: Fetched) -> str:
    """Return one line about a model that is here now."""
    what = f"{fetched.downloaded / MB:,.0f} MB downloaded" if fetched.downloaded else "was here already"
    return f"{repo}@{commit}: {what}, {fetched.folder}"


if __name__ == "__main__":
    run(main)
