import polars as pl
import pytest

from benchc.benchmarks.bench_c.claims.numbers import LEAST_MODELS
from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.metrics.discrimination import discrimination
from benchc.benchmarks.bench_c.tables.discrimination import printed_discrimination
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored
from tests.benchmarks.bench_c.outputs import flat, rows_of

ITEMS = 12
NAMES = {"sd": "spread", "separable": "separable pairs", "kendall": "order"}
METRICS = {"acc_clean": "Acc(o)", "acc_corrupted": "Acc(c)", "delta_acc": "ΔAcc", "ras": "RAS"}


def made(models: int = 4, pool: tuple[int, int] = (6, 6), items: int = ITEMS, first: int = 0) -> pl.DataFrame:
    """The first six items are selected; those before ``first`` lack predictions."""
    scores = {
        f"m{seed}": scored(items, seed).filter(pl.col("id").str.slice(2).cast(pl.Int64) >= first)
        for seed in range(models)
    }
    cube = cube_of(scores)
    selected = pl.Series(cube.items).str.slice(2).cast(pl.Int64) < 6
    return discrimination(cube, cube.kappa(kappas(items)), selected.to_numpy(), pool, draws=40, seed=0)


def number(value: float) -> str:
    return f"{value:.3f}".replace("-0.000", "0.000")


def caption(table: pl.DataFrame, note: str = "") -> str:
    return flat(printed_discrimination(table, note).markdown)


def shown(table: pl.DataFrame) -> list[list[str]]:
    return rows_of(printed_discrimination(table).markdown)[2:]


def test_each_cell_is_the_tables_number_and_the_range_is_left_to_the_csv():
    table = made()
    rows = table.filter(pl.col("criterion") != "range").rows(named=True)
    cells = shown(table)
    assert len(cells) == len(rows) == 24
    for (criterion, metric, *texts), row in zip(cells, rows, strict=True):
        assert criterion == NAMES[row["criterion"]]
        assert metric == METRICS[row["metric"]] + (", κ" if row["weighting"] == "kappa" else "")
        between = f"[{number(row['random_q025'])}, {number(row['random_q975'])}]"
        assert texts == [
            number(row["selected"]),
            f"{number(row['random_q50'])} {between}",
            number(row["share_below"]) if row["weighting"] == "unweighted" else "",
        ]
    latex = printed_discrimination(table).latex
    for _, _, *texts in cells:
        assert " & ".join(f"${text}$" if text else "" for text in texts) in latex.replace("\\ [", " [")


def test_the_caption_says_what_is_compared():
    words = caption(made(), " On 6 of 7 items.")
    for part in (
        "distinguish the 4 targets",
        "Selected: the 6 selected items. Random",
        "40 random subsets of 6 of the 12 items of the pool; the targets were evaluated on all of these.",
        "conditional on this pool and these targets;",
    ):
        assert part in words
    assert words.endswith("On 6 of 7 items.")
    assert "the csv file says why" not in words and "evaluated items" not in words
    table = made(pool=(6, 30), items=10)
    words = caption(table)
    for part in (
        "Selected: median, and in brackets 95 % range, of 40 random subsets of 2 of the 6 selected",
        "40 random subsets of 2 of the 36 items of the pool; the targets were evaluated on 6 of the 6",
        "and 4 of the 30 unselected items, which represent the others of their kind",
        "conditional on this pool, these targets and the 4 unselected items on which they were evaluated;",
        "The order on the pool is estimated from the evaluated items",
        "Below: probability that a random subset has a lower value than one of the selected set",
    ):
        assert part in words
    assert "beyond" not in words and "rows and below" not in words
    assert shown(table)[0][2].count("[") == 1


def test_the_caption_says_how_many_selected_items_were_evaluated():
    words = caption(made(first=2))
    assert "Selected: the 4 evaluated selected items. Random" in words
    assert "evaluated on all" not in words
    assert "the targets were evaluated on 4 of the 6 selected and 6 of the 6 unselected items" in words
    words = caption(made(first=5, items=7, pool=(6, 4)))
    assert "random subsets of 1 of the 1 selected item that" not in words
    assert "Selected: the 1 evaluated selected item. Random" in words
    assert "these targets and the 1 unselected item on which they were evaluated" in words


def test_the_caption_says_how_many_draws_are_left_out():
    table = made().with_columns(undefined_random=pl.lit(0), undefined_selected=pl.lit(0))
    first = pl.int_range(pl.len()) == 0
    assert "excluded" not in caption(table)
    for column in ("undefined_random", "undefined_selected"):
        some = table.with_columns(pl.when(first).then(7).otherwise(column).alias(column))
        assert "Up to 7 of the 40 random subsets leave a criterion undefined and are excluded." in caption(
            some
        )
        # A row without a share is a dash, which the caption explains.
        some = some.with_columns(pl.when(~first).then("share_below").alias("share_below"))
        assert "excluded" not in caption(some)
    # The range is not printed, nor what it excludes.
    some = table.with_columns(undefined_random=pl.when(criterion="range").then(7).otherwise(0))
    assert "excluded" not in caption(some)


def test_the_caption_counts_what_is_beyond_chance():
    table = made().with_columns(share_below=pl.lit(0.5))
    # Every second row is weighted by κ, and does not count.
    edges = [0.976, 1.0, 0.975, 0.0, 0.024, 0.5, 0.025, 0.5, 1.0]
    rest = [0.5] * (table.height - len(edges))
    some = table.with_columns(share_below=pl.Series(edges + rest))
    counts = "above 0.975 in 1 of 12 rows and below 0.025 in 1. It is not given for rows weighted by κ"
    assert counts in caption(some)


def test_undefined_values_are_dashes_and_the_caption_explains_them():
    table = made()
    nothing = [name for name in table.columns if name.startswith(("random_", "selected")) or "below" in name]
    whole = [name for name in nothing if not name.endswith(("_items", "_evaluated"))]
    first = pl.int_range(pl.len()) == 0
    some = table.with_columns(pl.when(~first).then(pl.col(name)) for name in whole)
    assert shown(some)[0][2:] == ["–", "–", "–"] and shown(some)[1][2] != "–"
    assert "–: undefined, the csv file says why" in caption(some)
    assert "spread & Acc(o) & -- & -- & --" in printed_discrimination(some).latex


def test_one_model_leaves_dashes():
    table = made(models=1)
    latex = printed_discrimination(table).latex
    for text in (latex, caption(table)):
        assert "With one target there is nothing to distinguish." in text
        assert "nan" not in text.lower() and "None" not in text
    assert "RAS, $\\kappa$ & -- & -- & " in latex and "–" not in latex
    for _, metric, *cells in shown(table):
        assert cells == ["–", "–", "" if "κ" in metric else "–"]


def test_latex_is_plain_ascii_with_its_symbols():
    text = printed_discrimination(made(), " 5 % & more").latex
    assert text.isascii()
    assert r"in brackets 95\,\% range, of 40" in text and r"5\,\% \& more" in text
    assert r"$\Delta$Acc, $\kappa$" in text and r"Kendall's $\tau$-b" in text


@pytest.mark.parametrize("models", [LEAST_MODELS - 1, LEAST_MODELS])
def test_orders_of_few_models_are_said_to_say_little(models):
    few = "With fewer than 5 targets, τ-b has few possible values"
    assert (few in caption(made(models))) == (models == 4)
