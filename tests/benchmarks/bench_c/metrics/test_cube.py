import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.cube import SHIFT_METRICS, cube_of
from benchc.errors import InputError
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored

ONE, TWO = scored(3, 1), scored(3, 2)
OTHERS = pl.col("id") != "s/1"


def test_every_prediction_is_at_its_position():
    cube = cube_of({"one": ONE, "two": TWO.sample(fraction=1, shuffle=True, seed=0)})
    assert (cube.models, cube.items) == (("one", "two"), ("s/0", "s/1", "s/2"))
    assert (cube.corruptions, cube.severities) == (("blur", "fog"), (1, 3, 5))
    for model, frame in enumerate((ONE, TWO)):
        for row in frame.iter_rows(named=True):
            item = cube.items.index(row["id"])
            cell = cube.corruptions.index(row["corruption"]), cube.severities.index(row["severity"])
            row["delta_acc"] = row["correct"] - row["correct_clean"]
            for name in SHIFT_METRICS:
                assert cube.shifts[name][model, item, *cell] == row[name]
            assert cube.clean["acc_clean"][model, item] == row["correct_clean"]
            for name in ("entropy", "calibration"):
                clean = cube.clean[f"{name}_clean"][model, item]
                assert clean == pytest.approx(row[name] - row[f"delta_{name}"], abs=1e-15)
                if cell == (0, 0):
                    assert clean == row[name] - row[f"delta_{name}"]  # to the last bit
    # Rounding moves no clean value beyond its range.
    for low, high in (("entropy", "calibration"), ("calibration", "entropy")):
        beyond = {f"delta_{low}": pl.col(low) + 1e-16, f"delta_{high}": pl.col(high) - 1.5}
        clean = cube_of({"one": ONE.with_columns(**beyond)}).clean
        assert set(clean[f"{low}_clean"].ravel()) == {0} and set(clean[f"{high}_clean"].ravel()) == {1}
    weights = kappas(3)
    kappa = cube_of({"one": ONE}).kappa(weights.reverse())
    assert kappa.tolist() == weights["kappa"].to_list()


@pytest.mark.parametrize(
    "weights",
    [
        kappas(2),
        kappas(3).with_columns(kappa=pl.Series([0.1, 0.2, -0.1])),
        *(kappas(3).with_columns(kappa=pl.Series([0.1, 0.2, float(bad)])) for bad in ("nan", "inf")),
        pl.concat([kappas(3), kappas(3).tail(1)]),
    ],
)
def test_an_item_without_one_usable_kappa_is_named(weights):
    with pytest.raises(InputError, match="item s/2 needs one kappa"):
        cube_of({"one": ONE}).kappa(weights)
    for first_of_two in (kappas(1), pl.concat([kappas(3), kappas(3).tail(2)])):
        with pytest.raises(InputError, match="item s/1 needs one kappa"):
            cube_of({"one": ONE}).kappa(first_of_two)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({}, "no tables of scores"),
        ({"one": ONE.clear(), "two": TWO}, "one has no scores"),
        (
            {"one": ONE, "two": TWO.tail(-1)},
            r"two: 1 missing score: \(s/0, blur, 1\); every model needs the predictions of one,",
        ),
        ({"one": ONE, "two": TWO.filter(OTHERS)}, r"two: 6 missing scores: \(s/1, blur, 1\), "),
        ({"one": ONE.filter(OTHERS), "two": TWO}, r"two: 6 unexpected scores: \(s/1, "),
        ({"one": pl.concat([ONE, ONE.head(1)])}, r"one: 1 repeated score: \(s/0, blur, 1\)"),
        ({"one": ONE.with_columns(ras=pl.lit(float("nan")))}, "one: ras is missing or NaN"),
        ({"one": ONE.with_columns(ras=pl.lit(None, pl.Float64))}, "one: ras is missing or NaN"),
    ],
)
def test_incomplete_scores_are_refused(tables, message):
    with pytest.raises(InputError, match=message):
        cube_of(tables)
