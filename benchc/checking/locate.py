"""Where a model of a run is: in a folder, in the Hub's cache, on the Hub, or made by the run."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2 as httpx
from huggingface_hub import HfApi, is_offline_mode, try_to_load_from_cache
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError

from benchc.checking.finding import Finding
from benchc.config.catalogue import Model
from benchc.errors import InputError
from benchc.models.folder import deciding_files
from benchc.models.protocol import CheckpointSource
from benchc.models.revisions import commit_of
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


def locate(id_: str, model: Model, results: Path) -> LocalModel | Finding:
    """Return where the model is, or that it must be made or fetched; raises InputError where it cannot be."""
    if model.train is not None:
        return Finding(STAGE, "made", id_, "made by the run")
    device = "cuda" if model.gpus else "cpu"
    source = CheckpointSource(
        model.path or "",
        None,
        model.dtype,
        device,
        model.processor,
        model.family,
        model.trust_remote_code,
        model.auto_class,
    )
    if model.repo is None:
        return LocalModel(source, Path(source.location))
    recorded = results / "revisions" / f"{id_}.json"
    if recorded.is_file():
        commit = read_revision(recorded, model.repo).commit
    else:
        commit = commit_of(model.repo, model.revision)
    config = try_to_load_from_cache(model.repo, "config.json", revision=commit)
    if isinstance(config, str) and _is_complete(Path(config).parent):
        return LocalModel(replace(source, location=model.repo, revision=commit), Path(config).parent)
    return _to_fetch(id_, model.repo, commit)


def _is_complete(folder: Path) -> bool:
    """Return whether the weights in a folder of the Hub's cache are there, with all shards."""
    files = deciding_files(folder)
    for index in (path for path in files if path.name.endswith(".index.json")):
        try:
            names = set(json.loads(index.read_bytes())["weight_map"].values())
        except (ValueError, LookupError, TypeError, AttributeError):
            return True  # loading it says what is wrong
        return all((folder / str(name)).is_file() for name in names)
    return any(path.suffix in WEIGHTS for path in files)


def _to_fetch(id_: str, repo: str, commit: str) -> Finding:
    if is_offline_mode():
        raise InputError(
            f"{repo}: is not in the Hub's cache, and HF_HUB_OFFLINE forbids downloads; unset it, or download "
            f"the model first: hf download {repo} --revision {commit}"
        )
    try:
        hub = HfApi()
        info = hub.model_info(repo, revision=commit, files_metadata=True, timeout=HUB_TIMEOUT)
        if info.gated:
            hub.auth_check(repo)
    except GatedRepoError as error:
        raise InputError(
            f"{repo}: is gated; accept its licence at https://huggingface.co/{repo}, then set HF_TOKEN"
        ) from error
    except (HfHubHTTPError, httpx.HTTPError) as error:
        raise InputError(
            f"{repo}: cannot be fetched ({' '.join(str(error).split())}); check the id and the revision in "
            "the model catalogue, and the network"
        ) from error
    sizes = {
        end: sum(file.size or 0 for file in info.siblings or () if file.rfilename.endswith(end))
        for end in WEIGHTS
    }
    # Of several formats, transformers fetches the first.
    size = next(filter(None, sizes.values()), None)
    gated = ", gated: HF_TOKEN has access" if info.gated else ""
    return Finding(
        STAGE, "fetch", id_, f"{disk_text(size) if size else 'size unknown'}, from the Hub: {repo}{gated}"
    )
