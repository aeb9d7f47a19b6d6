"""What R-Bench's items ask for, and what is compared; it depends on no strength."""

from collections.abc import Mapping
from typing import Any, Literal

Task = Literal["mcq", "vqa", "cap"]
TASKS: tuple[Task, ...] = ("mcq", "vqa", "cap")
TASK_LABELS = {"mcq": "MCQ", "vqa": "VQA", "cap": "CAP"}
# Which two of these are compared: the replies to the distorted and to the reference image, and the truth.
Kind = Literal["dis", "ref", "com"]
KINDS: tuple[Kind, ...] = ("dis", "ref", "com")


def task_of(item: Mapping[str, Any], tasks: Mapping[str, Task], *, released: bool) -> Task:
    """Return the task of an item: the category of a released pair, or that of its source in ``tasks``.

    Of others, those with options are mcq, and the rest vqa. ``item``: its source, options and category.
    """
    for task in TASKS:
        if released and item["category"] == task:
            return task
    return tasks.get(item["source"], "mcq" if item["options"] else "vqa")
