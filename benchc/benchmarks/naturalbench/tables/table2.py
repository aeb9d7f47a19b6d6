"""Table 2: accuracies as they are and with the best tau of each question, image or group."""

import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, CHANCE_SAMPLE
from benchc.benchmarks.naturalbench.published.tables import of_run, published_table2
from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.frames import (
    HEADERS,
    accuracies,
    chance_rows,
    labels_of,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

FORMS = {"original": ("deterministic", CHANCE), "debiased": ("sample", CHANCE_SAMPLE)}
CAPTION = (
    "Accuracies by probabilities of the two answers: original (τ = 0) and debiased (the best τ of each "
    "question, image or group, which needs the pairing of questions and images). "
    "{resampled}" + ORDER
)


def table2(scored: CleanScores, chance: ChanceTable, draws: PositiveInt, seed: int) -> Table:
    """Return Q-Acc, I-Acc and G-Acc in per cent, original and debiased (paper, section 5)."""
    resamples = Resamples(scored.groups.height, draws, seed)
    parts = {
        form: accuracies(scored, resamples, [(id_, reading) for id_ in scored.models])
        for form, (reading, _) in FORMS.items()
    }
    names = [f"{measure}_{form}" for measure in CHANCE_SAMPLE for form in FORMS]
    frame = pl.DataFrame(
        {"model": parts["original"]["model"]}
        | {
            f"{measure}_{form}{end}": parts[form][f"{measure}{end}"]
            for measure in CHANCE_SAMPLE
            for form in FORMS
            for end in ("", "_low", "_high")
        }
    )
    columns = [
        Column(f"{measure}_{form}", f"{HEADERS[measure]}, {form}", interval=True, digits=1)
        for measure in CHANCE_SAMPLE
        for form in FORMS
    ]
    first = chance_rows(
        {f"{measure}_{form}": of[measure] for measure in CHANCE_SAMPLE for form, (_, of) in FORMS.items()}
    )
    standings = chance.of("deterministic")
    published = of_run(published_table2(), labels_of(scored))
    return printed(
        frame,
        [Column("model", "Model"), *columns],
        caption=CAPTION.format(resampled=resampled(scored, draws)) + standings.note,
        label="naturalbench-2",
        shown=pl.concat(
            [frame.clear(), first, frame.with_columns(standings.marked(frame["model"]))], how="diagonal"
        ),
        references=first.height,
        small=True,
        published=compare_with_published(
            frame, published, on=["model"], values={name: name for name in names}
        ),
    )
