"""Check that a cluster is described for a run that needs GPUs."""

from collections.abc import Iterator

from benchc.checking.finding import Finding, Level
from benchc.cluster.site import EXAMPLE, SITE, read_site, site_file
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.pluralize import pluralize


def check_cluster(config: Config) -> Iterator[Finding]:
    """Yield what slurm/site.yaml lacks for jobs that need GPUs; nothing where none does."""
    gpus = config.most_gpus
    if not gpus:
        return
    needed, use = pluralize(gpus, "GPU"), "before you use --profile slurm"
    try:
        site = read_site(site_file())
    except InputError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        yield _found("warning", f"{reason}; call benchc site {use}")
        return
    most = max(limits.max_gpu for limits in site.limits.values())
    if site == EXAMPLE:
        yield _found(
            "warning", f"{SITE} is still the example, and a job needs {needed}; call benchc site {use}"
        )
    elif most < gpus:
        text = f"{SITE} has no partition with {needed} for a job, which the run needs; add one {use}"
        yield _found("warning", text)
    else:
        yield _found("ok", f"{SITE} has a partition with {needed} for a job")


def _found(level: Level, text: str) -> Finding:
    return Finding("cluster", level, "partitions", text)
