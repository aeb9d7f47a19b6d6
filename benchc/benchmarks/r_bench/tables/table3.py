"""Table 3: the scores of all models by task and strength; its halves are two tables."""

from collections.abc import Mapping

import polars as pl

from benchc.benchmarks.r_bench.chance import TaskChance
from benchc.benchmarks.r_bench.metrics.means import OVERALL
from benchc.benchmarks.r_bench.published.tables import MODELS, Half, published_table3
from benchc.benchmarks.r_bench.scored import ScoreFile, scored_of
from benchc.benchmarks.r_bench.tables.frames import notes, part_label, resampled
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER
from benchc.rendering.estimates import best_two, frame_of, is_marked
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published, of_run

FORMULAS = {
    "absolute": "Absolute robustness R_a, the mean score of replies to distorted images against the truth",
    "relative": "Relative robustness R_r, the mean of the score of the reply to the reference image against "
    "the truth times that of the reply to the distorted image against it",
}
CAPTION = (
    "{formula}, in [0, 1], by task and strength. Overall is the mean over all {rows} of a "
    "reference and a distorted image. Pairs: {items}.{marks}{rows_of_chance} {resampled}{notes}"
)
MARKS = " The best score of a column is in bold, the second in italics."
# By their number.
CHANCE_ROWS = (
    "",
    " The first row is the best answers that are always the same.",
    " The first rows are chance: random options, and the best answers that are always the same.",
)


def printed_table3(
    half: Half,
    scores: Mapping[str, ScoreFile],
    labels: Mapping[str, str],
    chance: TaskChance,
    draws: int,
    seed: int,
) -> Table:
    """Return a half of Table 3, with chance, and the paper's values beside it.

    Where the paper has two strengths exchanged (published/tables.py), the values are compared in place.
    """
    scored = scored_of(scores, labels)
    parts = scored.parts(["cell", "overall"])
    means = getattr(scored.draws(parts, draws, seed), half)
    frame = frame_of(scored.models, [part.name for part in parts], means).with_columns(
        pl.lit(int(part.rows.sum())).alias(f"{part.name}_pairs") for part in parts
    )
    competes = chance.ranked(frame["model"])
    reference = pl.DataFrame(
        [
            {"model": row["model"]}
            | {part.name: row.get(part.name.split("_")[0]) for part in parts if part.axis == "cell"}
            for row in chance.rows(guessing=half == "absolute")
        ],
        schema={"model": pl.String, **{part.name: pl.Float64 for part in parts}},
    )
    shown = frame.with_columns(
        chance.models.marked(frame["model"]),
        *(
            pl.Series(f"{part.name}_style", best_two(frame[part.name], competes), dtype=pl.String)
            for part in parts
        ),
    )
    items = ", ".join(f"{part_label(p)} {p.rows.sum():,}" for p in parts if p.axis == "cell")
    names = {part.name: part.name for part in parts}
    return printed(
        frame,
        [
            Column("model", "Model"),
            *(
                Column(p.name, part_label(p), digits=4, styled=True, interval=p.axis == "overall")
                for p in parts
            ),
        ],
        caption=CAPTION.format(
            formula=FORMULAS[half],
            rows=pluralize(scored.rows.height, "pair"),
            items=items,
            marks=MARKS if is_marked(shown) else "",
            rows_of_chance=CHANCE_ROWS[reference.height],
            resampled=resampled(scored, draws),
            notes=ORDER + notes(scored, chance.models),
        ),
        label=f"r-bench-3-{half}",
        shown=pl.concat([reference, shown], how="diagonal"),
        references=reference.height,
        small=True,
        published=compare_with_published(
            frame,
            of_run(published_table3(half), labels, MODELS),
            on=["model"],
            values=names,
            carried=["exchanged"],
        ),
        summary=f"{pluralize(len(scored.models), 'model')} on {pluralize(scored.rows.height, 'pair')}; "
        f"highest {OVERALL}: {frame['model'][frame[OVERALL].arg_max() or 0]}",
    )
