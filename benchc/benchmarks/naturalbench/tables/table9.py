"""Table 9: accuracies by skills of objects and attributes."""

from benchc.benchmarks.naturalbench.inputs import GroupRows, Tags
from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.skill_panels import skill_table
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table

KINDS = ("object", "attribute")


def table9(
    scored: CleanScores,
    groups: GroupRows,
    tags: Tags,
    chance: ChanceTable,
    reading: str,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return G-Acc and Q-Acc in per cent of each model by skill."""
    return skill_table(
        scored, groups, tags, chance, kinds=KINDS, number=9, reading=reading, draws=draws, seed=seed
    )
