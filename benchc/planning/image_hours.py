"""Hours of one processor core in which a run makes its corrupted images, before anything is measured here."""

from pathlib import Path

from benchc.config.settings import Corruptions, RunSettings
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.times import MEASURED_ON, MILLISECONDS
from benchc.planning.amounts import Amount, disk_text, hours_text, total
from benchc.planning.plan import Plan
from benchc.planning.size import POOL_FILE
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL

LARGE_FILE = 4e9  # bytes


def image_hours(plan: Plan, chosen: Corruptions, on_the_fly: bool, pictures: float = 1.0) -> Amount:
    """Return the hours in which the images of a run are made, an estimate; 0 where it corrupts none.

    Images on disk are made once. With ``on_the_fly``, those of every stage are made for each of its models
    too, as every job makes what it shows, also of predictions that it looks up. ``pictures``: distinct images
    an item, less than 1 where items share them. Types without a known time count as the mean of the others.
    Before it is known how many images are on disk, they count as those of the largest stage. Unknown where
    the number of items is, or no time.
    """
    seconds = _mean_seconds(chosen)
    shown = [stage.predictions.minus(stage.items.value or 0).times(pictures) for stage in plan.stages]
    made = [plan.images.written]
    if plan.images.written.value is None and shown:
        made = [max(shown, key=lambda amount: amount.value or 0)]
    if on_the_fly:
        made += [each.times(len(stage.models)) for each, stage in zip(shown, plan.stages, strict=True)]
    count = total(made)
    if not count.value or not chosen.types:
        return Amount(count.value)
    return count.times(Amount(seconds, "estimate")).times(1 / 3600)


def image_note(settings: RunSettings, plan: Plan, results: Path) -> str:
    """Return a sentence on the hours in which the run makes its images; "" for none, or if all are there.

    Raises TableError where the pool in ``results`` cannot be read.
    """
    chosen, on_the_fly = settings.corruptions, settings.corrupted == "on_the_fly"
    if settings.imported_images is not None or not chosen.types:
        return ""
    if not on_the_fly and plan.images.disk.certainty == "exact":  # measured, as all files are there
        return ""
    hours = image_hours(plan, chosen, on_the_fly, _pictures_per_item(results / POOL_FILE))
    if hours.value == 0:
        return ""
    if hours.value is None:
        return "images: the time to make them is unknown.\n"
    models = "each job of each model makes those that it shows" if on_the_fly else "once, in files"
    text = f"images: {hours.text(hours_text)} of one processor core to corrupt them ({models})"
    if missing := [name for name, seconds in _seconds(chosen).items() if seconds is None]:
        text += f"; {', '.join(missing)}: not measured, taken as the mean of the others"
    text += f"; assumed: photographs of 640 x 480 pixels, {MEASURED_ON} (docs/benchmarks.md)"
    text += "; `benchc check` measures images of this run, and counts writing them and the start of jobs"
    file = plan.images.disk.times(1 / (1 + len(chosen.types)))
    if not on_the_fly and file.value is not None and file.value > LARGE_FILE:
        text += (
            f"; a corruption's file takes {file.text(disk_text)}, and every job reads it: "
            "corruptions.corrupted: on_the_fly writes none"
        )
    return f"{text}.\n"


def _seconds(chosen: Corruptions) -> dict[str, float | None]:
    suite = suite_with(chosen.suite, chosen.own_files)
    kernels = {name: chosen.recipe(name, suite).kernel for name in chosen.types}
    times = {name: MILLISECONDS.get(kernel or "") for name, kernel in kernels.items()}
    return {name: None if each is None else each / 1000 for name, each in times.items()}


def _mean_seconds(chosen: Corruptions) -> float | None:
    known = [seconds for seconds in _seconds(chosen).values() if seconds is not None]
    return sum(known) / len(known) if known else None


def _pictures_per_item(pool: Path) -> float:
    """Return the distinct images of the pool, for each of its items; 1 before it is built."""
    if not pool.exists():
        return 1.0
    keys = read_table(pool, POOL, ["image_keys"])["image_keys"]
    return keys.explode().drop_nulls().n_unique() / max(1, len(keys))
