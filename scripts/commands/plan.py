"""Estimate the cost of a run: predictions by stage and model, and hours where measured."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.cluster.site import EXAMPLE, SITE, read_site, site_file
from benchc.config.differing import changed_settings
from benchc.config.load import read_config
from benchc.config.resolved import resolved
from benchc.errors import InputError
from benchc.home import has_pipeline
from benchc.models.supported import is_supported
from benchc.planning.amounts import Amount
from benchc.planning.image_hours import image_note
from benchc.planning.plan import plan_markdown, plan_of
from benchc.planning.rates import Rate, measured_rates
from benchc.planning.replaced import own_tables, replaced_run
from benchc.planning.size import POOL_FILE, run_size
from benchc.planning.sources import sources_markdown
from benchc.planning.stages import work_of, work_table
from benchc.pluralize import pluralize
from benchc.user_output import refuse_overwriting

MOST = 3  # changed settings that are named


def plan(
    config: Path = Path("config/config.yaml"),
    /,
    *,
    seconds_per_prediction: float | None = None,
    output: Path | None = None,
) -> None:
    """Estimate the cost of a run: predictions by stage, how many exist, device time, and disk.

    Counts are exact where the run's tables exist, otherwise upper bounds, estimates, or unknown. Those of a
    source that is not here are from its published size. Where slurm/site.yaml describes a cluster, the jobs,
    what they ask for, and the limits that they reach follow. Nothing is computed, downloaded or changed.

    Args:
        config: the run's configuration
        seconds_per_prediction: rate of every model, instead of those measured on finished jobs of this run,
            or of others
        output: CSV file to write, one row per stage and model
    """
    if seconds_per_prediction is not None and not 0 < seconds_per_prediction < float("inf"):
        raise InputError(f"--seconds-per-prediction {seconds_per_prediction}: give a number above 0")
    if output is not None:
        refuse_overwriting(output, [config])
    read = read_config(config)
    name = read.settings.name
    results = Path("results") / name
    replaced = replaced_run(read, results)
    tables = own_tables(read, results)
    size = run_size(read, tables)
    planned = plan_of(read, tables, size)
    rates = measured_rates(read.asked, Path("logs") / name, results, read.settings.asking_rule)
    if seconds_per_prediction is not None:
        rates = dict.fromkeys(read.asked, Rate(Amount(seconds_per_prediction)))
    if output is not None:
        table = work_table(work_of(planned.stages, tables, rates))
        try:
            write_text(output, table.write_csv())
        except OSError as error:
            raise InputError(f"--output {output}: {error.strerror}; name another file") from error
    text = plan_markdown(planned, tables, rates, config)
    # The pool says more.
    known = read.finished or (tables / POOL_FILE).exists()
    sources = "" if known else f"{sources_markdown(read, tables)}\n"
    warning = f"warning: {replaced}.\n\n" if replaced else ""
    print(f"{config}: run {name}\n\n{warning}{sources}{text}", end="")
    if note := image_note(read.settings, planned, tables):
        print(f"- {note}", end="")
    changes = changed_settings(results, resolved(read, str(results), Path.cwd()))
    if changes and not replaced:
        more = f" and {len(changes) - MOST} more" if len(changes) > MOST else ""
        print(
            f"- settings have changed since the last run ({'; '.join(changes[:MOST])}{more}), and done and "
            "left count files that will be made again, too: "
            f"`benchc what-reruns {config}` counts their predictions."
        )
    unsupported = [
        f"{id_} ({model.family})" for id_, model in read.asked.items() if not is_supported(model.family)
    ]
    if unsupported:
        print(
            f"- {pluralize(len(unsupported), 'model')} of families that are not supported yet "
            f"(docs/models.md), so the run will not start: {', '.join(unsupported)}."
        )
    if has_pipeline():
        print(_of_cluster(config, size.pool), end="")


def _of_cluster(config: Path, items: Amount) -> str:
    """Return what the jobs that are left ask the cluster of slurm/site.yaml for; "" where there is none."""
    # Imported here, since without the pipeline there is no snakemake.
    from benchc.cluster.limits import limits_of
    from benchc.planning.cluster_jobs import cluster_markdown, read_profile
    from benchc.planning.dry_run import dry_run
    from benchc.workflow.minutes import rows_before_made

    try:
        site, profile = read_site(site_file()), read_profile()
        if site == EXAMPLE and not SITE.is_file():
            return ""
        with rows_before_made(int(items.value or 0)):
            jobs = dry_run(config).jobs
    except InputError as error:
        return f"\nJobs on a cluster cannot be counted: {' '.join(str(error).split())}\n"
    return f"\n{cluster_markdown(jobs, site, profile, items, limits_of(site))}"
