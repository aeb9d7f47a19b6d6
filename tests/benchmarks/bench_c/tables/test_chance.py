"""A run with a target that never looks at an image: what is printed of it, and of the others."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.claims.numbers import LEAST_MODELS
from tests.benchmarks.bench_c.degenerate_runs import OPTIONS, Run
from tests.benchmarks.bench_c.outputs import flat, rows_of

ITEMS = 30
BLIND = 0


def seeing(model: int, item: int, corruption: int, severity: int) -> list[float]:
    """Logits of a target that is right on most clean images, and less often under corruption."""
    noise = np.random.default_rng([model, item, corruption + 1, severity])
    right = np.eye(OPTIONS)[item % OPTIONS] * (2.5 - 0.3 * severity)
    return (right + noise.normal(0, 0.8, OPTIONS)).tolist()


def with_blind(model: int, item: int, corruption: int, severity: int) -> list[float]:
    """The first target always prefers A."""
    return [2.0, 1.0, 0.0] if model == BLIND else seeing(model, item, corruption, severity)


RUN = Run(ITEMS, ["blind", "two", "three"], logits=with_blind, first_label="Blind")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        scored(folder, RUN)
    return folder


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(folder)
    return RUN


def scored(folder: Path, run: Run) -> Run:
    """Write and score a run in the working directory."""
    run.write(folder)
    run.score()
    return run


def cells_of(markdown: str) -> dict[str, list[str]]:
    return {first: cells for first, *cells in rows_of(markdown)}


def test_chance_is_that_of_the_items_and_intervals_of_ranks_are_among_those_that_are_ranked(run: Run) -> None:
    frame = run.output("chance", rank_below_chance=False).frame
    # Three options each, of which A, B and C are right equally often.
    assert frame["guessing"].unique().to_list() == [pytest.approx(1 / 3)]
    assert frame["constant"].unique().to_list() == [pytest.approx(1 / 3)]
    assert frame["model"].to_list() == ["Blind", "Two", "Three"]
    assert frame["accuracy"][BLIND] == pytest.approx(1 / 3)
    assert frame["above_chance"].to_list() == frame["ranked"].to_list() == [False, True, True]
    table = run.output("intervals", rank_below_chance=False)
    ranks = table.frame.filter(metric="rank_ras", weighting="kappa")
    blind = ranks.filter(model="blind").row(0, named=True)
    assert (blind["estimate"], blind["note"]) == (None, "undefined: the model is not ranked")
    assert set(ranks.filter(pl.col("model") != "blind")["estimate"]) == {1, 2}
    assert ranks["high"].max() <= 2
    cells = cells_of(table.markdown)
    # RAS is 0 in all resamples.
    assert cells["Blind †"][2:] == ["–", "0.000 [–]", "–"]
    assert "Where all resamples give one value" in flat(table.markdown)


def test_table_1_ranks_those_that_look(run: Run) -> None:
    table = run.output("table1", rank_below_chance=False)
    blind, two, three = table.frame.iter_rows(named=True)
    # By the numbers alone it is the best, for nothing changes.
    assert blind["ras"] == blind["delta_acc"] == 0 and blind["rank_ras_of_all"] == 1
    assert blind["rank_ras"] is blind["rank_delta_acc"] is None
    assert sorted([two["rank_ras"], three["rank_ras"]]) == [1, 2]
    cells = cells_of(table.markdown)
    assert list(cells)[2:] == ["Guessing", "Always A", "Blind †", "Two", "Three"]
    assert cells["Guessing"][2:5] == ["0.333", "–", "–"]
    assert cells["Always A"][2:5] == ["0.333", "0.000", "0.000"]
    assert cells["Blind †"][4] == "0.000" and "**" not in "".join(cells["Blind †"])
    assert "†: Acc(o) is not above chance. Models with a mark have no rank." in flat(table.markdown)
    assert r"Blind $^\dagger$ &" in table.latex
    # The key gives the rank back, and keeps the mark.
    every = run.output("table1", rank_below_chance=True)
    assert every.frame["rank_ras"].to_list() == table.frame["rank_ras_of_all"].to_list()
    assert cells_of(every.markdown)["Blind †"][4] == "**0.000** (1)"
    assert "have no rank" not in every.markdown


def test_rank_swaps_and_claims_are_without_it(run: Run) -> None:
    swaps = run.output("rank_swaps", rank_below_chance=False)
    assert swaps.frame.select("model_a", "model_b").rows() == [("two", "three")]
    left_out = "Without Blind: not above chance (table chance)."
    assert left_out in flat(swaps.markdown)
    claims = run.output("claims", rank_below_chance=False)
    assert left_out in flat(claims.markdown)
    here = dict(claims.frame.select("claim", "here").iter_rows())
    best = here["The most accurate model has the lowest RAS"]
    assert "Blind" not in best and ("Two" in best or "Three" in best)
    assert "of 2 models" in here["For every model, E|z| of RAS exceeds that of accuracy"]
    every = run.output("claims", rank_below_chance=True)
    assert "Without" not in every.markdown and "least accurate" not in left_out
    least = dict(every.frame.select("claim", "here").iter_rows())
    assert least["The least accurate model loses less RAS than the most accurate one"].startswith("Blind,")


def test_no_claim_is_made_where_no_target_is_ranked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = scored(tmp_path, Run(ITEMS, ["blind", "blinder"], logits=lambda *_: [2.0, 1.0, 0.0]))
    frame = run.output("claims", rank_below_chance=False).frame
    models = frame.filter(pl.col("section").str.contains("^[69]"))
    assert models["verdict"].unique().to_list() == ["not applicable"]
    assert models["here"].unique().to_list() == ["no target is ranked: none is above chance (table chance)"]
    assert set(frame.filter(section="8.2")["here"]) != set(models["here"])
    assert "Fewer than two models" in run.output("rank_swaps", rank_below_chance=False).markdown


@pytest.mark.parametrize("count", [LEAST_MODELS - 1, LEAST_MODELS])
def test_a_correlation_of_few_models_is_no_claim(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = scored(tmp_path, Run(ITEMS, [f"m{number}" for number in range(count)], logits=seeing))
    frame = run.output("claims").frame
    row = frame.row(by_predicate=pl.col("claim").str.contains("more fragile"), named=True)
    if count < LEAST_MODELS:
        assert row["verdict"] == "not applicable"
        assert row["here"] == "too few models: a correlation needs 5, and there are 4 models"
    else:
        assert row["verdict"] != "not applicable" and "(5 models)" in row["here"]
    assert "(13 models)" in row["paper"]  # the paper's own has enough


def test_models_are_in_the_order_of_the_configuration(run: Run) -> None:
    for name in ("chance", "table1", "table2", "intervals", "task_accuracy"):
        table = run.output(name, rank_below_chance=True)
        names = [cell.removesuffix(" †") for cell in cells_of(table.markdown)]
        assert [name for name in names if name in ("Blind", "Two", "Three")] == ["Blind", "Two", "Three"]
        assert "Models are in the order of the configuration." in flat(table.markdown)
