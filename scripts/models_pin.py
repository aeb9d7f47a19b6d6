"""Write the present commit of models on the Hub into the catalogue, so that every run loads the same one.

The commit is that of the branch or tag in the catalogue, or of --to. Comments and order of the file stay.
"""

from collections.abc import Sequence

from huggingface_hub import HfApi

from benchc.atomic import write_text
from benchc.config.model_catalogue import listed_model
from benchc.config.pin import pin
from benchc.errors import InputError
from benchc.models.hub_errors import hub_errors
from benchc.schemas.revision import COMMIT
from scripts.command import Parser, run
from scripts.model_arguments import add_catalogue, catalogue

HUB_TIMEOUT = 10.0  # seconds


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.models_pin") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    parser.add_argument("ids", nargs="+", metavar="ID", help="ids of models in the catalogue")
    parser.add_argument(
        "--to",
        metavar="REVISION",
        help="branch, tag or commit (default: that in the catalogue, or else the default branch)",
    )
    add_catalogue(parser)
    arguments = parser.parse_args(argv)
    models = catalogue(arguments)
    # All ids first, so that a wrong one changes nothing.
    for id_, found in {id_: listed_model(id_, models) for id_ in arguments.ids}.items():
        repo, old = found.model.repo, found.model.revision
        if repo is None:
            raise InputError(f"{found.file}: {id_} is not on the Hub; only models with a repo have revisions")
        if arguments.to is None and COMMIT.fullmatch(old or ""):
            print(f"{id_}: is pinned to {old}; --to main looks up the latest commit")
            continue
        new = present_commit(repo, arguments.to or old)
        if new == old:
            print(f"{id_}: is pinned to {old}")
            continue
        write_text(found.file, pin(found.file, id_, new))
        print(f"{id_}: {old or 'null'} -> {new}, in {found.file}")


def present_commit(repo: str, revision: str | None) -> str:
    """Return the commit that the Hub has now. Raises InputError where it does not answer."""
    with hub_errors(repo, revision):
        commit: str | None = HfApi().model_info(repo, revision=revision, timeout=HUB_TIMEOUT).sha
    if commit is None:
        raise InputError(f"{repo}: the Hub gives no commit; look it up on its page, and write it by hand")
    return commit


if __name__ == "__main__":
    run(main)
