"""Grade the free answers of a model by reference answers."""

from pathlib import Path

from benchc.judges.reference_grades import answers_of_one_model, graded, read_references, write_grades
from benchc.schemas.parquet import read_footer
from benchc.schemas.predictions import check_predictions


def judge_short_answers(*, pool: Path, references: Path, answers: list[Path], output: Path) -> None:
    """Grade the free answers of a model by reference answers: exactly, by the VQA evaluator's rules, softly.

    Args:
        pool: pool/items.parquet
        references: pool/references.parquet
        answers: answers/{subset}/{model}/{part}.parquet of one model
        output: grades.parquet to write
    """
    found = read_references(references, pool)
    facts = check_predictions(answers, pool)
    label = str(read_footer(answers[0]).get("label", answers[0].parent.name))
    write_grades(graded(answers_of_one_model(answers), found), output, label, facts)
