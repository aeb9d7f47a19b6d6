"""Check the time of a run, as far as its models were measured, and the disk space of its images."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from benchc.checking.finding import Finding, Level, reason
from benchc.checking.folders import existing
from benchc.checking.image_time import ImageTime, JobImages, job_images
from benchc.checking.pool import PoolFound
from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.config.settings import Corruptions
from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.models.asking import Job
from benchc.planning.amounts import Amount, digits_text, disk_text, hours_text, total
from benchc.planning.plan import Plan, plan_of
from benchc.planning.rates import Rate, Rates, measured_rates
from benchc.planning.replaced import own_tables
from benchc.planning.size import ImageCounts
from benchc.planning.stages import Work, work_of
from benchc.pluralize import pluralize

# Folders of a run's images.
IMAGES = ("corrupted", "benchmark")


def check_cost(
    config: Config, pool: PoolFound, tried: Rates, time: ImageTime | None = None
) -> Iterator[Finding]:
    """Yield the estimated time of each model and in all, and whether the images fit on the disk.

    ``tried``: rates of models that were tried; those of the run's finished jobs replace them. ``time``: that
    of the run's images, where it was measured.
    """
    results, logs = Path("results") / config.settings.name, Path("logs") / config.settings.name
    try:
        module_of(config.settings.benchmark, "planning.plan")
    except InputError as error:
        yield Finding("time", "skipped", "all", reason(error))
        return
    images = None if pool.size is None else pool.size.images
    shown = job_images(time, images, config)
    try:
        tables = own_tables(config, results)
        plan = plan_of(config, tables, pool.size)
        measured = measured_rates(config.asked, logs, results, config.settings.asking_rule)
        # A trial says more than another run, whose images are others, and this run more than a trial.
        own = {model: rate for model, rate in measured.items() if rate.run is None}
        others = {
            model: replace(rate, seconds=total([rate.seconds, Amount(shown.each)]), images=shown.each)
            for model, rate in measured.items()
            if rate.run is not None
        }
        work = work_of(plan.expected or plan.stages, tables, {**others, **tried, **own})
        writing = writing_of(plan.images, images, time, config.settings.corruptions, tables)
        noun = "predictions" if config.settings.asking_rule == "infer" else "answers"
        yield from _time(plan, work, writing, shown, noun, generated=pool.drawn is None)
    except (InputError, OSError) as error:
        yield Finding("time", "error", "all", reason(error))
        return
    yield _disk(plan, results, tables)


@dataclass(frozen=True)
class Writing:
    """The jobs that write corrupted images: how many are left, and their hours."""

    jobs: int
    hours: Amount


def writing_of(
    counts: ImageCounts,
    images: pl.DataFrame | None,
    time: ImageTime | None,
    chosen: Corruptions,
    results: Path,
) -> Writing:
    """Return the jobs of a run that write images, one for each corruption whose file is not there.

    ``counts``: the images that the run writes; ``images``: those of :class:`RunSize`.
    """
    if counts.written.value == 0:
        return Writing(0, Amount(0))
    names = (CLEAN, *chosen.types)
    jobs = sum(
        not any((results / folder / f"{name}.parquet").exists() for folder in IMAGES) for name in names
    )
    if not jobs or time is None or images is None:
        return Writing(jobs, Amount(None if jobs else 0))
    pixels = float(images.unique("image_key")["pixels"].to_numpy().mean())
    seconds = counts.written.times((time.make + time.write) * pixels * jobs / len(names))
    starts = Amount(jobs * (time.start + time.first), "estimate")
    return Writing(jobs, total([seconds, starts]).times(1 / 3600))


def _time(
    plan: Plan,
    work: Sequence[Work],
    writing: Writing,
    shown: JobImages,
    noun: str,
    *,
    generated: bool,
) -> Iterator[Finding]:
    """Yield the time of each model, of the images, and in all."""
    models = dict.fromkeys(each.model for each in work)
    for model in models:
        own = [each for each in work if each.model == model]
        if own[0].rate is not None:
            yield Finding("time", "ok", model, _of_model(own, own[0].rate, noun, shown, generated=generated))
    if writing.jobs:
        text = f"{writing.hours.text(hours_text)} to write those that are not there"
        if writing.hours.value is None:
            text = "time to write them unknown"
        level: Level = "skipped" if writing.hours.value is None else "ok"
        yield Finding("time", level, "images", f"{text}, in {pluralize(writing.jobs, 'job')}")
    if not models:
        yield Finding("time", "ok", "all", "no model is asked")
        return
    if unknown := list(dict.fromkeys(each.model for each in work if each.rate is None)):
        count = total(each.left for each in work)
        if count.value is not None:
            yield Finding("time", "ok", "all", f"{count.text()} {noun}")
        text = f"time unknown for models that were not timed where their jobs run: {', '.join(unknown)}"
        yield Finding("time", "skipped", "all", text)
        return
    known = writing.hours.value is not None
    hours = total([*(each.hours_left for each in work), *([writing.hours] if known else [])])
    jobs = [f"{pluralize(sum(each.jobs_left for each in work), 'job')} that ask models"]
    if writing.jobs and known:
        jobs.append(f"{writing.jobs:,} that write images")
    assumed = f", if {plan.assumption}" if plan.expected else ""
    less = f"; less where {Job.cache} has {noun} of other runs" if any(Job.cache.glob("*/")) else ""
    text = (
        f"{hours.text(hours_text)} in {' and '.join(jobs)}, one after another{assumed}{less}; not counted: "
    )
    yield Finding("time", "ok", "all", text + ", ".join(_not_counted(work, writing, shown, noun)))


def _of_model(own: Sequence[Work], rate: Rate, noun: str, shown: JobImages, *, generated: bool) -> str:
    """Return the time of a model and what it is made of; ``generated``: it was tried on generated items."""
    left, hours = total(each.left for each in own), total(each.hours_left for each in own)
    jobs = sum(each.jobs_left for each in own)
    if hours.value == 0:
        return f"no time: its {noun} are there"
    text = f"{hours.text(hours_text)} for {left.text()} {noun}"
    if left.value is None:
        text = "unknown until all sources are here"
    text += f", {rate.seconds.text(digits_text)} s each"
    if rate.run is not None:
        images = f" and {digits_text(shown.each)} s more for the images of this one" if shown.each else ""
        return f"{text}, as in the run {rate.run}{images}"
    if rate.start is None:
        return f"{text}, as in the finished jobs of this run"
    on = " on generated items" if generated else ""
    images = ", images included" if shown.each else f"{on}, without its images"
    started = "its job" if jobs == 1 else f"each of {jobs:,} jobs"
    return f"{text}{images}, and {digits_text(rate.start)} s to start {started}"


def _not_counted(work: Sequence[Work], writing: Writing, shown: JobImages, noun: str) -> Iterator[str]:
    rates = [each.rate for each in work if each.rate is not None]
    if not shown.each and any(rate.start is not None for rate in rates):
        yield "the images that these jobs read or corrupt"
    if any(rate.start is None for rate in rates):
        yield "the start of jobs that are smaller than those that were measured"
    if writing.hours.value is None:
        yield "the images that are written"
    if noun == "predictions" and any(each.stage.outputs[0].startswith("answers/") for each in work):
        yield "what an answer takes longer than a prediction"
    yield "all other jobs"


def _disk(plan: Plan, results: Path, tables: Path) -> Finding:
    """Compare the estimated images, without those that are written in ``tables``, with the free space."""
    free = shutil.disk_usage(existing(results)).free
    room = f"{disk_text(free)} free at {results}"
    if plan.images.written.value == 0:
        return Finding("disk", "ok", "images", f"no images are to be written, {room}")
    if plan.images.disk.value is None:
        return Finding("disk", "skipped", "images", f"size unknown until all sources are here; {room}")
    written = sum(path.stat().st_size for path in tables.glob("*/*.parquet") if path.parent.name in IMAGES)
    needed = plan.images.disk.minus(written)
    text = f"{needed.text(disk_text)} of images are to be written, {room}"
    if (needed.value or 0) > free:
        fix = "free space, shorten the corruptions or the pool, or set corruptions.corrupted: on_the_fly"
        return Finding("disk", "error", "images", f"{text}; {fix}")
    return Finding("disk", "ok", "images", text)
