"""Download models to the Hub's cache on disk, for jobs without a network."""

from collections.abc import Callable, Mapping
from pathlib import Path

from benchc.checking.model_facts import require_folder, server_address
from benchc.config.model_catalogue import CATALOGUES, Listed, listed_model, listed_models
from benchc.errors import InputError
from benchc.models.hub.errors import hub_errors
from benchc.models.hub.fetch import Fetched, fetch, fetch_adapter, fetch_also
from benchc.models.revisions import commit_of
from scripts.commands.run import run


def fetch_models(
    *models: str,
    config: Path | None = None,
    adapter: bool = False,
    catalogue: tuple[Path, ...] = CATALOGUES,
) -> None:
    """Download models to the Hub's cache on disk, for jobs without a network.

    A model is an id of the catalogue, or owner/name of the Hub, with @REVISION unless it is the default
    branch. With --config, all models and encoders of a run are downloaded and recorded, as the run itself
    does first. Complete files are not downloaded again. HF_HOME is the folder of the cache.

    Args:
        models: ids of the catalogue, or of the Hub
        config: all models, adapters and encoders of this run
        adapter: the ids of the Hub are adapters; an id of the catalogue brings its own
        catalogue: model catalogues; of several entries with one id, the first is taken
    """
    if (config is None) is not bool(models):
        raise InputError("give models, or --config")
    if config is not None:
        run(config, "--cores", "1", "fetch_models", full=True)
    known = listed_models(catalogue)
    # All ids first, so that a wrong one stops before hours of downloads.
    wanted = [(name, *_wanted(name, known)) for name in dict.fromkeys(models)]
    for name, repo, revision in wanted:
        entry = known[name].model if name in known else None
        if repo is None:
            print(f"{name}: {revision}")
        else:
            _fetch(repo, revision, fetch_adapter if adapter and entry is None else fetch)
            fetch_also(repo, None if entry is None else entry.family)
        if entry is not None and entry.adapter_repo is not None:
            _fetch(entry.adapter_repo, entry.adapter_revision, fetch_adapter)


def _fetch(repo: str, revision: str | None, fetch: Callable[[str, str], Fetched]) -> None:
    with hub_errors(repo, revision):
        commit = commit_of(repo, revision)
    print(fetch(repo, commit).summary(repo, commit), flush=True)


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
