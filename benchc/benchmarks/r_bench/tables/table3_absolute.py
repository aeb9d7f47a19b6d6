"""Table 3, its upper half: absolute robustness."""

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.scored import ScoreFiles
from benchc.benchmarks.r_bench.tables.table3 import printed_table3
from benchc.command_line import PositiveInt
from benchc.rendering.output import Table


def table3_absolute(
    scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return absolute robustness by task and strength, with chance and the paper's values beside it."""
    return printed_table3("absolute", scores, labels, chance, draws, seed)
