from pathlib import Path

import polars as pl

from benchc.benchmarks.vqa_robustness.page_samples import page_samples
from benchc.schemas.answers import JudgedFooter
from benchc.schemas.grades import GRADES
from benchc.schemas.models import Models
from benchc.schemas.parquet import write_table
from tests.rendering.results_page.run_files import write_items, write_references


def test_grades_are_those_of_the_setting_and_notes_say_why(tmp_path: Path) -> None:
    chosen, pool = write_items(tmp_path, [[], []], answers=[None, None])
    references = write_references(tmp_path, ["red", "two"], [[], ["two", "2"]])
    rows = [("s/0", "clean", 0, "red", True, True, 0.9, "stop", False)]
    rows.append(("s/0", "fog", 1, "Red.", False, True, 0.3, "stop", False))
    rows.append(("s/1", "fog", 1, "", False, False, 0.0, "length", True))
    grades = tmp_path / "m.parquet"
    frame = pl.DataFrame(rows, schema=dict(GRADES.columns), orient="row")
    write_table(frame, grades, GRADES, JudgedFooter(pool="x", label="m", answers=3))

    def found(grade: str) -> list[tuple[object, ...]]:
        result = page_samples(
            chosen, pool, Models("b", {}), [grades], references, {"m": "M"}, grade, {"fog": "weather"}, [1]
        )
        assert result.questions["truths"].to_list() == [["red"], ["two", "2"]]
        assert (result.candidates, result.threshold) == (9, 0.5 if grade == "soft" else 1.0)
        return result.answers("m").select("id", "corruption", "reply", "grade", "note").rows()

    assert found("normalised") == [
        ("s/0", "clean", "red", 1.0, "the reference answer, letter by letter"),
        ("s/0", "fog", "Red.", 1.0, "1 by the grade normalised"),
        ("s/1", "fog", "", 0.0, "0 by the grade normalised, cut off"),
    ]
    assert [round(float(str(row[3])), 3) for row in found("soft")] == [0.9, 0.3, 0.0]
    assert [row[3] for row in found("exact")] == [1.0, 0.0, 0.0]
