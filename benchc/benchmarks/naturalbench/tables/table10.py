"""Table 10: accuracies by skills of relations and reasoning."""

from benchc.benchmarks.naturalbench.inputs import GroupRows, Tags
from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.skill_panels import skill_table
from benchc.benchmarks.naturalbench.taxonomy import OWN
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table

KINDS = ("relation", "reasoning", OWN)


def table10(
    scored: CleanScores,
    groups: GroupRows,
    tags: Tags,
    chance: ChanceTable,
    reading: str,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return G-Acc and Q-Acc in per cent of each model by skill, with those that are not in the paper."""
    return skill_table(
        scored, groups, tags, chance, kinds=KINDS, number=10, reading=reading, draws=draws, seed=seed
    )
