"""Where a model of a run is: in a folder, in the Hub's cache, on the Hub, or made by the run."""

from dataclasses import dataclass, replace
from pathlib import Path

from huggingface_hub import HfApi, is_offline_mode

from benchc.checking.finding import Finding
from benchc.config.catalogue import Model
from benchc.errors import InputError
from benchc.models.adapter_files import CONFIG as ADAPTER
from benchc.models.adapter_files import only_an_adapter
from benchc.models.adapter_problem import adapter_problem
from benchc.models.compilers import require_compilers
from benchc.models.folder import deciding_files
from benchc.models.hub.cached import cached, cached_adapter, fetch_command, not_here
from benchc.models.hub.errors import hub_errors
from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code_families import lacks_trust, untrusted
from benchc.models.revisions import commit_of
from benchc.models.supported import check_family
from benchc.models.weights import weights_problem
from benchc.planning.amounts import disk_text
from benchc.schemas.revision import read_revision

STAGE = "models"
HUB_TIMEOUT = 10.0  # seconds
WEIGHTS = (".safetensors", ".bin")


@dataclass(frozen=True)
class LocalModel:
    """A model that is on this machine. ``folder``: that of its files, also for a model in the Hub's cache."""

    source: CheckpointSource
    folder: Path

    @property
    def weights(self) -> int:
        """Return the bytes of its weights."""
        files = deciding_files(self.folder)
        return sum(path.stat().st_size for path in files if path.suffix in WEIGHTS)


def locate(id_: str, model: Model, results: Path | None, trained: Path | None = None) -> LocalModel | Finding:
    """Return where the model is, or that it must be made or fetched; raises InputError where it cannot be.

    ``results`` is the folder of a run, which may have recorded a commit, and ``trained`` that in which it
    trains the model. What forbids to load the model is an error before it is fetched, and so are damaged
    weights of one that is here.
    """
    _require_loadable(id_, model)
    if model.train is not None and (trained is None or weights_problem(trained) is not None):
        return Finding(STAGE, "made", id_, "made by the run")
    device = "cuda" if model.gpus else "cpu"
    source = CheckpointSource(
        str(model.path or trained or ""),
        None,
        model.dtype,
        device,
        model.processor,
        model.family,
        model.trust_remote_code,
        model.auto_class,
        model.image_backend,
        model.compile,
        max(model.gpus, 1),
        model.system_prompt,
        model.chat_template,
        model.attention,
        model.adapter,
        model.adapter_revision,
    )
    if model.adapter_repo is not None:
        recorded = None if results is None else results / "revisions/adapters" / f"{id_}.json"
        commit = _commit(model.adapter_repo, model.adapter_revision, recorded)
        adapter = cached_adapter(model.adapter_repo, commit)
        if adapter is None:
            return _to_fetch(id_, model.adapter_repo, commit, adapter=True)
        source = replace(source, adapter_revision=commit)
    else:
        adapter = None if model.adapter_folder is None else Path(model.adapter_folder)
    if adapter is not None and (problem := adapter_problem(adapter)) is not None:
        raise InputError(f"{model.adapter}: {problem}")
    if model.repo is None:
        folder = Path(source.location)
        if (folder / ADAPTER).is_file() and not (folder / "config.json").is_file():
            raise InputError(f"{folder}: {only_an_adapter(str(folder), folder / ADAPTER)}")
        _require_weights(folder, "copy the model there again, or correct its `path`")
        return LocalModel(source, folder)
    recorded = None if results is None else results / "revisions" / f"{id_}.json"
    commit = _commit(model.repo, model.revision, recorded)
    snapshot = cached(model.repo, commit)
    if snapshot is not None:
        again = f"delete {snapshot.parents[1]} and run: {fetch_command(model.repo, commit)}"
        _require_weights(snapshot, again)
        return LocalModel(replace(source, location=model.repo, revision=commit), snapshot)
    return _to_fetch(id_, model.repo, commit)


def _commit(repo: str, revision: str | None, recorded: Path | None) -> str:
    if recorded is not None and recorded.is_file():
        return read_revision(recorded, repo).commit
    with hub_errors(repo, revision):
        return commit_of(repo, revision)


def _require_loadable(id_: str, model: Model) -> None:
    check_family(model.family)
    if model.compile:
        require_compilers(id_, "cuda" if model.gpus else "cpu")
    if lacks_trust(model):
        raise untrusted(id_, id_)
    if model.server is None and model.env is None and model.recommended == "server":
        raise InputError(
            f"{id_}: no job can load it, since no environment can be pinned for it (`env: null`); let a "
            "server load it (`server` in the model catalogue, docs/models.md). Its note: "
            f"{model.note or 'none'}"
        )


def _require_weights(folder: Path, fix: str) -> None:
    problem = weights_problem(folder)
    if problem is not None:
        raise InputError(f"{folder}: {problem}; {fix}")


def _to_fetch(id_: str, repo: str, commit: str, *, adapter: bool = False) -> Finding:
    if is_offline_mode():
        raise InputError(not_here(repo, commit, adapter=adapter))
    hub = HfApi()
    with hub_errors(repo, commit):
        info = hub.model_info(repo, revision=commit, files_metadata=True, timeout=HUB_TIMEOUT)
        if info.gated:
            hub.auth_check(repo)
    sizes = {
        end: sum(file.size or 0 for file in info.siblings or () if file.rfilename.endswith(end))
        for end in WEIGHTS
    }
    # Of several formats, transformers fetches the first.
    size = next(filter(None, sizes.values()), None)
    gated = ", gated: HF_TOKEN has access" if info.gated else ""
    what = f"{'its adapter, ' if adapter else ''}{disk_text(size) if size else 'size unknown'}"
    return Finding(STAGE, "fetch", id_, f"{what}, from the Hub: {repo}{gated}")
