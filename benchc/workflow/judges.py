"""Which judge grades the answers of a benchmark: its outputs take the files that the judge's rule writes."""

from collections.abc import Iterable
from typing import Literal

# Rules in rules/answer.smk; the functions that decide are in benchc/judges/.
Judge = Literal["judge_options", "judge_short_answers"]
FOLDERS: dict[Judge, str] = {"judge_options": "judgements", "judge_short_answers": "grades"}


def judged(judge: Judge, subset: str, models: Iterable[str]) -> list[str]:
    """Return the files in which a judge grades the answers of models to the items of a subset."""
    return [f"<results>/{FOLDERS[judge]}/{subset}/{model}.parquet" for model in models]
