from pathlib import Path

import polars as pl
import pytest

from benchc.schemas.answers import ANSWERS
from benchc.schemas.parquet import TableError, write_table
from benchc.schemas.predictions import PREDICTIONS
from benchc.schemas.predictions_of_model import check_answers, read_all_predictions, read_predictions
from tests.footers import footer_of

FOOTER = {"model": "m", "revision": "1", "device": "cpu", "code": "abc", "predictions": 1, "oom_splits": 0}


def batch(path, corruption, **footer):
    row = ("a/1", corruption, 1, [0.5, 1.0], 0.9, "p", "i")
    frame = pl.DataFrame([row], schema=PREDICTIONS.columns, orient="row")
    write_table(frame, path, PREDICTIONS, footer_of(FOOTER | footer))
    return path


def test_batches_are_concatenated_in_order_and_each_model_may_have_its_own_device(tmp_path):
    files = [batch(tmp_path / "a", "snow"), batch(tmp_path / "b", "fog", predictions=7, cpu_capability="AVX")]
    assert read_predictions(files, ["corruption"]).rows() == [("snow",), ("fog",)]
    rows = [("a/1", corruption, 1, [0.5, 1.0]) for corruption in ("snow", "fog")]
    assert read_all_predictions(files).rows() == rows
    for model, device in (("one", "cpu"), ("two", "NVIDIA H100")):
        files = [batch(tmp_path / model / name, name, device=device) for name in ("fog", "snow")]
        assert read_predictions(files, ["corruption"]).height == 2


@pytest.mark.parametrize("key", ["revision", "code", "torch"])
def test_batches_of_two_models_are_refused(tmp_path, key):
    files = [batch(tmp_path / "a", "snow"), batch(tmp_path / "b", "fog", **{key: "2"})]
    with pytest.raises(TableError, match=f"b: its {key} is 2, that of .*a is"):
        read_predictions(files, ["corruption"])


def test_batches_from_two_devices_are_refused_and_the_fewer_are_named(tmp_path):
    names = ("fog", "snow", "blur", "noise")
    # One of the fewer is of another subset.
    files = [batch(tmp_path / folder / name, name) for folder, name in zip("mmnm", names, strict=True)]
    batch(files[0], "fog", device="NVIDIA A100")
    batch(files[2], "blur", device="mps")
    with pytest.raises(TableError) as caught:
        read_predictions(files, ["corruption"])
    assert str(caught.value) == (
        f"{tmp_path}/m: predictions of one model from 3 devices, which differ in their last digits: "
        f"NVIDIA A100 (1 file), cpu (2 files), mps (1 file); delete {files[0]} {files[2]} and run "
        "snakemake again on cpu, or delete all files of the model"
    )


def test_answers_of_one_subset_are_of_one_model_too(tmp_path):
    def answers(subset: str, part: str, **footer: object) -> Path:
        facts = {"answers": len(part), "revision": "1", "device": "cpu", "prompt": subset} | footer
        path = tmp_path / subset / "m" / f"{part}.parquet"
        write_table(pl.DataFrame(schema=ANSWERS.columns), path, ANSWERS, footer_of(facts))
        return path

    files = [answers("mcq", "clean"), answers("vqa", "clean"), answers("mcq", "fog")]
    check_answers(files)
    with pytest.raises(
        TableError, match=r"snow\.parquet: its revision is 2, that of .*mcq/m/clean\.parquet is"
    ):
        check_answers([*files, answers("mcq", "snow", revision="2")])
    with pytest.raises(TableError, match="vqa/m: answers of one model from 2 devices"):
        check_answers([*files, answers("vqa", "snow", device="cuda")])
