"""Table 4: absolute robustness of all models, and of people, by task, strength, step and group."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.metrics.means import Axis
from benchc.benchmarks.r_bench.published.tables import MODELS, published_table4
from benchc.benchmarks.r_bench.scored import ScoreFiles, read_scores, scored_of
from benchc.benchmarks.r_bench.tables.frames import notes, part_label
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER
from benchc.rendering.estimates import best_two, frame_of, is_marked
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

BLOCKS: tuple[tuple[Axis, ...], ...] = (("task", "strength", "step"), ("group",))
PUBLISHED, PEOPLE = "People (published)", "People"
GPT4O = "GPT4o"
CAPTION = (
    "Absolute robustness R_a by {axes}, in [0, 1]. Pairs: {items}.{marks} First, people: as published, of "
    "the paper's items{people}.{order}"
)
MARKS = " Of models, the best score of a column is in bold, the second in italics."


def table4(
    scores: ScoreFiles,
    people: list[Path],
    labels: dict[str, str],
    chance: ChanceTable,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return R_a by task, strength, step and group, after that of people, in two tables below each other.

    ``people``: the file of their mean scores (SCORES), or none.
    """
    scored = scored_of(scores, labels)
    axes = [axis for block in BLOCKS for axis in block]
    parts = scored.parts(axes)
    names = {part.name: f"{part.axis}_{part.name}" for part in parts}
    frame = frame_of(scored.models, [*names.values()], scored.draws(parts, draws, seed).absolute)
    paper = published_table4().with_columns(name=pl.format("{}_{}", "axis", "part"))
    references = [pl.DataFrame([{"model": PUBLISHED} | dict(paper.select("name", "human").rows())])]
    for id_, file in read_scores(people).items():
        theirs = scored_of({id_: file}, {id_: PEOPLE})
        # They see no reference images, so that they have no other scores.
        means = theirs.means(theirs.absolute, theirs.parts(axes))
        references.append(frame_of(theirs.models, [*names.values()], means).select("model", *names.values()))
    competes = chance.ranked(frame["model"])
    shown = pl.concat(
        [
            *references,
            frame.with_columns(
                chance.models.marked(frame["model"]),
                *(
                    pl.Series(f"{name}_style", best_two(frame[name], competes), dtype=pl.String)
                    for name in names.values()
                ),
            ),
        ],
        how="diagonal",
    )
    tables = []
    for block in BLOCKS:
        chosen = [part for part in parts if part.axis in block]
        caption = CAPTION.format(
            axes=", ".join(block),
            items=", ".join(f"{part_label(part)} {part.rows.sum():,}" for part in chosen),
            marks=MARKS if is_marked(shown.select(f"{names[part.name]}_style" for part in chosen)) else "",
            people=", and of this run" if people else "",
            order=ORDER,
        )
        if block == BLOCKS[-1]:
            caption += f" Intervals are in the csv file.{notes(scored, chance.models)}"
        columns = [Column(names[part.name], part_label(part), styled=True) for part in chosen]
        tables.append(
            printed(
                frame,
                [Column("model", "Model"), *columns],
                caption=caption,
                label=f"r-bench-4-{block[0]}",
                shown=shown,
                references=len(references),
                small=True,
            )
        )
    gpt4o = [label for id_, label in labels.items() if MODELS.get(id_) == GPT4O]
    long = frame.unpivot([*names.values()], index="model", variable_name="name", value_name="absolute")
    return Table(
        frame,
        "\n".join(table.markdown for table in tables),
        "\n".join(table.latex for table in tables),
        published=compare_with_published(
            long.filter(pl.col("model").is_in(gpt4o)).drop("model"),
            paper,
            on=["name"],
            values={"absolute": "gpt4o"},
        ),
        summary=f"R_a of {pluralize(len(scored.models), 'model')}",
    )
