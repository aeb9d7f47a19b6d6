"""Files are concatenated only if one model made them."""

import polars as pl
import pytest

from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.predictions_of_model import read_predictions

FOOTER = {"model": "m", "revision": "1", "device": "cpu", "scorer": "abc", "predictions": 1, "oom_splits": 0}


def batch(path, corruption, **footer):
    row = {
        "id": "a/1",
        "corruption": corruption,
        "severity": 1,
        "logits": [0.5, 1.0],
        "label_mass": 0.9,
        "prompt_hash": "p",
        "image_hash": "i",
    }
    write_table(pl.DataFrame([row], schema=PREDICTIONS.columns), path, PREDICTIONS, FOOTER | footer)
    return path


def test_batches_are_concatenated_in_order(tmp_path):
    files = [batch(tmp_path / "a", "snow"), batch(tmp_path / "b", "fog", predictions=7, device="other GPU")]
    assert read_predictions(files, ["corruption"]).rows() == [("snow",), ("fog",)]


@pytest.mark.parametrize("key", ["revision", "scorer", "torch"])
def test_batches_of_two_models_are_refused(tmp_path, key):
    files = [batch(tmp_path / "a", "snow"), batch(tmp_path / "b", "fog", **{key: "2"})]
    with pytest.raises(TableError, match=f"b: its {key} is 2, that of .*a is"):
        read_predictions(files, ["corruption"])
