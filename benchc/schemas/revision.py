"""`revisions/{model}.json`: the commit of a model on the Hub that a run evaluates."""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from benchc.errors import InputError, recreate
from benchc.json_content import json_content

COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(frozen=True)
class Revision:
    """A model on the Hub, the requested revision (None: the default branch), and its commit."""

    repo: str
    revision: str | None
    commit: str  # 40 hex digits


def revision_text(revision: Revision) -> str:
    """Return the content of the file, equal for equal revisions."""
    return json.dumps(asdict(revision), indent=2) + "\n"


def read_revision(path: Path, repo: str | None = None) -> Revision:
    """Read what :func:`revision_text` wrote for ``repo``, or for any model.

    Raises InputError where the file is missing or different, or belongs to another model.
    """
    fix = recreate("revisions")
    try:
        found = Revision(**json_content(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {fix}") from error
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: does not contain a model's repo, revision and commit; {fix}") from error
    if not (isinstance(found.commit, str) and COMMIT.fullmatch(found.commit)):
        raise InputError(f"{path}: its commit {found.commit!r} is not 40 hex digits; {fix}")
    if repo not in (None, found.repo):
        raise InputError(f"{path}: is the revision of {found.repo}, not of {repo}; {fix}")
    return found
