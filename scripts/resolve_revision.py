"""Write the commit of a model on the Hugging Face Hub, so that all jobs of a run load the same one.

A branch is resolved once: later commits are not evaluated until the file is deleted.
"""

from pathlib import Path

from benchc.atomic import write_text
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision, revision_text
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--repo", required=True, help="the model's id on the Hub, owner/name")
    add("--revision", help="commit, tag or branch; default: the default branch")
    add("--output", type=Path, required=True, help="revisions/{model}.json to write")
    arguments = parser.parse_args()
    commit = commit_of(arguments.repo, arguments.revision)
    write_text(arguments.output, revision_text(Revision(arguments.repo, arguments.revision, commit)))


if __name__ == "__main__":
    run(main)
