"""Download the weights of an image encoder from the Hugging Face Hub to its cache, and write their commit."""

import sys
from pathlib import Path

from benchc.models.hub.errors import hub_errors
from benchc.models.hub.fetch import fetch_first, fetch_settings
from benchc.models.hub.recorded_commit import record, recorded_commit
from benchc.models.revisions import commit_of
from benchc.schemas.revision import Revision


def fetch_image_encoder(
    *, image_encoder: str, pretrained: str, with_text: bool = False, output: Path
) -> None:
    """Download weights of an image encoder from the Hugging Face Hub to its cache, and write their commit.

    The encoder is a model of open_clip with a tag of its weights, which open_clip keeps on the Hub.

    Args:
        image_encoder: name of an open_clip model
        pretrained: open_clip's tag of the weights
        with_text: also fetch what its text tower reads
        output: selection/image_encoder.json to write
    """
    # Imported here because --help needs no torch, which takes seconds.
    from benchc.models.encoders.encoders import tagged_weights, text_repositories

    repo, files = tagged_weights(image_encoder, pretrained)
    commit = recorded_commit(output, repo, None)
    if commit is None:
        with hub_errors(repo):
            commit = commit_of(repo, None)
    print(fetch_first(repo, commit, files).summary(repo, commit), file=sys.stderr)
    for name in text_repositories(image_encoder) if with_text else ():
        fetch_settings(name)
    record(output, Revision(repo, None, commit))
