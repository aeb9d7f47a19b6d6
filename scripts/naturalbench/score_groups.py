"""Score one model: which questions, images and groups are right, by each reading of its predictions."""

import sys
from pathlib import Path
from typing import Literal

from benchc.benchmarks.naturalbench.kinds import DecisionRule, Prior
from benchc.benchmarks.naturalbench.metrics.extraction import Extraction
from benchc.benchmarks.naturalbench.metrics.group_items import group_items
from benchc.benchmarks.naturalbench.model_scores import ModelFiles, score_model
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import SCORES, ScoresFooter
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import CLEAN, check_predictions


def score_groups(
    *,
    pool: Path,
    groups: Path,
    predictions: tuple[Path, ...] = (),
    answers: tuple[Path, ...] = (),
    prior: Path | None = None,
    readings: list[DecisionRule],
    substitute: Prior = "no_image",
    extraction: Extraction = "strict",
    labels: Literal["letters", "texts"] = "letters",
    corruptions: tuple[str, ...] = (),
    severities: tuple[PositiveInt, ...] = (),
    output: Path,
) -> None:
    """Score one model: which questions, images and groups are right, by each reading of its predictions.

    Args:
        pool: pool/items.parquet
        groups: pool/groups.parquet
        predictions: predictions/{subset}/{model}/{part}.parquet: all files of the model; none for one that
            has no probabilities
        answers: answers/{subset}/{model}/{part}.parquet: all files of the model, for the reading decoding
        prior: its predictions without the images, for the reading post_hoc
        readings: readings of the run
        substitute: what was in place of the images in the prior
        extraction: how an answer is extracted from a reply
        labels: what the prompt calls the options of a multiple-choice question
        corruptions: corruptions under which every item is required
        severities: severities of each corruption
        output: scores/{model}.parquet to write
    """
    files = ModelFiles(predictions, answers, prior)
    label = files.label
    facts = check_predictions(files.all, pool)
    items = group_items(read_table(groups, GROUPS), read_table(pool, POOL, ["id", "options", "answer"]))
    corrupted = [(name, level) for name in corruptions for level in severities]
    scores = score_model(
        files,
        items,
        [(CLEAN, 0), *corrupted],
        readings=readings,
        substitute=substitute,
        extraction=extraction,
        by_text=labels == "texts",
    )
    footer = ScoresFooter(
        label=label,
        **facts,
        scoring=scores.scoring,
        extraction=scores.extraction,
        unavailable=scores.unavailable,
        taus=scores.taus,
    )
    write_table(scores.table, output, SCORES, footer)
    found = ", ".join(scores.table["reading"].unique(maintain_order=True))
    print(f"{label}: {pluralize(len(items.groups), 'group')} read by {found}", file=sys.stderr)
