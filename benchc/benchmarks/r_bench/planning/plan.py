"""The stages in which models answer, a task each, and the images that a run writes."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from benchc.benchmarks.r_bench.judging.language_model import most_requests
from benchc.benchmarks.r_bench.judging.prompts import PROMPTS, SYSTEM
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.tasks import TASK_LABELS, TASKS, Task
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config
from benchc.planning.amounts import Amount, total
from benchc.planning.plan import Plan
from benchc.planning.size import BYTES_PER_PIXEL, ImageCounts, RunSize, image_counts, run_size
from benchc.planning.stages import Stage
from benchc.schemas.parquet import read_table
from benchc.schemas.references import REFERENCES

NONE = Amount(0)
# Of a token of English text, about.
CHARACTERS = 4


@dataclass(frozen=True)
class TaskSize:
    """The items of a task that are shown, and their cells: under a dimension at a strength."""

    shown: Amount
    cells: Amount

    @property
    def answers(self) -> Amount:
        """The answers of a model: one to each clean image, and one a cell."""
        return total([self.shown, self.cells])


def plan_of(config: Config, results: Path, size: RunSize | None = None) -> Plan:
    """Return the plan of a run whose tables are in the folder ``results`` as far as they exist.

    ``size``: None takes that of the pool in ``results`` or, before it is built, of the configuration.
    """
    settings = cast(Settings, config.settings)
    size = size or run_size(config, results)
    tasks = task_sizes(settings, size, results)
    parts = corruption_batches(settings.corruptions, settings.inference)
    stages = [
        Stage(
            f"{TASK_LABELS[task]} answers",
            tuple(settings.models),
            of_task.shown,
            of_task.answers,
            tuple(f"answers/{task}/{{model}}/{part}.parquet" for part in parts),
        )
        for task, of_task in tasks.items()
        if of_task.cells != NONE
    ]
    limits = ", ".join(
        f"{TASK_LABELS[task]} {asked.max_new_tokens}" for task, asked in settings.subset_answers.items()
    )
    notes = [
        "answers of an item: 1 clean, and 1 for each dimension that it is assigned, at one strength"
        + (" (of all dimensions and strengths)" if settings.assignment.cross else "")
        + f"; at most so many tokens: {limits}."
    ]
    if (note := judge_note(settings, tasks, results)) is not None:
        notes.append(note)
    return Plan(stages, images(settings, size, results, tasks), notes)


def task_sizes(settings: Settings, size: RunSize, results: Path) -> dict[Task, TaskSize]:
    """Return the size of each task: counted once the items are assigned, and bounded before.

    ``results``: folder of the run's tables.
    """
    path = results / "pool/tasks.parquet"
    if size.assignment is None or not path.exists():
        return {task: _bound(settings, items) for task, items in task_items(settings, size).items()}
    chosen = settings.corruptions
    cells = read_table(path, TASK_TABLE).join(
        size.assignment.filter(
            pl.col("corruption").is_in(chosen.types), pl.col("severity").is_in(chosen.severities)
        ),
        on="id",
    )
    if size.options is not None:
        cells = cells.filter(pl.col("id").is_in(list(size.options)))
    found = {task: cells.filter(task=task)["id"] for task in TASKS}
    return {task: TaskSize(Amount(ids.n_unique()), Amount(len(ids))) for task, ids in found.items()}


def task_items(settings: Settings, size: RunSize) -> dict[Task, Amount]:
    """Return the items of the pool by task: counted in the pool, and bounded before there is one."""
    if settings.pairs == "released":
        # A third each, of those that the authors published.
        third = size.pool.times(1 / 3)
        return {task: Amount(third.value and round(third.value), "estimate") for task in TASKS}
    if size.options is None:
        return {task: size.pool if task in _possible(settings) else NONE for task in TASKS}
    counts: Counter[str] = Counter(
        settings.subset_of({"source": id_.partition("/")[0], "options": [*range(count)], "category": None})
        for id_, count in size.options.items()
    )
    return {task: Amount(counts[task]) for task in TASKS}


def judge_note(settings: Settings, tasks: Mapping[Task, TaskSize], results: Path) -> str | None:
    """Return how many requests and tokens judge the replies of all models; None for a judge without requests.

    ``results``: folder of the run's tables, whose references have the captions of an item.
    """
    options = settings.judge.options
    if options.kind != "llm":
        return None
    cells = {task: each.cells for task, each in tasks.items()}
    shown = {task: each.shown for task, each in tasks.items()}
    if any(each.value is None for each in (*cells.values(), *shown.values())):
        return f"the judge {options.model}: requests unknown before the pool is built."
    requests = most_requests(_values(cells), _values(shown), options, **_captions(results))
    # Of the judge's prompt, and of a reply and what it is compared with, as long as they may be.
    tokens = sum(
        count
        * (len(SYSTEM + PROMPTS[task].text) / CHARACTERS + 2 * settings.subset_answers[task].max_new_tokens)
        for task, count in requests.items()
    )
    models = len(settings.models) + len(settings.answers_from)
    kind = total([*cells.values(), *shown.values()]).kind
    of_model = Amount(round(sum(requests.values())), "at most" if kind == "exact" else kind)
    fewer = "is recorded" if options.always else "is a letter, or recorded"
    return (
        f"the judge {options.model}: {of_model.text()} requests a model, {of_model.times(models).text()} in "
        f"all, of ≈ {models * tokens / 1e6:,.1f} million tokens without questions and options; fewer where a "
        f"reply {fewer}."
    )


def _values(amounts: Mapping[Task, Amount]) -> dict[Task, int]:
    return {task: int(amount.value or 0) for task, amount in amounts.items()}


def _captions(results: Path) -> dict[str, float]:
    """Return the mean number of captions of an item once they are read; before, the default counts."""
    path = results / "pool/references.parquet"
    counts = read_table(path, REFERENCES, ["answers"])["answers"].list.len() if path.exists() else pl.Series()
    several = counts.filter(counts > 0) if len(counts) else counts
    return {"captions": float(several.to_numpy().mean())} if len(several) else {}


def _possible(settings: Settings) -> Collection[Task]:
    """Return the tasks that the run's sources may have."""
    asked: set[Task] = set()
    for source in settings.sources:
        asked |= {settings.tasks[source]} if source in settings.tasks else {"mcq", "vqa"}
    return asked


