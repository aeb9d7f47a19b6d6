"""Download the weights of an image encoder from the Hugging Face Hub to its cache, and write their commit.

The encoder is a model of open_clip with a tag of its weights, which open_clip keeps on the Hub.
"""

import sys
from pathlib import Path

from benchc.models.encoders import tagged_weights, text_repositories
from benchc.models.hub_errors import hub_errors
from benchc.models.hub_fetch import fetch_first, fetch_settings
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision
from scripts.command import Parser, run
from scripts.fetch_model import record, recorded_commit, summary


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--image-encoder", required=True, help="name of an open_clip model")
    add("--pretrained", required=True, help="open_clip's tag of the weights")
    add("--with-text", action="store_true", help="also fetch what its text tower reads")
    add("--output", type=Path, required=True, help="selection/image_encoder.json to write")
    arguments = parser.parse_args()
    repo, files = tagged_weights(arguments.image_encoder, arguments.pretrained)
    commit = recorded_commit(arguments.output, repo, None)
    if commit is None:
        with hub_errors(repo):
            commit = commit_of(repo, None)
    print(summary(repo, commit, fetch_first(repo, commit, files)), file=sys.stderr)
    for name in text_repositories(arguments.image_encoder) if arguments.with_text else ():
        fetch_settings(name)
    record(arguments.output, Revision(repo, None, commit))


if __name__ == "__main__":
    run(main)
