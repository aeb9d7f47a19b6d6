"""Download models to the Hub's cache on disk, for jobs without a network.

A MODEL is an id of the catalogue, or owner/name of the Hub, with @REVISION unless it is the default branch.
With --config, all models and encoders of a run are downloaded and recorded, as the run itself does first.
Complete files are not downloaded again. HF_HOME is the folder of the cache.
"""

from collections.abc import Mapping, Sequence

from benchc.config.model_catalogue import Listed, listed_model
from benchc.models.hub_errors import hub_errors
from benchc.models.hub_fetch import fetch, fetch_also
from benchc.models.model_facts import server_address
from benchc.models.revisions import commit_of
from scripts import run as pipeline
from scripts.command import Parser, run
from scripts.fetch_model import summary
from scripts.model_arguments import add_catalogue, catalogue, require_folder


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.models_fetch") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="ids of the catalogue, or of the Hub")
    parser.add_argument("--config", metavar="FILE", help="all models and encoders of this run")
    add_catalogue(parser)
    arguments = parser.parse_args(argv)
    if (arguments.config is None) is not bool(arguments.models):
        parser.error("give models, or --config")
    if arguments.config is not None:
        pipeline.main([arguments.config, "--full", "--cores", "1", "fetch_models"], prog)
    models = catalogue(arguments)
    # All ids first, so that a wrong one stops before hours of downloads.
    wanted = [(name, *_wanted(name, models)) for name in dict.fromkeys(arguments.models)]
    for name, repo, revision in wanted:
        if repo is None:
            print(f"{name}: {revision}")
            continue
        with hub_errors(repo, revision):
            commit = commit_of(repo, revision)
        print(summary(repo, commit, fetch(repo, commit)), flush=True)
        fetch_also(repo, models[name].model.family if name in models else None)


def _wanted(name: str, models: Mapping[str, Listed]) -> tuple[str | None, str | None]:
    """Return the Hub id and revision of a model; None and a reason where there is nothing to fetch."""
    if "/" in name:
        repo, _, revision = name.partition("@")
        return repo, revision or None
    model = listed_model(name, models).model
    if model.path is not None:
        require_folder(name, model)
        return None, f"is the folder {model.path}, nothing to download"
    if model.train is not None:
        return None, "is trained by runs, nothing to download"
    if (address := server_address(model)) is not None:
        return None, f"is on the server {address}, nothing to download"
    return model.repo, model.revision


if __name__ == "__main__":
    run(main)
