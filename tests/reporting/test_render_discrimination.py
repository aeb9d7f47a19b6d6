import polars as pl
import pytest

from benchc.metrics.cube import cube_of
from benchc.metrics.discrimination import discrimination
from benchc.reporting.discrimination import discrimination_latex, discrimination_markdown
from tests.metrics.score_tables import kappas, scored

ITEMS = 12
NAMES = {"sd": "spread", "separable": "separable pairs", "kendall": "order"}
METRICS = {"acc_clean": "Acc(o)", "acc_corrupted": "Acc(c)", "delta_acc": "ΔAcc", "ras": "RAS"}


def made(models: int = 4, pool: tuple[int, int] = (6, 6), items: int = ITEMS) -> pl.DataFrame:
    cube = cube_of({f"m{seed}": scored(items, seed) for seed in range(models)})
    selected = pl.Series(cube.items).str.slice(2).cast(pl.Int64) < 6
    return discrimination(cube, cube.kappa(kappas(items)), selected.to_numpy(), pool, draws=40, seed=0)


def number(value: float) -> str:
    return f"{value:.3f}".replace("-0.000", "0.000")


def shown(text: str) -> list[list[str]]:
    lines = text.split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_each_cell_is_the_tables_number_and_the_range_is_left_to_the_csv():
    table = made()
    rows = table.filter(pl.col("criterion") != "range").rows(named=True)
    cells = shown(discrimination_markdown(table))
    assert len(cells) == len(rows) == 24
    for (criterion, metric, *texts), row in zip(cells, rows, strict=True):
        assert criterion == NAMES[row["criterion"]]
        assert metric == METRICS[row["metric"]] + (", κ" if row["weighting"] == "kappa" else "")
        between = f"[{number(row['random_q025'])}, {number(row['random_q975'])}]"
        assert texts == [
            number(row["selected"]),
            f"{number(row['random_q50'])} {between}",
            number(row["share_below"]),
        ]
    latex = discrimination_latex(table)
    for _, _, *texts in cells:
        assert " & ".join(f"${text}$" for text in texts) in latex


def test_the_caption_says_what_is_compared():
    words = " ".join(discrimination_markdown(made(), " On 6 of 7 items.").split())
    assert "tell the 4 targets apart" in words and "Selected: the 6 selected items. Random" in words
    assert "40 subsets of 6 of the 12 items of the pool; the targets read all of these" in words
    assert words.endswith("On 6 of 7 items.")
    assert "undefined" not in words
    words = " ".join(discrimination_markdown(made(pool=(6, 30), items=10)).split())
    assert "Selected: median, and in brackets 95 %, of 40 random subsets of 4 of the 6 selected" in words
    assert "for the 30 that are not selected stand 4 that the targets read" in words
    selected = shown(discrimination_markdown(made(pool=(6, 30), items=10)))[0][2]
    assert selected.count("[") == 1


def test_the_caption_counts_what_is_beyond_chance():
    table = made().with_columns(share_below=pl.lit(0.5))
    edges = [0.976, 0.975, 0.024, 0.025, 1.0]
    rest = [0.5] * (table.height - len(edges))
    some = table.with_columns(share_below=pl.Series(edges + rest))
    words = " ".join(discrimination_markdown(some).split())
    assert "above 0.975 in 2 of 24 rows and below 0.025 in 1." in words


def test_what_is_undefined_is_a_dash_and_said_so():
    table = made()
    nothing = [name for name in table.columns if name.startswith(("random_", "selected")) or "below" in name]
    whole = [name for name in nothing if not name.endswith(("_items", "_read"))]
    first = pl.int_range(pl.len()) == 0
    some = table.with_columns(pl.when(~first).then(pl.col(name)) for name in whole)
    text = discrimination_markdown(some)
    assert shown(text)[0][2:] == ["–", "–", "–"] and shown(text)[1][2] != "–"
    assert "–: undefined, the csv file says why" in " ".join(text.split())
    assert "spread & Acc(o) & -- & -- & --" in discrimination_latex(some)


@pytest.mark.parametrize("form", [discrimination_markdown, discrimination_latex])
def test_one_model_leaves_dashes(form):
    text = form(made(models=1))
    assert "One target: there are none to tell apart." in text
    assert "nan" not in text.lower() and "None" not in text
    if form is discrimination_latex:
        assert "RAS, $\\kappa$ & -- & -- & --" in text and "–" not in text
    else:
        assert all(cells[2:] == ["–", "–", "–"] for cells in shown(text))


def test_latex_is_plain_ascii_with_its_symbols():
    text = discrimination_latex(made(), " 5 % & more")
    assert text.isascii()
    assert r"in brackets 95\,\%, of 40" in text and r"5\,\% \& more" in text
    assert r"$\Delta$Acc, $\kappa$" in text and r"Kendall's $\tau$-b" in text
