"""The paper's tables agree with our copies and with our definitions."""

import csv
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.metrics.table1 import rank
from benchc.benchmarks.bench_c.metrics.table2 import p_of_t
from benchc.benchmarks.bench_c.metrics.transitions import regime
from benchc.benchmarks.bench_c.published.tables import (
    PUBLISHED_ITEMS,
    published_table1,
    published_table2,
    published_table3,
)
from benchc.config.yaml_file import read_yaml
from benchc.rendering.published import compare_with_published
from tests.shared_data import SHARED, needs_shared

ROOT = Path(__file__).parents[4]
REFERENCE = SHARED / "reference"
TABLES = {1: published_table1(), 2: published_table2(), 3: published_table3()}


@needs_shared
def test_every_value_is_the_reference_files():
    for number, table in TABLES.items():
        with (REFERENCE / f"bench_c_table{number}.csv").open() as file:
            rows = list(csv.reader(file))[1:]
        assert table.shape == (len(rows), len(rows[0])) == {1: (13, 12), 2: (13, 5), 3: (28, 10)}[number]
        for ours, reference in zip(table.rows(), rows, strict=True):
            for value, text in zip(ours, reference, strict=True):
                if isinstance(value, str):
                    assert value.replace("_", " ").lower() == text.lower(), number
                else:
                    assert value == float(text), number


def test_table1_accuracies_and_table3_shifts_are_counts_of_849_items():
    for accuracy in TABLES[1]["acc_clean"]:
        right = round(accuracy * PUBLISHED_ITEMS)
        assert f"{right / PUBLISHED_ITEMS:.3f}" == f"{accuracy:.3f}"
    for row in TABLES[3].iter_rows(named=True):
        assert f"{(row['wr'] - row['rw']) / PUBLISHED_ITEMS:.3f}" == f"{row['delta_acc']:.3f}"
    clean = dict(TABLES[1].select("label", "acc_clean").rows())
    assert all(clean[row["label"]] == row["acc_clean"] for row in TABLES[3].iter_rows(named=True))


@pytest.mark.parametrize(("name", "tied"), [("delta_acc", 0), ("ras", 2)])
def test_table1_ranks_follow_from_its_values(name, tied):
    table = TABLES[1]
    computed, published = rank(table[name]), table[f"rank_{name}"]
    ties = table[name].is_duplicated()
    assert ties.sum() == tied
    assert computed.filter(~ties).to_list() == published.filter(~ties).to_list()
    # Rounding hides the order of equal values: they take the ranks that are left.
    assert sorted(published) == list(range(1, 14))


def test_table2_p_values_are_those_of_18_degrees_of_freedom():
    for row in TABLES[2].iter_rows(named=True):
        # t is printed with three decimals: moved by half a unit of the last, it brackets p as printed.
        low, high = (p_of_t(row["t"] + move, 19) for move in (5e-4, -5e-4))
        assert float(f"{low:.2e}") <= row["p"] <= float(f"{high:.2e}")
        assert abs(p_of_t(row["t"], 18) / row["p"] - 1) > 1  # with 17 degrees it is far off


def test_table3_regimes_follow_from_the_signs():
    # A printed 0.000 may have been a little above or below 0; one row has one.
    tiny, undecided = 1e-9, 0
    for row in TABLES[3].iter_rows(named=True):
        shifts = [row["delta_entropy"], row["delta_calibration"]]
        readings = [[shift] if shift else [-tiny, tiny] for shift in shifts]
        pairs = [(s, c) for s in readings[0] for c in readings[1]]
        found = [pl.select(regime(pl.lit(s), pl.lit(c))).item() for s, c in pairs]
        undecided += len(found) > 1
        assert row["regime"] in found, row
    assert undecided == 1
    counts = dict(TABLES[3]["regime"].value_counts().rows())
    assert counts == {"degraded": 11, "overconfident": 9, "hesitant": 3, "stable": 5}


def test_models_and_corruptions_have_our_names():
    catalogue = read_yaml(ROOT / "config" / "models.yaml")
    paper = read_yaml(ROOT / "config" / "config.yaml")
    labels = [catalogue[model]["label"] for model in paper["targets"]]
    for table in TABLES.values():
        assert set(table["label"]) <= set(labels)
    assert sorted(TABLES[1]["label"]) == sorted(labels)
    assert set(TABLES[3]["corruption"]) <= set(paper["corruptions"]["types"])


def test_only_shared_rows_are_compared():
    columns = {"label": ["Molmo", "New", "Gemma3"], "acc": [0.5, 0.9, None], "ras": [-0.1, 0.0, -0.08]}
    ours = pl.DataFrame(columns)
    found = compare_with_published(ours, TABLES[1], on=["label"], values={"acc": "acc_clean", "ras": "ras"})
    assert found.select("label", "value", "here", "published").rows() == [
        ("Gemma3", "acc", None, 0.428),
        ("Gemma3", "ras", -0.08, -0.077),
        ("Molmo", "acc", 0.5, 0.565),
        ("Molmo", "ras", -0.1, -0.088),
    ]
    assert found["difference"].to_list() == [None, *(pytest.approx(d) for d in (-0.003, -0.065, -0.012))]
    new = ours.filter(label="New")
    assert compare_with_published(new, TABLES[1], on=["label"], values={"acc": "acc_clean"}).is_empty()
