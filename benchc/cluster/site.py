"""What a cluster's file, slurm/site.yaml, says: account, partitions and their limits, GPUs, environment."""

import math
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from benchc.config.errors import ConfigError
from benchc.config.load import validate
from benchc.config.strict import GpuType, NotBlank, Strict, Variable
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError
from benchc.home import HOME
from benchc.models.gpus import TYPE_ASKED

SITE = Path("slurm/site.yaml")
# Of SLURM, D-HH:MM:SS and its short forms, and of Snakemake, such as 90m, 24h and 7d.
SLURM_TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
UNITS = {"m": 1, "h": 60, "d": 1440}
VARIABLE = re.compile(r"\$\{?(\w+)")


def minutes_of(time: str) -> int:
    """Return a time in minutes: SLURM's ``90`` or ``1-12:00:00``, or ``90m``, ``24h``, ``7d``.

    Raises ValueError for another text.
    """
    if time[-1:] in UNITS and time[:-1].isdecimal():
        return int(time[:-1]) * UNITS[time[-1]]
    match = SLURM_TIME.fullmatch(time)
    if match is None:
        raise ValueError(f'is "{time}", but should be a time, such as 24h, 90m or 1-00:00:00')
    days, *parts = (int(part or 0) for part in match.groups())
    if match[1] is not None:
        hours, left, seconds = parts
    elif match[4] is None:
        hours, left, seconds = 0, parts[0], parts[1]
    else:
        hours, left, seconds = parts
    return days * 1440 + hours * 60 + left + math.ceil(seconds / 60)


def _minutes(value: object) -> object:
    """Return a text as minutes; a value of another type is validated as it is."""
    return minutes_of(value) if isinstance(value, str) else value


def _expanded(value: str) -> str:
    """Return a text with its variables and ~. Raises ValueError for one that is not set here."""
    unset = [name for name in VARIABLE.findall(value) if name not in os.environ]
    if unset:
        raise ValueError(
            f'is "{value}", but ${unset[0]} is not set here; write its value, or set the variable in setup'
        )
    if "\0" in value:
        raise ValueError("has a null character; remove it")
    # Not by pathlib, since a value need not be a path.
    return os.path.expanduser(os.path.expandvars(value))  # noqa: PTH111


Minutes = Annotated[int, BeforeValidator(_minutes), Field(ge=1)]
Positive = Annotated[int, Field(ge=1)]


class Partition(Strict):
    """The limits of one job in a partition; None where there is none."""

    max_runtime: Minutes | None = None
    max_mem_mb: Positive | None = None
    max_threads: Positive | None = None
    max_gpu: Annotated[int, Field(ge=0)] = 0
    account: NotBlank | None = None
    qos: NotBlank | None = None
    constraint: NotBlank | None = None


class Gpus(Strict):
    """How jobs ask for GPUs. ``type``: as SLURM names it; None for any."""

    request: Literal["gpus", "gres"] = "gpus"
    type: GpuType | None = None


class Site(Strict):
    """A cluster, as slurm/site.yaml describes it."""

    PAGE: ClassVar[str] = "docs/cluster.md"
    account: NotBlank | None = None
    qos: NotBlank | None = None
    partitions: Annotated[Mapping[NotBlank, Partition | None], Field(min_length=1)]
    gpus: Gpus = Gpus()
    setup: NotBlank | None = None
    environment: Mapping[Variable, Annotated[str, AfterValidator(_expanded)]] = Field(default_factory=dict)
    local_jobs: Positive = 2
    seconds_between_polls: Positive = 15

    @property
    def limits(self) -> dict[str, Partition]:
        """The partitions by name; one without a value has no limits."""
        return {name: limits or Partition() for name, limits in self.partitions.items()}

    @property
    def variables(self) -> dict[str, str]:
        """The variables of all jobs: ``environment``, and the type of GPU that they ask for."""
        # SLURM has one with the type only where it is asked for by --gpus.
        return {TYPE_ASKED: self.gpus.type or "", **self.environment}


# As in the repository.
EXAMPLE = Site(partitions={"cpu": Partition(), "gpu": Partition(max_gpu=8)})


def site_file() -> Path:
    """Return the file of the working directory; where it has none, that of the code, if there is one."""
    others = [SITE, HOME / SITE]
    return next((path for path in others if path.is_file()), SITE)


def read_site(path: Path) -> Site:
    """Return a site. Raises InputError where the file cannot be read, or ConfigError where it is invalid."""
    try:
        content: Any = read_yaml(path)
    except (OSError, YamlError) as error:
        reason = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else error
        fix = "benchc site writes it, on a node that submits jobs"
        if path.exists():
            fix = "correct it, or write it anew: benchc site --replace"
        raise InputError(f"{path}: {reason}; {fix}") from error
    errors: list[str] = []
    site = validate(Site, {} if content is None else content, str(path), errors)
    if site is None:
        raise ConfigError(errors)
    return site


class Request(Strict):
    """What a job asks for, in a partition. ``minutes``: None for the partition's default.

    ``retried``: whether it has failed before.
    """

    threads: int
    mem_mb: int
    minutes: int | None
    gpus: int
    partition: str = ""
    retried: bool = False

    def at_most(self, limits: Partition) -> "Request":
        """Return the request without what is above the limits, GPUs excepted."""
        asked = (
            ("threads", limits.max_threads),
            ("mem_mb", limits.max_mem_mb),
            ("minutes", limits.max_runtime),
        )
        changed = {
            name: limit for name, limit in asked if limit is not None and (getattr(self, name) or 0) > limit
        }
        return self.model_copy(update=changed)


def placed(asked: Request, site: Site) -> Request:
    """Return a request in the partition that fits it best, cut to its limits.

    That is one without GPUs for a job without, then one that need not cut it, then the first. Among those
    that cut it, it is the one with the longest time and then the most memory. Raises InputError where no
    partition has so many GPUs.
    """
    fitting = {name: limits for name, limits in site.limits.items() if limits.max_gpu >= asked.gpus}
    if not fitting:
        raise InputError(
            f"no partition of {SITE} has {asked.gpus} GPUs for a job; correct max_gpu, or the model's gpus"
        )

    def misfit(name: str) -> tuple[bool, bool, float, float]:
        cut = asked.at_most(fitting[name])
        fits = cut == asked
        lost = (0.0, 0.0) if fits else (-float(cut.minutes or 0), -float(cut.mem_mb))
        return (bool(fitting[name].max_gpu) != bool(asked.gpus), not fits, *lost)

    best = min(fitting, key=misfit)
    return asked.at_most(fitting[best]).model_copy(update={"partition": best})


def options(request: Request, site: Site) -> Iterator[tuple[str, str]]:
    """Yield the resources of SLURM's plugin that a placed request has beside threads, memory and time."""
    limits = site.limits[request.partition]
    given = {
        "slurm_account": limits.account or site.account,
        "qos": limits.qos or site.qos,
        "constraint": limits.constraint,
    }
    yield "slurm_partition", request.partition
    yield from ((name, value) for name, value in given.items() if value is not None)


def gpu_option(gpus: int, site: Site) -> str:
    """Return the option of sbatch that asks for GPUs; "" for none."""
    if not gpus:
        return ""
    kind = f"{site.gpus.type}:" if site.gpus.type else ""
    return f"--gpus={kind}{gpus}" if site.gpus.request == "gpus" else f"--gres=gpu:{kind}{gpus}"
