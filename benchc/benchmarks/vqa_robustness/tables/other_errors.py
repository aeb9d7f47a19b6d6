"""Errors under the corruptions that VRE is not computed over, in the form of the table of errors."""

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded
from benchc.benchmarks.vqa_robustness.tables.errors import errors
from benchc.rendering.output import Table


def other_errors(graded: Graded, labels: dict[str, str], corruptions: list[str], grade: Grade) -> Table:
    """Return one row per model, corruption and level; see :func:`errors`."""
    return errors(graded, labels, corruptions, grade)
