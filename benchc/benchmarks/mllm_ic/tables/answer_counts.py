"""How many answers name no option, and how many choose among tied options."""

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.metrics.counts import OUTCOMES_OF
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

COUNTED = ("refused", "unparsed", "ties")
CAPTION = (
    "Answers to {questions} with a capability, on clean images and under {scenarios} of corruption. Refused "
    "answers, and unparsed ones, which name no option, are wrong. Scores: the option with the highest score "
    "is the answer; ties are predictions with several such options, of which the first counts."
)


def answer_counts(run: RunFiles, labels: dict[str, str]) -> Table:
    """Return the numbers of answers, and of those refused, unparsed and tied, of each model."""
    check_models(run, labels)
    rows = []
    for id_, label in labels.items():
        answered_in = "words" if id_ in run.in_words else "scores"
        for images, codes in (("clean", run.codes[id_][:, 0]), ("corrupted", run.codes[id_][:, 1:])):
            counts = (int(np.isin(codes, OUTCOMES_OF[kind]).sum()) for kind in COUNTED)
            rows.append((label, answered_in, images, codes.size, *counts))
    names = ["model", "answers_in", "images", "answers", *COUNTED]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    scenarios = len(run.corruptions) * len(run.severities)
    return printed(
        frame,
        [Column(name, name.capitalize().replace("_", " ")) for name in names],
        caption=CAPTION.format(
            questions=pluralize(run.items.height, "question"), scenarios=pluralize(scenarios, "scenario")
        ),
        label="mllm-ic-answer-counts",
        small=True,
        summary=f"answers of {pluralize(len(labels), 'model')}",
    )
