"""The accuracy that corruptions cost, by mid-level capability and by category."""

import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.benchmarks.mllm_ic.tables.frames import (
    AVG,
    averages_note,
    per_cent,
    resampled,
    scope,
    short,
    with_mean,
)
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.estimates import best_two, is_marked
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Drop of accuracy in points (not in the paper): clean minus corrupted, by {what}. A model near chance "
    "has little to lose."
)
MARKS = " The smallest drop of a column is in bold, the second in italics."


def drops(
    run: RunFiles,
    labels: dict[str, str],
    categories: dict[str, str],
    chance: ChanceTable,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the drop of each model by mid-level capability over all corruptions, and overall by category."""
    check_models(run, labels)
    columns = run.columns(category_of=categories)
    names = [*dict.fromkeys(categories[name] for name in run.corruptions)]
    chosen = {name: columns[name] for name in ["clean", "corrupted", *names]}
    drawn = run.draws([*labels], chosen, draws, seed)
    lost = drawn[:, :, :1] - drawn[:, :, 1:]
    by_mid = run.by_mid(lost[:, :, 0])
    average = run.average(lost)
    by_category = {name: average[:, :, 1 + place] for place, name in enumerate(names)}
    frame = with_mean({"overall": average[:, :, 0], **by_mid, **by_category}, labels)
    competes = frame["model"].is_in(chance.ranked)
    shown = per_cent(frame).with_columns(
        chance.marked(frame["model"]),
        *(
            pl.Series(f"{name}_style", best_two(-frame[name], competes), dtype=pl.String)
            for name in ["overall", *by_mid, *by_category]
        ),
    )
    blocks = {
        f"mid-level capability, mean over {scope(run)}": {mid: label_of(mid) for mid in by_mid},
        "category of corruption, mean over its types and all severities": {
            name: corruption_label(name) for name in by_category
        },
    }
    mean = f" {AVG} is the mean of all models." if len(labels) > 1 else ""
    tables = []
    for number, (what, headers) in enumerate(blocks.items()):
        tables.append(
            printed(
                frame,
                [
                    Column("model", "Model"),
                    *(
                        Column(name, header, short(header), digits=1, signed=True, styled=True)
                        for name, header in headers.items()
                    ),
                    Column("overall", "Overall", digits=1, signed=True, interval=True, styled=True),
                ],
                caption=CAPTION.format(what=what)
                + (MARKS if is_marked(shown.select(f"{name}_style" for name in headers)) else "")
                + mean
                + averages_note(run)
                + resampled(run, draws)
                + ORDER
                + chance.note,
                label=f"mllm-ic-drops-{number + 1}",
                shown=shown,
                small=True,
            )
        )
    return Table(
        frame,
        "\n".join(table.markdown for table in tables),
        "\n".join(table.latex for table in tables),
        summary=f"drops of {pluralize(len(labels), 'model')}",
    )
