from pathlib import Path

import polars as pl

from benchc.benchmarks.mllm_ic.page_samples import page_samples
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.benchmarks.mllm_ic.schemas.outcomes import (
    OUTCOMES,
    REFUSED,
    RIGHT,
    TIED_RIGHT,
    WRONG,
    OutcomesFooter,
)
from benchc.schemas.answers import ANSWERS, JudgedFooter
from benchc.schemas.footer import ImageFooter
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.models import Models
from benchc.schemas.parquet import TableType, write_table
from benchc.schemas.predictions import PREDICTIONS, ModelFooter
from tests.rendering.results_page.run_files import write_items

CAPABILITY = ("s/0", "chart_understanding", "m", "h", "s", "s/0", 0, "s/0#0")


def test_outcomes_are_grades_and_replies_say_what_was_read(tmp_path: Path) -> None:
    chosen, pool = write_items(tmp_path, [["yes", "no"]], answers=[0])

    def written(name: str, table: TableType, footer: object, rows: list[tuple[object, ...]]) -> Path:
        path = tmp_path / f"{name}.parquet"
        frame = pl.DataFrame(rows, schema=dict(table.columns), orient="row")
        write_table(frame, path, table, footer)  # type: ignore[arg-type]
        return path

    def outcomes(label: str, codes: list[int]) -> Path:
        footer = OutcomesFooter(pool="x", label=label, corruptions=["fog", "rain"], severities=[3])
        return written(f"outcomes-{label}", OUTCOMES, footer, [("s/0", codes)])

    asked = ModelFooter(pool="x", label="scored", identity={}, oom_splits=0)
    words = ModelFooter(pool="x", label="words", identity={}, oom_splits=0)
    cells = [("clean", 0), ("fog", 3), ("rain", 3)]
    replies = [("s/0", *cell, f"{cell[0]}!", "stop", 1, "p", "i") for cell in cells]
    logits = [("s/0", *cell, [0.0, 0.0], 0.9, "p", "i") for cell in cells]
    read = [(0, "letter", "stop"), (None, "refused", "stop"), (1, "text", "stop")]
    judged = [("s/0", *cell, *found) for cell, found in zip(cells, read, strict=True)]
    result = page_samples(
        chosen,
        pool,
        Models("b", {}),
        written("capabilities", CAPABILITIES, ImageFooter(pool="x"), [CAPABILITY]),
        [outcomes("scored", [RIGHT, WRONG, TIED_RIGHT]), outcomes("words", [RIGHT, REFUSED, WRONG])],
        [written("p", PREDICTIONS, asked, logits)],
        [written("a", ANSWERS, words, replies)],
        [written("j", JUDGEMENTS, JudgedFooter(pool="x", label="words", answers=3), judged)],
        {"scored": "S", "words": "W"},
        {"fog": "weather", "rain": "weather"},
    )
    scored = result.answers("scored")
    expected = [("clean", 0, 1.0, None), ("fog", 3, 0.0, None), ("rain", 3, 1.0, "tied, right")]
    assert scored.select("corruption", "severity", "grade", "state").rows() == expected
    assert scored["probabilities"].to_list() == [[0.5, 0.5]] * 3
    assert result.answers("words").select("grade", "state", "reply", "note").rows() == [
        (1.0, None, "clean!", "A, by its letter"),
        (0.0, "refused", "fog!", "no option: refused"),
        (0.0, None, "rain!", "B, by its text"),
    ]
    assert result.severities == [3]
