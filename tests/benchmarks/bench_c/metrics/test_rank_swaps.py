from itertools import combinations

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.rank_swaps import RANK_SWAPS, rank_swaps
from benchc.benchmarks.bench_c.metrics.table1 import table1
from benchc.benchmarks.bench_c.tables.rank_swaps import printed_rank_swaps
from benchc.schemas.models import Model
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored

ITEMS, DRAWS = 12, 199
BASE = scored(ITEMS, 0).with_columns(correct_clean=pl.lit(True), correct=pl.col("severity") < 3)
# On every item: less accurate under corruption, yet of higher RAS.
SWAPPED = BASE.with_columns(correct=pl.lit(False), ras=pl.col("ras") + 0.1)
TABLES = {"base": BASE, "swapped": SWAPPED, "other": scored(ITEMS, 1)}
WEIGHTS = kappas(ITEMS)


def swaps(tables=TABLES, weights=WEIGHTS) -> pl.DataFrame:
    cube = cube_of(tables)
    return rank_swaps(cube, cube.kappa(weights), DRAWS, seed=2)


def test_a_swap_on_every_item_has_the_smallest_p_and_is_printed():
    table = swaps()
    assert dict(table.schema) == RANK_SWAPS
    assert table.select("model_a", "model_b").rows() == [*combinations(TABLES, 2)]
    first = table.row(0, named=True)
    assert first["opposite"] and first["swap"] and first["note"] is None
    assert first["p"] == pytest.approx(2 / (DRAWS + 1)) and first["p_holm"] == pytest.approx(6 / (DRAWS + 1))
    assert first["ras_difference"] == pytest.approx(-0.1) and first["delta_acc_low"] > 0 > first["ras_high"]
    text = printed_rank_swaps(table, {"base": "Base", "swapped": "Swapped", "other": "Other"}, DRAWS).markdown
    shown = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(shown) == table["opposite"].sum()
    assert [cell.strip() for cell in shown[0].split("|")[1:3]] == ["Base", "Swapped"]
    assert f"Of 3 pairs of models, {len(shown)} are ordered" in text and "199 resamples" in text


def test_the_values_are_table_1s():
    models = [Model(name, name) for name in TABLES]
    values = table1(models, list(TABLES.values()), WEIGHTS).rows_by_key("model", named=True, unique=True)
    for row in swaps().iter_rows(named=True):
        signs = []
        for metric in ("delta_acc", "ras"):
            a, b = values[row["model_a"]][metric], values[row["model_b"]][metric]
            found = [row[f"{metric}_{name}"] for name in ("a", "b", "difference")]
            assert found == pytest.approx([a, b, a - b])
            signs.append(a > b)
        assert row["opposite"] == (signs[0] != signs[1])


def test_only_ranked_models_are_compared():
    cube = cube_of(TABLES)
    kappa = cube.kappa(WEIGHTS)
    table = rank_swaps(cube, kappa, DRAWS, seed=2, ranked={"other", "base"})
    assert table.select("model_a", "model_b").rows() == [("base", "other")]
    names = [name for name in RANK_SWAPS if not name.endswith("holm") and name != "swap"]
    whole = swaps().filter(model_a="base", model_b="other")
    assert table.select(names).equals(whole.select(names))
    # One item alone has a weight.
    (note,) = rank_swaps(cube, np.eye(ITEMS)[0], DRAWS, seed=2, ranked={"other", "base"})["note"]
    assert note == "interval and p undefined: one item"
    with pytest.raises(ValueError, match="draws must be at least 1, not 0"):
        rank_swaps(cube, kappa, 0, seed=2)
    assert rank_swaps(cube, kappa, 1, seed=2)["p"].null_count() == 0


def test_one_model_one_item_and_no_weight():
    one_model = swaps({"base": BASE})
    assert dict(one_model.schema) == RANK_SWAPS and one_model.is_empty()
    assert "Fewer than two models" in printed_rank_swaps(one_model, {"base": "Base"}, DRAWS).markdown
    one_item = {name: table.filter(id="s/0") for name, table in TABLES.items()}
    table = swaps(one_item)
    assert table["opposite"][0] is True
    assert table.select("p", "p_holm", "swap", "ras_low").null_count().row(0) == (3, 3, 3, 3)
    assert set(table["note"]) == {"interval and p undefined: one item"}
    text = printed_rank_swaps(table, {name: name for name in TABLES}, DRAWS).latex
    assert r"\textrm{--}" in text and "–" not in text
    nothing = swaps(weights=WEIGHTS.with_columns(kappa=pl.lit(0.0)))
    assert set(nothing["note"]) == {"undefined: no item has a weight"}
    assert nothing["opposite"].null_count() == nothing["p"].null_count() == 3
    assert "nan" not in (table.write_csv() + nothing.write_csv()).lower()
