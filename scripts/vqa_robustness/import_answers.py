"""Grade the answers of a model that another program has asked, by reference answers."""

from pathlib import Path

from benchc.command_line import PositiveInt
from benchc.judges.reference_grades import graded, read_references, write_grades
from benchc.schemas.answers_csv import read_answers
from benchc.schemas.assignment import read_assignment
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest


def import_answers(
    *,
    pool: Path,
    references: Path,
    answers: Path,
    label: str,
    corruptions: list[str],
    severities: list[PositiveInt],
    assignment: Path | None = None,
    output: Path,
) -> None:
    """Grade the answers of a model that another program has asked, as judge_short_answers does.

    Args:
        pool: pool/items.parquet
        references: pool/references.parquet
        answers: CSV file with id, corruption, severity and answer
        label: id of the model
        corruptions: of the answers, beside clean
        severities: of each corruption
        assignment: pool/assignment.parquet: the corruptions and severities of each item; default: all
        output: grades.parquet to write
    """
    found = read_references(references, pool)
    levels = dict.fromkeys(corruptions, severities)
    cells = None if assignment is None else read_assignment(assignment, levels)
    table = graded(read_answers(answers, [*found], corruptions, severities, cells), found)
    write_grades(table, output, label, {"pool": pool_digest(pool, QUESTION_COLUMNS)})
