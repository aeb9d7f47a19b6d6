import polars as pl

from benchc.benchmarks.bench_c.metrics.bootstrap import bootstrap
from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.tables.intervals import printed_intervals
from benchc.rendering.numbers import interval_text
from tests.benchmarks.bench_c.metrics.score_tables import kappas, scored
from tests.benchmarks.bench_c.outputs import flat, rows_of

LABELS = {"one": "One & Co", "two": "Two"}


def made(items: int) -> pl.DataFrame:
    cube = cube_of({name: scored(items, seed) for seed, name in enumerate(LABELS)})
    return bootstrap(cube, cube.kappa(kappas(items)), draws=30, seed=0)


def test_each_cell_is_the_tables_value_and_interval():
    table = made(12)
    markdown = printed_intervals(table, LABELS, 30).markdown
    shown = {label: cells for label, *cells in rows_of(markdown)[2:4]}
    assert set(shown) == set(LABELS.values())
    for model, label in LABELS.items():
        for metric, weighting, cell in (
            ("acc_clean", "unweighted", shown[label][0]),
            ("delta_acc", "kappa", shown[label][1]),
            ("ras", "kappa", shown[label][3]),
        ):
            keys = {"model": model, "metric": metric, "weighting": weighting}
            row = table.filter(pl.col("corruption").is_null(), **keys)
            numbers = [float(part) for part in cell.translate(str.maketrans("[],", "   ")).split()]
            wanted = [round(row[name][0], 3) for name in ("estimate", "low", "high")]
            assert numbers == wanted
        for metric, cell in (("rank_delta_acc", shown[label][2]), ("rank_ras", shown[label][4])):
            row = table.filter(model=model, metric=metric, weighting="kappa").row(0, named=True)
            assert cell == f"{row['estimate']:.0f} [{row['low']:.0f}, {row['high']:.0f}]"
    accuracies = [float(cells[0].split()[0]) for cells in shown.values()]
    assert accuracies == sorted(accuracies)  # as in Table 1
    assert "30 resamples of the 12 items" in flat(markdown)


def test_latex_escapes_labels_and_says_what_is_undefined():
    text = printed_intervals(made(1), LABELS, 30).latex
    assert r"One \& Co" in text and r"\textrm{--}" in text
    assert "–" not in text and "nan" not in text and "None" not in text
    assert interval_text(-0.00001, 0.25, signed=True) == "[0.000, +0.250]"
    assert interval_text(None, None) == "[–]"
