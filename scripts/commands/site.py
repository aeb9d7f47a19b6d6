"""Describe a SLURM cluster in slurm/site.yaml, and try it with a short job in each partition."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

from benchc.atomic import write_text
from benchc.cluster.found import LEAST_MEMORY_MB, FoundPartition, accounts, is_refused, partitions
from benchc.cluster.site import EXAMPLE, SITE, read_site
from benchc.cluster.trial import try_partitions
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
        models = read_config(config).asked.values()
        folders = [Path(model.path).absolute() for model in models if model.path is not None]
    print(f"trying {pluralize(len(described.partitions), 'partition')} with a job of a few seconds each")
    bad = 0
    for tried in try_partitions(described, folders, wait):
        level = {True: "ok", False: "error", None: "warning"}[tried.is_good]
        bad += tried.is_good is False
        print(f"{level}: {tried.partition}: {tried.text}", flush=True)
    if bad:
        raise InputError(f"{pluralize(bad, 'partition')} of {SITE} cannot be used; correct or remove it")


def _text(found: Mapping[str, FoundPartition], account: str | None, qos: str | None) -> str:
    """Return the file's content: what SLURM says, and comments on what it does not say."""
    return "\n".join(_lines(found, account, qos)) + "\n"


def _lines(found: Mapping[str, FoundPartition], account: str | None, qos: str | None) -> Iterator[str]:
    yield f"# Written by `benchc site` on {date.today()}; docs/cluster.md describes all keys."
    if account is None and len(known := accounts()) > 1:
        yield f"# You have the accounts {', '.join(known)}. Without one, jobs are of your default account."
    given = {"account": account, "qos": qos}
    yield from (f"{name}: {json.dumps(value)}" for name, value in given.items() if value is not None)
    yield "partitions: # remove those to which no job should go"
    for name, partition in found.items():
        yield f"  {json.dumps(name)}:"
        if partition.max_runtime is not None:
            yield f"    max_runtime: {partition.max_runtime} # minutes"
        if partition.max_mem_mb >= LEAST_MEMORY_MB:
            yield f"    max_mem_mb: {partition.max_mem_mb}"
        yield f"    max_threads: {partition.max_threads}"
        types = f" # of type {' or '.join(partition.gpu_types)}" if partition.gpu_types else ""
        yield f"    max_gpu: {partition.max_gpu}{types}"
    with_gpus = [name for name, partition in found.items() if partition.max_gpu]
    if with_gpus:
        base = [f"--{name}={value}" for name, value in given.items() if value is not None]
        base.append(f"--partition={with_gpus[0]}")
        kinds = list(dict.fromkeys(kind for partition in found.values() for kind in partition.gpu_types))
        kind = f":{kinds[0]}" if kinds else ""
        if is_refused([*base, "--gpus=1"]) and not is_refused([*base, f"--gres=gpu{kind}:1"]):
            yield "gpus:"
            yield "  request: gres # SLURM refuses --gpus here"
            if kinds and is_refused([*base, "--gres=gpu:1"]):
                yield f"  type: {json.dumps(kinds[0])} # one of {', '.join(kinds)}"
