"""Download a model, adapter or text encoder of the Hub to its cache on disk, and write its commit."""

import sys
from pathlib import Path

from benchc.models.hub.errors import hub_errors
from benchc.models.hub.fetch import fetch, fetch_adapter, fetch_also
from benchc.models.hub.recorded_commit import record, recorded_commit
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision


def fetch_model(
    *,
    repo: str,
    revision: str | None = None,
    family: str | None = None,
    adapter: bool = False,
    output: Path,
) -> None:
    """Download a model, adapter or text encoder of the Hub to its cache on disk, and write its commit.

    Inference jobs download nothing: they load the commit from the cache. Complete files are not downloaded
    again. A branch is looked up once: where the output exists, its commit stays, until the file is deleted.

    Args:
        repo: the model's id on the Hub, owner/name
        revision: commit, tag or branch; default: the default branch
        family: the model's family, whose code may read other revisions, too
        adapter: whether it is an adapter, of which two files are read
        output: revisions/{model}.json to write
    """
    commit = recorded_commit(output, repo, revision)
    if commit is None:
        with hub_errors(repo, revision):
            commit = commit_of(repo, revision)
    found = fetch_adapter(repo, commit) if adapter else fetch(repo, commit)
    print(found.summary(repo, commit), file=sys.stderr)
    fetch_also(repo, family)
    record(output, Revision(repo, revision, commit))
