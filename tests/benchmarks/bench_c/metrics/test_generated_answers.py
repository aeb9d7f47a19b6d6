"""Accuracy and agreement of generated answers against loops over rows."""

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.generated_answers import METRICS, generated_answers
from benchc.errors import InputError
from benchc.finish import FINISHES
from benchc.schemas.judgements import JUDGEMENTS
from benchc.statistics.resampling import item_counts

CELLS = [("clean", 0), ("blur", 1), ("blur", 2), ("snow", 1), ("snow", 2)]
ANSWERS = {"s/1": 0, "s/2": 2, "s/3": 1, "s/4": 0}
DRAWS = 200


def judgements(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = []
    for cell in ((id_, *cell) for id_ in ANSWERS for cell in CELLS):
        option = int(rng.integers(-1, 3))
        row = dict(zip(("id", "corruption", "severity"), cell, strict=True))
        row |= {"option": None, "status": "refused"} if option < 0 else {"option": option, "status": "letter"}
        rows.append(row | {"finish": rng.choice(FINISHES)})
    return pl.DataFrame(rows, schema=pl.Schema(JUDGEMENTS.columns))


def predictions(seed: int) -> pl.DataFrame:
    keys = judgements(0).select("id", "corruption", "severity")
    options = np.random.default_rng(seed).integers(0, 3, keys.height)
    return keys.with_columns(prediction=pl.Series(options)).sample(fraction=1, shuffle=True, seed=1)


def test_means_over_items_are_those_of_a_loop():
    judged, predicted = {"a": judgements(1), "b": judgements(2)}, {"b": predictions(3)}
    table = generated_answers(judged, predicted, ANSWERS, DRAWS, 0)
    assert table["model"].to_list() == ["a", "b"]
    for model, row in zip(judged, table.iter_rows(named=True), strict=True):
        clean, corrupted, agreements = [], [], []
        for id_, answer in ANSWERS.items():
            rows = [each for each in judged[model].iter_rows(named=True) if each["id"] == id_]
            right = {each["corruption"] + str(each["severity"]): each["option"] == answer for each in rows}
            clean.append(right.pop("clean0"))
            corrupted.append(np.mean(list(right.values())))
            if model in predicted:
                options, own = (
                    frame[model].filter(id=id_).sort("corruption", "severity")[column]
                    for frame, column in ((predicted, "prediction"), (judged, "option"))
                )
                agreements.append(np.mean([a == b for a, b in zip(options, own, strict=True)]))
        assert (row["items"], row["answers"]) == (4, 20)
        assert row["acc_clean"] == pytest.approx(np.mean(clean))
        assert row["acc_corrupted"] == pytest.approx(np.mean(corrupted))
        assert row["delta_acc"] == pytest.approx(np.mean(corrupted) - np.mean(clean))
        drawn = item_counts(4, DRAWS, 0)[1:] @ np.array(corrupted) / 4
        assert [row["acc_corrupted_low"], row["acc_corrupted_high"]] == pytest.approx(
            np.quantile(drawn, [0.025, 0.975]), abs=1e-9
        )
        if model in predicted:
            assert row["agreement"] == pytest.approx(np.mean(agreements))
            assert row["agreement_low"] <= row["agreement"] <= row["agreement_high"]
        else:
            assert row["agreement"] is row["agreement_low"] is row["agreement_high"] is None
        assert row["no_option"] == pytest.approx(judged[model]["option"].is_null().mean())
        assert row["cut_off"] == pytest.approx((judged[model]["finish"] == "length").mean())
        assert row["letter"] + row["refused"] == 20 and row["text"] == 0


def test_two_items_have_an_interval():
    two = judgements(1).filter(pl.col("id").is_in(["s/1", "s/2"]))
    (row,) = generated_answers({"a": two}, {}, ANSWERS, DRAWS, 0).iter_rows(named=True)
    assert row["acc_corrupted_low"] is not None and row["acc_clean_high"] is not None


def test_one_item_has_no_interval():
    one = judgements(1).filter(pl.col("id") == "s/1")
    (row,) = generated_answers({"a": one}, {}, ANSWERS, DRAWS, 0).iter_rows(named=True)
    assert row["acc_clean"] is not None
    assert all(row[f"{metric}_{end}"] is None for metric in METRICS for end in ("low", "high"))


@pytest.mark.parametrize("kept", [pl.col("corruption") == "clean", pl.col("corruption") != "clean"])
def test_an_item_without_clean_or_corrupted_answers_is_refused(kept):
    lacking = judgements(1).filter(~pl.col("id").is_in(["s/2", "s/3"]) | kept)
    with pytest.raises(InputError, match=r"a: item s/2 has no clean, or no corrupted answer \(2 of 4"):
        generated_answers({"a": lacking}, {}, ANSWERS, DRAWS, 0)
