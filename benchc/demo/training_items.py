"""Generate the training set of the demo's models: the benchmarks' categories, under seeds of their own."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from benchc.demo.category import Category
from benchc.demo.training_set import MAX_IMAGES, TrainingSet, shrink
from benchc.demo.world import LARGE_SIDE, SOURCES, generate_group, render_images
from benchc.models.question import Question
from benchc.randomness import seed_of

GroupName = tuple[str, Category, int]  # source, category, number


def training_groups(items_per_category: int) -> list[GroupName]:
    """Return enough groups of each category for ``items_per_category`` items or a few more."""
    groups: list[GroupName] = []
    for source, categories in SOURCES.items():
        for category in categories:
            sizes = [len(options) for options in category.option_sets]
            needed = -(-items_per_category * len(sizes) // sum(sizes))
            groups.extend((source, category, number) for number in range(needed))
    return groups


def generate_training_set(groups: Iterable[GroupName], seed: int) -> TrainingSet:
    """Return the items of ``groups``; groups of large images are skipped, as shrunk ones look the same.

    ``seed`` may be that of the benchmarks: the training set uses a seed derived from it.
    """
    training_seed = seed_of(seed, "training")
    images: list[npt.NDArray[np.uint8]] = []
    item_images: list[list[int]] = []
    item_question: list[int] = []
    item_answer: list[int] = []
    questions: dict[Question, int] = {}
    for source, category, number in groups:
        group = generate_group(source, category, number, training_seed)
        if max(max(size) for size in group.sizes) >= LARGE_SIDE:
            continue
        question = Question(group.question, group.options, group.hint or None)
        for position, answer in enumerate(group.answers):
            rendered = render_images(source, category, number, position, group, training_seed)
            rows = list(range(len(images), len(images) + len(rendered)))
            images.extend(shrink(image) for image in rendered)
            item_images.append(rows + [-1] * (MAX_IMAGES - len(rows)))
            item_question.append(questions.setdefault(question, len(questions)))
            item_answer.append(answer)
    return TrainingSet(
        np.stack(images),
        np.array(item_images, dtype=np.int64),
        np.array(item_question, dtype=np.int64),
        np.array(item_answer, dtype=np.int64),
        tuple(questions),
    )
