"""Check that the jobs of a run fit the cluster that is described, and that one is where they need GPUs."""

from collections.abc import Iterator
from pathlib import Path

from benchc.checking.finding import Finding, Level
from benchc.cluster.site import EXAMPLE, SITE, Site, read_site, site_file
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.pluralize import pluralize


def check_cluster(config: Config, file: Path | None = None, items: int = 0) -> Iterator[Finding]:
    """Yield what slurm/site.yaml lacks for the jobs of a run.

    Nothing where it describes no cluster and no job needs GPUs. ``file``: that of the configuration; without
    it, only GPUs are looked at. ``items``: of the pool, by which jobs ask for time.
    """
    gpus = config.most_gpus
    if not gpus and not site_file().is_file():
        return
    needed, use = pluralize(gpus, "GPU"), "before you use --profile slurm"
    try:
        site = read_site(site_file())
    except InputError as error:
        reason = str(error).splitlines()[0].rstrip(".")
        fix = "correct it" if site_file().is_file() else "call benchc site"
        yield _found("warning", f"{reason}; {fix} {use}")
        return
    most = max(limits.max_gpu for limits in site.limits.values())
    if site == EXAMPLE and not gpus:
        return
    if site == EXAMPLE:
        yield _found(
            "warning", f"{SITE} is still the example, and a job needs {needed}; call benchc site {use}"
        )
    elif most < gpus:
        text = f"{SITE} has no partition with {needed} for a job, which the run needs; add one {use}"
        yield _found("warning", text)
    elif file is None:
        yield _found("ok", f"{SITE} has a partition with {needed} for a job")
    else:
        yield _fitting(site, file, items)


def _fitting(site: Site, file: Path, items: int) -> Finding:
    """Return whether each job that is left fits a partition."""
    # Imported here since only this needs Snakemake.
    from benchc.planning.cluster_jobs import asked_of, read_profile
    from benchc.planning.dry_run import dry_run
    from benchc.workflow.minutes import rows_before_made

    try:
        with rows_before_made(items):
            asked = asked_of(dry_run(file).jobs, site, read_profile())
    except InputError as error:
        return _found("warning", f"jobs cannot be counted: {' '.join(str(error).split())}")
    cut = [
        each.job.rule for each in asked if each.request.model_copy(update={"partition": ""}) != each.needed
    ]
    if cut:
        rules = ", ".join(dict.fromkeys(cut))
        text = f"{SITE}: {pluralize(len(cut), 'job')} of {len(asked)} get less than they need ({rules})"
        return _found("warning", f"{text}; benchc plan shows of what")
    return _found("ok", f"{SITE}: each of {pluralize(len(asked), 'job')} that are left fits a partition")


def _found(level: Level, text: str) -> Finding:
    return Finding("cluster", level, "partitions", text)
