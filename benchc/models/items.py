"""The items that a model answers: their questions, and the keys of their images."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from benchc.errors import InputError
from benchc.models.label_prompt import LabelPrompt
from benchc.models.question import Question
from benchc.models.question_template import QuestionTemplate
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import read_ids


class Item(NamedTuple):
    """The text of an item, the keys of its images in order, its category, and the place of its answer."""

    question: Question
    image_keys: tuple[str, ...]
    category: str | None = None
    answer: int | None = None


def read_items(
    pool: Path, subset: Path | None = None, prompt: LabelPrompt | QuestionTemplate | None = None
) -> dict[str, Item]:
    """Return the items of the pool, or of a SUBSET of it, by id in the pool's order; raises as read_ids.

    ``prompt``: that of their questions; default: the usual ones.
    """
    wanted = set(read_ids(pool, subset))
    rows = read_table(pool, POOL, ["id", "question", "hint", "options", "image_keys", "category", "answer"])
    items = {}
    for row in rows.iter_rows(named=True):
        if row["id"] in wanted:
            question = Question(row["question"], tuple(row["options"]), row["hint"])
            if prompt is not None:
                question = prompt.asked(question, row["category"])
            items[row["id"]] = Item(question, tuple(row["image_keys"] or ()), row["category"], row["answer"])
    return items


def refuse_open_questions(items: Mapping[str, Item]) -> None:
    """Raise InputError for items without options, naming the first."""
    without = [id_ for id_, item in items.items() if not item.question.options]
    if without:
        raise InputError(
            f"item {without[0]}: it is an open-ended question, but option logits need options "
            f"({len(without)} of {len(items)} items like this); remove them from the sources or the subset"
        )