def _bound(settings: Settings, items: Amount) -> TaskSize:
    """Return the most cells of the items of a task."""
    asked, types = settings.assignment, len(settings.corruptions.types)
    if settings.pairs == "released":
        return TaskSize(items, items)
    if asked.cross:
        return TaskSize(items, items.times(types * len(settings.corruptions.severities)))
    cells = items.times(min(asked.per_item, types)).capped(asked.per_task * types)
    return TaskSize(*(_at_most(each) for each in (items.capped(int(cells.value or 0)), cells)))


def _at_most(amount: Amount) -> Amount:
    return Amount(amount.value, "at most") if amount.value and amount.kind == "exact" else amount


def images(settings: Settings, size: RunSize, results: Path, tasks: Mapping[Task, TaskSize]) -> ImageCounts:
    """Return the images that the run writes: none where its jobs generate them."""
    if settings.corrupted == "on_the_fly":
        return ImageCounts(NONE, NONE)
    if size.images is None and settings.pairs == "released":
        # Each item has one image, of itself and corrupted.
        return ImageCounts(total([size.pool, *(each.cells for each in tasks.values())]), Amount(None))
    if size.assignment is not None or size.images is None:
        folder = results / "corrupted"
        return image_counts(size.images, settings.corruptions, folder, assignment=size.assignment)
    clean = size.images.unique("image_key")
    written = total([Amount(clean.height), *(each.cells for each in tasks.values())])
    mean = int(clean["pixels"].sum()) / max(1, clean.height)
    return ImageCounts(written, written.times(Amount(mean * BYTES_PER_PIXEL, "estimate")))
