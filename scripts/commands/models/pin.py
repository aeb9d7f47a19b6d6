"""Write the present commit of models on the Hub into the catalogue."""

from collections.abc import Mapping
from pathlib import Path

from huggingface_hub import HfApi

from benchc.atomic import write_text
from benchc.checking.model_facts import code_page, server_address
from benchc.config.model_catalogue import CATALOGUES, Listed, listed_model, listed_models
from benchc.config.pin import ADAPTER, MODEL, pin
from benchc.errors import InputError
from benchc.models.hub.errors import hub_errors
from benchc.schemas.revision import COMMIT

HUB_TIMEOUT = 10.0  # seconds


def pin_models(
    ids: list[str],
    /,
    *,
    to: str | None = None,
    catalogue: tuple[Path, ...] = CATALOGUES,
) -> None:
    """Write the present commit of models on the Hub into the catalogue, so that every run loads the same one.

    The commit is that of the branch or tag in the catalogue, or of --to; that of an adapter on the Hub is
    written, too. Comments and order of the file stay. Of a model that runs code of its checkpoint, the page
    with the code at the commit is printed.

    Args:
        ids: ids of models in the catalogue
        to: branch, tag or commit of the model; default: that in the catalogue, or else the default branch
        catalogue: model catalogues; of several entries with one id, the first is taken
    """
    models = listed_models(catalogue)
    # All ids first, so that a wrong one changes nothing.
    for id_, repo, found in [(id_, *_on_hub(id_, models)) for id_ in dict.fromkeys(ids)]:
        entry = found.model
        if entry.adapter_repo is not None:
            text = _pinned(found.file, id_, entry.adapter_repo, entry.adapter_revision, None, ADAPTER)[1]
            # --to is the model's.
            print(f"{id_}: its adapter: {text.partition(';')[0]}")
        if repo is None:
            continue
        new, text = _pinned(found.file, id_, repo, entry.revision, to, MODEL)
        print(f"{id_}: {text}")
        if (page := code_page(entry, new)) is not None:
            print(f"{id_}: its code at this commit, to read before you trust it: {page}")


def _pinned(
    file: Path, id_: str, repo: str, old: str | None, to: str | None, keys: tuple[str, str]
) -> tuple[str, str]:
    """Write a commit into a catalogue, unless it has one; return it, and what was done."""
    if to is None and old is not None and COMMIT.fullmatch(old):
        return old, f"is pinned to {old}; --to main looks up the latest commit"
    new = present_commit(repo, to or old)
    if new == old:
        return new, f"is pinned to {old}"
    write_text(file, pin(file, id_, new, keys))
    return new, f"{old or 'null'} -> {new}, in {file}"


def _on_hub(id_: str, models: Mapping[str, Listed]) -> tuple[str | None, Listed]:
    """Return the Hub id and the entry of a model; None for a folder with an adapter on the Hub.

    Raises InputError for one without a revision to pin.
    """
    found = listed_model(id_, models)
    model = found.model
    if (address := server_address(model)) is not None:
        raise InputError(
            f"{found.file}: {id_} is on the server {address}, which decides the revision; start the "
            "server with the one that you want"
        )
    if model.repo is None and model.adapter_repo is None:
        raise InputError(f"{found.file}: {id_} is not on the Hub; only models with a repo have revisions")
    return model.repo, found


def present_commit(repo: str, revision: str | None) -> str:
    """Return the commit that the Hub has now. Raises InputError where it does not answer."""
    with hub_errors(repo, revision):
        commit: str | None = HfApi().model_info(repo, revision=revision, timeout=HUB_TIMEOUT).sha
    if commit is None:
        raise InputError(f"{repo}: the Hub gives no commit; look it up on its page, and write it by hand")
    return commit
