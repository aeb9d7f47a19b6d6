"""What is known about a model of a catalogue without loading it or asking the Hub."""

from dataclasses import dataclass, replace
from pathlib import Path

from benchc.config.catalogue import Model
from benchc.errors import InputError
from benchc.models.adapter_problem import adapter_problem
from benchc.models.folder import deciding_files
from benchc.models.hub.cached import cached, cached_adapter
from benchc.models.hub.errors import HUB
from benchc.models.protocol import ModelError
from benchc.models.registry import scorer_modules
from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE, lacks_trust
from benchc.models.revisions import commit_of
from benchc.models.supported import UnsupportedFamilyError, check_family
from benchc.models.weights import weights_problem
from benchc.schemas.revision import COMMIT

WEIGHTS = (".safetensors", ".bin")


@dataclass(frozen=True)
class Whereabouts:
    """Where a model is. ``text``: in a word; ``folder``: None unless it is on this machine."""

    text: str
    commit: str | None = None
    folder: Path | None = None

    @property
    def size(self) -> int | None:
        """Return the bytes of its weights; None unless they are here."""
        if self.folder is None:
            return None
        # The Hub's cache has links to files.
        return sum(path.stat().st_size for path in deciding_files(self.folder) if path.suffix in WEIGHTS)


def loaded_by(model: Model) -> str:
    """Return how a model is loaded: by a server, by a file of its family, or by a class of transformers."""
    entry = model.model_dump()
    if model.train is not None:
        return f"trained ({model.family})"
    if entry.get("server") is not None:
        return "server"
    if model.adapter_repo is not None or model.adapter_folder is not None:
        return f"{loaded_by(model.model_copy(update={'adapter': None}))} + adapter"
    try:
        check_family(model.family)
    except UnsupportedFamilyError:
        return f"not supported ({model.family})"
    if model.family in (*OF_CHECKPOINT, *OF_PACKAGE):
        return f"own code ({model.family})"
    if scorer_modules(model.family, model.scoring)[0].startswith("benchc.models.families."):
        return f"transformers ({model.family})"
    return str(entry.get("auto_class") or model.family or "transformers")


def server_address(model: Model) -> str | None:
    """Return the address of a running server, which loads and decides all of the model; None without one."""
    return None if model.server is None else model.server.url


def code_page(model: Model, commit: str) -> str | None:
    """Return the page with the Python files of a checkpoint at a commit; None where none of them are run."""
    runs_code = model.trust_remote_code or lacks_trust(model)
    return f"{HUB}/{model.repo}/tree/{commit}" if runs_code else None


def revision_of(model: Model) -> str:
    """Return the revision of a model in the catalogue in a word."""
    if model.revision is None and server_address(model) is not None:
        return "that of the server"
    if model.repo is None:
        return ""
    if model.revision is None:
        return "not pinned"
    return model.revision[:12] if COMMIT.fullmatch(model.revision) else f"not pinned ({model.revision})"


def whereabouts(model: Model) -> Whereabouts:
    """Return where a model is; a branch or tag is at the commit that the Hub's cache knows."""
    found = _whereabouts(model)
    if found.text != "yes" or (problem := _adapter_problem(model)) is None:
        return found
    return replace(found, text=f"adapter: {problem}")


def _adapter_problem(model: Model) -> str | None:
    """Return what is wrong with the adapter of a model; None where nothing is, or it has none."""
    if model.adapter_repo is not None:
        try:
            folder = cached_adapter(model.adapter_repo, commit_of(model.adapter_repo, model.adapter_revision))
        except ModelError:
            folder = None
        return "no" if folder is None else adapter_problem(folder)
    if model.adapter_folder is None:
        return None
    folder = Path(model.adapter_folder)
    return adapter_problem(folder) if folder.is_dir() else "folder is missing"


def _whereabouts(model: Model) -> Whereabouts:
    if model.train is not None:
        return Whereabouts("made by runs")
    if server_address(model) is not None:
        return Whereabouts("on a server")
    if model.path is not None:
        folder = Path(model.path)
        if not folder.is_dir():
            return Whereabouts("folder is missing")
        return Whereabouts(weights_problem(folder) or "yes", folder=folder)
    try:
        commit = commit_of(str(model.repo), model.revision)
    except ModelError:
        return Whereabouts("no")
    folder_here = cached(str(model.repo), commit)
    if folder_here is None:
        return Whereabouts("no", commit)
    return Whereabouts(weights_problem(folder_here) or "yes", commit, folder_here)


def require_folder(id_: str, model: Model) -> None:
    """Raise InputError where the folder of a model, or of its adapter, is missing."""
    for folder, what, key in ((model.path, "model", "path"), (model.adapter_folder, "adapter", "adapter")):
        if folder is not None and not Path(folder).is_dir():
            raise InputError(
                f"{id_}: there is no folder {folder}; copy the {what} there, or correct its {key}"
            )
