"""Describe a SLURM cluster in slurm/site.yaml, and try it with a short job in each partition."""

import json
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path

from jinja2 import Environment, StrictUndefined

from benchc.atomic import write_text
from benchc.cluster.found import LEAST_MEMORY_MB, FoundPartition, accounts, is_refused, partitions
from benchc.cluster.site import EXAMPLE, SITE, read_site
from benchc.cluster.trial import try_partitions
from benchc.config.catalogue import Model
from benchc.config.load import read_config
from benchc.errors import InputError
from benchc.pluralize import pluralize


def site(
    *,
    account: str | None = None,
    qos: str | None = None,
    config: Path | None = None,
    replace: bool = False,
    wait: int = 300,
) -> None:
    """Describe the cluster in slurm/site.yaml, and try it with a job of a few seconds in each partition.

    The file is written from what SLURM says, unless it describes a cluster already. The jobs have the
    account, partition and request for GPUs of a run's, and look for the code, a GPU, and the models' folders.

    Args:
        account: the account of the jobs; default: none, for your default account
        qos: the quality of service of the jobs
        config: a run's configuration, whose models' folders the jobs try to read
        replace: write the file anew
        wait: seconds to wait for the jobs
    """
    if replace or not SITE.is_file() or read_site(SITE) == EXAMPLE:
        found = partitions()
        write_text(SITE, _text(found, account, qos))
        print(f"{SITE}: written from what SLURM says of {pluralize(len(found), 'partition')}; read it")
    elif account or qos:
        raise InputError(f"{SITE} describes a cluster already; give the account there, or add --replace")
    described = read_site(SITE)
    folders = []
    if config is not None:
        models = read_config(config).asked
        folders = [Path(model.path).absolute() for model in models.values() if model.path is not None]
        for id_, model in models.items():
            if text := _elsewhere(model):
                print(f"{id_}: {text}")
    print(f"trying {pluralize(len(described.partitions), 'partition')} with a job of a few seconds each")
    good, bad = set[str](), set[str]()
    for tried in try_partitions(described, folders, wait):
        level = {True: "ok", False: "error", None: "warning"}[tried.is_good]
        if tried.is_good is not None:
            (good if tried.is_good else bad).add(tried.partition)
        print(f"{level}: {tried.partition}: {tried.text}", flush=True)
    if bad:
        text = (
            f"jobs in {pluralize(len(bad), 'partition')} of {SITE} would fail; mend what the lines above "
            "say, or remove it"
        )
        if good and all(described.limits[name].max_gpu for name in bad):
            text += "; without it, runs without GPUs can go on"
        raise InputError(text)


def _elsewhere(model: Model) -> str:
    """Return where a model without a folder comes from."""
    if model.train is not None:
        return "made by the run"
    if model.server is not None:
        return "on a server, which benchc check asks"
    return f"of the Hub ({model.repo}), which benchc check looks for" if model.repo is not None else ""


def _text(found: Mapping[str, FoundPartition], account: str | None, qos: str | None) -> str:
    """Return the commented file: what SLURM says, and examples of what it does not say."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)
    template = (resources.files("benchc.cluster") / "site.yaml.j2").read_text(encoding="utf-8")
    known = accounts() if account is None else []
    return environment.from_string(template).render(
        account=account,
        qos=qos,
        accounts=known if len(known) > 1 else [],
        partitions=list(_partitions(found)),
        gpus=list(_gpus(found, {"account": account, "qos": qos})),
    )


def _partitions(found: Mapping[str, FoundPartition]) -> Iterator[str]:
    for name, partition in found.items():
        yield f"  {json.dumps(name)}:"
        if partition.max_runtime is not None:
            yield f"    max_runtime: {partition.max_runtime} # minutes"
        if partition.max_mem_mb >= LEAST_MEMORY_MB:
            yield f"    max_mem_mb: {partition.max_mem_mb}"
        yield f"    max_threads: {partition.max_threads}"
        types = f" # of type {' or '.join(partition.gpu_types)}" if partition.gpu_types else ""
        yield f"    max_gpu: {partition.max_gpu}{types}"


def _gpus(found: Mapping[str, FoundPartition], given: Mapping[str, str | None]) -> Iterator[str]:
    """Yield how jobs ask for GPUs, where SLURM refuses the usual way. ``given``: options of sbatch."""
    with_gpus = [name for name, partition in found.items() if partition.max_gpu]
    if not with_gpus:
        return
    base = [f"--{name}={value}" for name, value in given.items() if value is not None]
    base.append(f"--partition={with_gpus[0]}")
    kinds = list(dict.fromkeys(kind for partition in found.values() for kind in partition.gpu_types))
    kind = f":{kinds[0]}" if kinds else ""
    if is_refused([*base, "--gpus=1"]) and not is_refused([*base, f"--gres=gpu{kind}:1"]):
        yield "gpus:"
        yield "  request: gres # SLURM refuses --gpus here"
        if kinds and is_refused([*base, "--gres=gpu:1"]):
            yield f"  type: {json.dumps(kinds[0])} # one of {', '.join(kinds)}"
