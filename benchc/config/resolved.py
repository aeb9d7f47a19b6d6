"""The complete configuration of a run: every default filled in, with the catalogue entries that it uses."""

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import yaml

from benchc.config.catalogue import Model, Source
from benchc.config.load import Config
from benchc.user_paths import relative_path

HEADER = "# A record of the run: every key with its value. To change one, edit the run's own configuration.\n"
RECORD = "record of the configuration"


def digest(texts: Iterable[str]) -> str:
    """Return one line that changes with the texts of the files of :func:`resolved`."""
    return f"{RECORD} {blake2b(''.join(texts).encode(), digest_size=16).hexdigest()}"


def resolved(config: Config, folder: str, root: Path) -> dict[str, str]:
    """Return YAML files by their paths in ``folder``, which together are a configuration of the same run.

    Paths below ``root`` are relative to it. What only decides when and where a job runs is left out, so that
    a change of it is no change of the run: a model's memory, the number of its GPUs (none or 1: the device),
    and the processes that prepare images.
    """
    run, sources, models = (f"{folder}/config{part}.yaml" for part in ("", "-sources", "-models"))
    settings = config.settings.model_dump(mode="json", exclude={"inference": {"workers"}})
    settings["catalogues"] = {"sources": sources, "models": models}
    return {
        run: _text(settings),
        sources: _text({id_: _entry(source, root) for id_, source in config.all_sources.items()}),
        models: _text(
            {
                id_: _entry(model, root, "mem_mb") | {"gpus": min(model.gpus, 1)}
                for id_, model in config.models.items()
            }
        ),
    }


def _entry(entry: Source | Model, root: Path, *left_out: str) -> dict[str, Any]:
    content = entry.model_dump(mode="json", exclude=set(left_out))
    if entry.path is not None:
        content["path"] = str(relative_path(entry.path, root))
    if isinstance(entry, Model) and entry.adapter_folder is not None:
        content["adapter"] = str(relative_path(entry.adapter_folder, root))
    if isinstance(entry, Source) and entry.convert is not None:
        convert = entry.convert.with_paths(lambda _key, path, _kind: str(relative_path(path, root)))
        content["convert"] = convert.model_dump(mode="json")
    return content


def _text(content: dict[str, Any]) -> str:
    return HEADER + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110)
