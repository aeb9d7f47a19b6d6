"""The plan of a run, which its benchmark computes, and its text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from benchc.config.benchmarks import module_of
from benchc.config.load import Config
from benchc.planning.amounts import digits_text, disk_text, hours_text, total
from benchc.planning.rates import MIN_COMPUTED, Rates
from benchc.planning.size import BYTES_PER_PIXEL, NONE, ImageCounts, RunSize
from benchc.planning.stages import Stage, Work, work_of
from benchc.rendering.markdown import markdown

SUMS = ["predictions", "distinct predictions", "done", "left", "device time", "time left"]


@dataclass(frozen=True)
class Plan:
    """The stages of a run, the images it writes, and notes that explain the table of stages.

    ``expected``: the stages if the ``assumption`` holds; empty where nothing has to be assumed.
    """

    stages: Sequence[Stage]
    images: ImageCounts
    notes: Sequence[str]
    expected: Sequence[Stage] = ()
    assumption: str = ""


def plan_of(config: Config, results: Path, size: RunSize | None = None) -> Plan:
    """Return the plan of a run whose existing tables are in the folder ``results``.

    ``size``: where it is known before the pool is built; None takes that of the pool or of the configuration.
    Of a run on the benchmark of a finished one, these are the tables of that run.
    Raises InputError where the run's benchmark cannot be planned, or a table cannot be read.
    """
    finished = config.finished
    folder = results if finished is None else Path(finished.folder)
    plan: Plan = module_of(config.settings.benchmark, "planning.plan").plan_of(config, folder, size)
    if finished is None:
        return plan
    stages = [
        replace(stage, models=tuple(id_ for id_ in stage.models if id_ in finished.new))
        for stage in plan.stages
        if not stage.outputs[0].startswith(config.settings.MADE_FROM)
    ]
    return Plan([stage for stage in stages if stage.models], ImageCounts(NONE, NONE), plan.notes)


def plan_markdown(plan: Plan, results: Path, rates: Rates, file: Path) -> str:
    """Return the work by stage and, where ``rates`` has any, by model, the disk, and notes.

    ``file`` is that of the run's configuration.
    """
    work = work_of(plan.stages, results, rates)
    header = ["stage", "models", "jobs", "items", *SUMS]
    rows = []
    for stage in plan.stages:
        own = [each for each in work if each.stage is stage]
        rows.append([stage.name, f"{len(own)}", _jobs(own), stage.items.text(), *_sums(own)])
    rows.append(["total", "", _jobs(work), "", *_sums(work)])
    end = len(header) if rates else -2  # without times, which are all unknown
    parts = ["No model is asked.\n"]
    if work:
        parts = [markdown(header[:end], [row[:end] for row in rows])]
    if plan.expected:
        _, distinct, _, left, _, time_left = _sums(work_of(plan.expected, results, rates))
        time = f", {time_left}" if rates else ""
        parts.append(f"If {plan.assumption}: {distinct} distinct predictions, {left} left{time}.\n")
    written, disk = plan.images.written.text(), plan.images.disk.text(disk_text)
    counts = written if written == disk else f"{written}, {disk}"
    none = plan.images.written.value == 0
    parts.append("No images are written.\n" if none else f"Images on disk, clean included: {counts}.\n")
    if rates and work:
        models = dict.fromkeys(each.model for each in work)
        rows = [_model_row([each for each in work if each.model == model]) for model in models]
        parts.append(markdown(["model", "seconds per prediction", "measured on", *SUMS[3:]], rows))
    text = "\n".join(parts)
    done = any(each.done for each in work)
    legend = _legend(text, plan.images, rates, done, file) if work else ()
    notes = (*legend, *plan.notes)
    return f"{text}\n" + "".join(f"- {note}\n" for note in notes)


def _jobs(work: Sequence[Work]) -> str:
    return f"{sum(len(each.stage.outputs) for each in work):,}"


def _sums(work: Sequence[Work]) -> list[str]:
    """Return the cells of the columns SUMS."""
    return [
        total(each.stage.predictions for each in work).text(),
        total(each.distinct for each in work).text(),
        f"{sum(each.done for each in work):,}",
        total(each.left for each in work).text(),
        total(each.hours for each in work).text(hours_text),
        total(each.hours_left for each in work).text(hours_text),
    ]


def _model_row(work: Sequence[Work]) -> list[str]:
    rate = work[0].rate
    seconds = "unknown" if rate is None else rate.seconds.text(lambda seconds: digits_text(seconds, 3))
    measured = "–" if rate is None else rate.text()
    return [work[0].model, seconds, measured, *_sums(work)[3:]]


def _legend(text: str, images: ImageCounts, rates: Rates, done: bool, file: Path) -> Iterator[str]:
    if "≤" in text:
        yield "≤: upper bound."
    if "≈" in text:
        yield "≈: estimate."
    if images.written.value is None:
        yield (
            "items, and the size of images on disk, are not counted before the pool is built: `benchc check "
            f"{quote(str(file))}` counts them where the sources are here; "
            f"`benchc run {quote(str(file))} pool --cores 2` builds it."
        )
    if images.disk.certainty == "estimate":
        yield f"disk: estimated at {BYTES_PER_PIXEL} bytes per pixel, as for photographs; drawings take less."
    yield "distinct predictions: without those that a model looks up, as another stage computes them too."
    yield (
        "done: predictions in existing files, even if a rerun will replace them "
        f"(see `benchc what-reruns {quote(str(file))}`)."
    )
    yield "left: distinct predictions that are not done; those of a killed job are cached and cost nothing."
    if rates:
        yield "time: one job after another; measured rates include model loading."
        if any(rate.run for rate in rates.values()):
            yield (
                "seconds per prediction: ≈ as in another run, with its items and images, until a job has "
                f"finished; `benchc check {file}` measures them on those of this run."
            )
        if any(rate.seconds.kind == "at most" for rate in rates.values()):
            yield (
                f"seconds per prediction: ≤ where no job computed {100 * MIN_COMPUTED:.0f} % of its "
                "predictions, since the time of those from the cache is included."
            )
    elif done:
        yield (
            "time: unknown, since no log of a finished job shows computed predictions: they came from the "
            "cache, or logs were deleted; give --seconds-per-prediction."
        )
    else:
        yield (
            "time: unknown until a job of these models has finished, in this run or in one that asks them in "
            "the same way; or give --seconds-per-prediction."
        )
