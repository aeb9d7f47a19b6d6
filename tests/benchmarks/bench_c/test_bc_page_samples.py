"""The samples of the results page, from hand-made predictions and scores."""

from math import log
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.page_samples import page_samples
from benchc.benchmarks.bench_c.schemas.scores import SCORES, ScoresFooter
from benchc.schemas.models import Model, Models
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS, ModelFooter
from tests.rendering.results_page.run_files import write_items


def test_clean_and_corrupted_predictions_have_their_own_grades(tmp_path: Path) -> None:
    chosen, pool = write_items(tmp_path, [["yes", "no"]], answers=[0])
    predictions, scores = tmp_path / "predictions.parquet", tmp_path / "scores.parquet"
    logits = {("clean", 0): [0.0, log(0.25)], ("fog", 2): [log(0.1), log(0.9)]}
    rows = [("s/0", *cell, given, 0.9, "p", "i") for cell, given in logits.items()]
    frame = pl.DataFrame(rows, schema=dict(PREDICTIONS.columns), orient="row")
    write_table(frame, predictions, PREDICTIONS, ModelFooter(pool="x", label="m", identity={}, oom_splits=0))
    row = ("s/0", "fog", 2, 1, 0, False, True, 0.9, 0.47, 0.9, -0.25, 0.7, -0.45, "RW", "overconfident")
    frame = pl.DataFrame([row], schema=dict(SCORES.columns), orient="row")
    write_table(frame, scores, SCORES, ScoresFooter(pool="x", label="m", items=1))
    selected = pl.DataFrame({"id": ["s/0", "s/9"], "kappa": [0.4, 0.1], "selected": [True, False]})
    models = Models("b", {"m": Model("m", "M"), "other": Model("other", "O")})
    result = page_samples(chosen, pool, models, selected, [scores], [predictions], {"fog": "weather"}, [2])
    assert result.labels == {"m": "M"} and result.facts.rows() == [("s/0", 0.4)]
    answers = result.answers("m")
    shown = answers.select("corruption", "grade", "ras", "delta_entropy", "delta_calibration", "state").rows()
    assert shown[0] == ("clean", 1.0, None, None, None, None)
    assert shown[1] == ("fog", 0.0, -0.45, -0.25, 0.7, "overconfident")
    clean, fog = answers["probabilities"].to_list()
    assert clean == pytest.approx([0.8, 0.2]) and fog == pytest.approx([0.1, 0.9])
