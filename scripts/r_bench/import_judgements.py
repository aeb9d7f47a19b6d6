"""Read the judgements of one model by another program."""

from pathlib import Path

from benchc.benchmarks.r_bench.judging.comparisons import read_items, wanted_cells
from benchc.benchmarks.r_bench.judging.released import released_judgements
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES, JudgeScoresFooter
from benchc.command_line import PositiveInt
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest


def import_judgements(
    *,
    pool: Path,
    references: Path,
    tasks: Path,
    assignment: Path,
    dis: Path,
    ref: Path,
    com: Path,
    label: str,
    corruptions: list[str],
    severities: list[PositiveInt],
    output: Path,
) -> None:
    """Read the judgements of one model by another program, in the authors' format.

    Args:
        pool: pool/items.parquet
        references: pool/references.parquet
        tasks: pool/tasks.parquet
        assignment: pool/assignment.parquet
        dis: CSV file with name and result, in [0, 1], of replies to distorted images
        ref: the same of replies to reference images
        com: the same of the former against the latter
        label: id of the model
        corruptions: of the judgements
        severities: of each corruption
        output: judge_scores/{model}.parquet to write
    """
    cells = wanted_cells(read_assignment(assignment, dict.fromkeys(corruptions, severities)))
    items = read_items(pool, references, tasks)
    table = released_judgements(cells, items, {"dis": dis, "ref": ref, "com": com})
    footer = JudgeScoresFooter(
        pool=pool_digest(pool, QUESTION_COLUMNS), label=label, judge="published", judgements=table.height
    )
    write_table(table, output, JUDGE_SCORES, footer)
