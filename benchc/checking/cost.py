"""Check the time of a run, as far as its models were measured, and the disk space of its images."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from benchc.checking.finding import Finding, reason
from benchc.checking.folders import existing
from benchc.checking.pool import PoolFound
from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.planning.amounts import disk_text, hours_text, total
from benchc.planning.plan import Plan, plan_of
from benchc.planning.rates import Rates, measured_rates
from benchc.planning.stages import work_of
from benchc.pluralize import pluralize

# Folders of a run's images.
IMAGES = ("corrupted", "benchmark")


def check_cost(config: Config, pool: PoolFound, rates: Rates) -> Iterator[Finding]:
    """Yield the estimated time of each model and in all, and whether the images fit on the disk.

    ``rates`` are of models that were tried; those of the run's finished jobs replace them.
    """
    results, logs = Path("results") / config.settings.name, Path("logs") / config.settings.name
    try:
        module_of(config.settings.benchmark, "planning.plan")
    except InputError as error:
        yield Finding("time", "skipped", "all", reason(error))
        return
    try:
        plan = plan_of(config, results, pool.size)
        yield from _time(
            plan, results, rates, measured_rates(config.models, logs, results, config.settings.asking_rule)
        )
    except (InputError, OSError) as error:
        yield Finding("time", "error", "all", reason(error))
        return
    yield _disk(plan, results)


def _time(plan: Plan, results: Path, tried: Rates, measured: Rates) -> Iterator[Finding]:
    # A trial says more than another run, and this run more than a trial.
    own_rates = {model: rate for model, rate in measured.items() if rate.run is None}
    rates = {**measured, **tried, **own_rates}
    work = work_of(plan.expected or plan.stages, results, rates)
    assumed = f", if {plan.assumption}" if plan.expected else ""
    models = dict.fromkeys(each.model for each in work)
    if not models:
        yield Finding("time", "ok", "all", "no model is asked")
        return
    for model in (model for model in models if model in rates):
        own = [each for each in work if each.model == model]
        left, hours = total(each.left for each in own), total(each.hours_left for each in own)
        text = f"{hours.text(hours_text)} for {left.text()} predictions"
        if left.value is None:
            text = "unknown until all sources are here"
        seconds = rates[model].seconds.text("{:.2g}".format)
        # Measured rates include loading.
        jobs = pluralize(sum(len(each.stage.outputs) for each in own), "job")
        run = rates[model].run
        more = f" as in the run {run}" if run else "" if model in own_rates else f", and loading in {jobs}"
        yield Finding("time", "ok", model, f"{text}, {seconds} s each{more}")
    if unknown := [model for model in models if model not in rates]:
        count = total(each.left for each in work)
        if count.value is not None:
            yield Finding("time", "ok", "all", f"{count.text()} predictions")
        text = f"time unknown for models that were not tried here on their device: {', '.join(unknown)}"
        yield Finding("time", "skipped", "all", text)
    else:
        hours = total(each.hours_left for each in work)
        yield Finding("time", "ok", "all", f"{hours.text(hours_text)}, one job after another{assumed}")


def _disk(plan: Plan, results: Path) -> Finding:
    """Compare the estimated images, without those that are written, with the free space."""
    free = shutil.disk_usage(existing(results)).free
    room = f"{disk_text(free)} free at {results}"
    if plan.images.written.value == 0:
        return Finding("disk", "ok", "images", f"no images are to be written, {room}")
    if plan.images.disk.value is None:
        return Finding("disk", "skipped", "images", f"size unknown until all sources are here; {room}")
    written = sum(path.stat().st_size for path in results.glob("*/*.parquet") if path.parent.name in IMAGES)
    needed = plan.images.disk.minus(written)
    text = f"{needed.text(disk_text)} of images are to be written, {room}"
    if (needed.value or 0) > free:
        fix = "free space, shorten the corruptions or the pool, or set corruptions.corrupted: on_the_fly"
        return Finding("disk", "error", "images", f"{text}; {fix}")
    return Finding("disk", "ok", "images", text)
