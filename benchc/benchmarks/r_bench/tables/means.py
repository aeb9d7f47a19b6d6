"""All means: of each model over all items, tasks, strengths, cells, steps, groups and dimensions."""

from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import long_means
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.output import Table


def means(scores: ScoreFiles, labels: dict[str, str], draws: PositiveInt, seed: int) -> Table:
    """Return the mean scores of each model over each part, with 95 % percentile intervals."""
    scored = scored_of(scores, labels)
    parts = scored.parts()
    frame = long_means(scored, parts, scored.draws(parts, draws, seed))
    return Table(frame, summary=f"means over {pluralize(len(parts), 'part')}")
