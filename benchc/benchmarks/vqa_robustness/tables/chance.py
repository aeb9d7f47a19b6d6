"""Which models are above chance: by their accuracy on clean images."""

import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded, answers_of, by_image
from benchc.benchmarks.vqa_robustness.inputs import PoolImages, ReferenceAnswers
from benchc.command_line import PositiveInt
from benchc.judges.constant_answer import best_constant
from benchc.pluralize import pluralize
from benchc.rendering.chance import printed_standings
from benchc.rendering.output import Table
from benchc.statistics.chance import Chance, standings
from benchc.statistics.resampling import drawn_means, item_counts, on_grid


def chance(
    graded: Graded,
    pool: PoolImages,
    references: ReferenceAnswers,
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
    rank_below_chance: bool,
) -> Table:
    """Return for every model whether it is above chance and has a rank (tables.ranking.below_chance).

    Questions are open, so that there is no random answer; chance is the best answer to all questions.
    """
    answers = answers_of(graded, labels, corruptions, grade)
    wrong, questions = by_image(answers, pool)
    images = len(questions)
    right = on_grid((questions - wrong[:, 0, 0]).T, images * draws)
    answer, value = best_constant(references.filter(pl.col("id").is_in(answers.items)), grade)
    frame = standings(
        answers.models,
        "accuracy on clean images",
        drawn_means(item_counts(images, draws, seed), right, questions),
        images,
        [Chance(None, value, answer)] * len(answers.models),
        [None] * len(answers.models),
        least_label_mass=0,
        rank_below_chance=rank_below_chance,
    )
    resamples = f"{pluralize(draws, 'resample')} of {pluralize(images, 'image')}"
    return printed_standings(frame, resamples, rank_below_chance=rank_below_chance, header="accuracy")
