"""Check what a run needs of the machine: time, disk space, permissions, fonts, and a cluster's partitions."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from benchc.checking.finding import Finding, reason
from benchc.checking.pool import PoolFound
from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError
from benchc.planning.amounts import disk_text, hours_text, total
from benchc.planning.plan import Plan, plan_of
from benchc.planning.rates import Rate, measured_rates
from benchc.planning.stages import work_of
from benchc.pluralize import pluralize

# Folders of a run's images.
IMAGES = ("corrupted", "benchmark")
PARTITIONS = Path("slurm/partitions.yaml")
# As in the repository.
EXAMPLE = {"partitions": {"cpu": {"max_gpu": 0}, "gpu": {"max_gpu": 8}}}


def check_cost(config: Config, pool: PoolFound | None, rates: Mapping[str, Rate]) -> Iterator[Finding]:
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
        plan = plan_of(config, results, pool.size if pool else None)
        yield from _time(plan, results, {**rates, **measured_rates(config.models, logs)})
    except (InputError, OSError) as error:
        yield Finding("time", "error", "all", reason(error))
        return
    yield _disk(plan, results)


def _time(plan: Plan, results: Path, rates: Mapping[str, Rate]) -> Iterator[Finding]:
    work = work_of(plan.expected or plan.stages, results, rates)
    assumed = f" if {plan.assumption}" if plan.expected else ""
    models = dict.fromkeys(each.model for each in work)
    for model in (model for model in models if model in rates):
        own = [each for each in work if each.model == model]
        left, hours = total(each.left for each in own), total(each.hours_left for each in own)
        text = f"{hours.text(hours_text)} for {left.text()} predictions"
        if left.value is None:
            text = "unknown until all sources are here"
        seconds = rates[model].seconds.text("{:.2g}".format)
        yield Finding("time", "ok", model, f"{text}, {seconds} s each")
    if unknown := [model for model in models if model not in rates]:
        text = f"unknown for models that were not tried here: {', '.join(unknown)}"
        yield Finding("time", "skipped", "all", text)
    else:
        hours = total(each.hours_left for each in work)
        yield Finding("time", "ok", "all", f"{hours.text(hours_text)}, one job after another{assumed}")


def _disk(plan: Plan, results: Path) -> Finding:
    """Compare the estimated images, without those that are written, with the free space."""
    free = shutil.disk_usage(_existing(results)).free
    room = f"{disk_text(free)} free at {results}"
    if plan.images.disk.value is None:
        return Finding("disk", "skipped", "images", f"size unknown until all sources are here; {room}")
    written = sum(path.stat().st_size for path in results.glob("*/*.parquet") if path.parent.name in IMAGES)
    needed = plan.images.disk.minus(written)
    text = f"{needed.text(disk_text)} of images are to be written, {room}"
    if (needed.value or 0) > free:
        fix = "free space, shorten the corruptions or the pool, or set corruptions.corrupted: on_the_fly"
        return Finding("disk", "error", "images", f"{text}; {fix}")
    return Finding("disk", "ok", "images", text)


def check_permissions(name: str) -> Iterator[Finding]:
    """Yield whether files can be written to the folders of the run ``name``."""
    failed = False
    for folder in (Path("results") / name, Path("results/.cache"), Path("logs") / name, Path(".snakemake")):
        try:
            with tempfile.TemporaryFile(dir=_existing(folder)):
                pass
        except OSError as error:
            failed = True
            text = (
                f"cannot be written ({error.strerror}); correct its permissions, or move a file in its place"
            )
            yield Finding("disk", "error", str(folder), text)
    if not failed:
        yield Finding("disk", "ok", "folders", f"results/{name} and logs/{name} can be written")


def _existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())


def check_fonts(config: Config, pool: PoolFound | None) -> Iterator[Finding]:
    """Yield which names and texts of figures have characters that no installed font has."""
    # Not at the top: matplotlib takes a second, and reads all fonts.
    from benchc.rendering.labels import WIDE_FAMILIES, renderable

    labels = [source.label for source in config.sources.values()]
    labels += [model.label for model in config.models.values()]
    texts: list[str] = []
    if pool is not None and not pool.texts.is_empty():
        labels += sorted(set(pool.texts["task"]))
        columns = pool.texts.select("question", pl.col("options").list.join(" ")).iter_rows()
        texts = [" ".join(row) for row in columns]
    install = f"install one of the fonts {', '.join(WIDE_FAMILIES[:3])}"
    found = False
    for what, names in (("names", list(dict.fromkeys(labels))), ("texts", texts)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which lists all names
            shown = renderable(names)
        changed = [name for name, text in zip(names, shown, strict=True) if " ".join(name.split()) != text]
        if changed:
            found = True
            example = f"{len(changed):,} {what}, such as {changed[0][:40]!r}"
            text = f"no font has all characters of {example}; {install}"
            yield Finding("figures", "warning", "fonts", text)
    if not found:
        yield Finding("figures", "ok", "fonts", "installed fonts have all characters of names and texts")


def check_cluster(config: Config) -> Iterator[Finding]:
    """Yield what slurm/partitions.yaml lacks for models that need GPUs; nothing where none does."""
    gpus = max(model.gpus for model in config.models.values())
    if not gpus:
        return
    subject, use = str(PARTITIONS), "before you use --profile slurm"
    try:
        content = read_yaml(PARTITIONS)
        most = max(limits.get("max_gpu", 0) for limits in content["partitions"].values())
    except (OSError, YamlError, LookupError, TypeError, ValueError, AttributeError):
        text = f"does not describe partitions; restore it from the repository {use}"
        yield Finding("cluster", "warning", subject, text)
        return
    if content == EXAMPLE:
        text = f"is still the example; models need {pluralize(gpus, 'GPU')}: describe your partitions {use}"
        yield Finding("cluster", "warning", subject, text)
    elif most < gpus:
        text = f"no partition has {pluralize(gpus, 'GPU')} for a job, which a model needs; add one {use}"
        yield Finding("cluster", "warning", subject, text)
    else:
        yield Finding("cluster", "ok", subject, f"a partition has {pluralize(gpus, 'GPU')} for a job")
