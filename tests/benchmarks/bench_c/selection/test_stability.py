import itertools

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.kappa import kappa
from benchc.benchmarks.bench_c.selection.select import select
from benchc.benchmarks.bench_c.selection.stability import (
    COLUMNS,
    Setting,
    agreement,
    alternative_settings,
    stability,
)

CORRUPTIONS = ("fog", "blur")
SELECTORS = ("one", "two", "three_s")
SEVERITIES = (1, 2, 3, 4, 5)
CONFIGURED = Setting(SELECTORS, SEVERITIES, (1.0, 1.0), "at_pick")
ITEMS = pl.DataFrame({"id": [f"a/{row}" for row in range(40)], "options": [4] * 40})


def predictions(seed: int, inconsistent: float) -> pl.DataFrame:
    """Predictions of four options, of which a share ``inconsistent`` picks any, and the others the first."""
    random = np.random.default_rng(seed)
    rows = []
    for item, corruption, severity in itertools.product(ITEMS["id"], CORRUPTIONS, SEVERITIES):
        chosen = random.integers(4) if random.random() < inconsistent else 0
        rows.append((item, corruption, severity, [float(option == chosen) for option in range(4)]))
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64, "logits": pl.List(pl.Float32)}
    return pl.DataFrame(rows, schema=schema, orient="row")


ALL_PREDICTIONS = {selector: predictions(seed, 0.1 + 0.1 * seed) for seed, selector in enumerate(SELECTORS)}


def embeddings() -> pl.DataFrame:
    random = np.random.default_rng(5)
    image, text = (random.normal(size=(ITEMS.height, d)).tolist() for d in (6, 4))
    columns = {"id": ITEMS["id"], "image": image, "text": text, "truncated": [False] * ITEMS.height}
    return pl.DataFrame(columns, schema=dict(EMBEDDINGS.columns))


EMBEDDED = embeddings()


def selected(ids: str, scores: list[float | None], kept: list[bool]) -> pl.DataFrame:
    columns = {"id": list(ids), "kappa": [0.5] * 4, "rank": [0, 1, 2, 3], "score": scores, "selected": kept}
    return pl.DataFrame(columns, schema=dict(SELECTED.columns))


def names_of(setting: Setting) -> list[tuple[str, str]]:
    return [(choice, name) for choice, name, _ in alternative_settings(setting)]


def test_alternative_settings_of_the_papers_run():
    assert names_of(CONFIGURED) == [
        *(("selectors", f"without {name}") for name in SELECTORS),
        *(("severities", levels) for levels in ("2, 3, 4, 5", "1, 2, 3, 4", "1, 3, 5")),
        *(("alpha", pair) for pair in ("(1, 0)", "(0, 1)", "(1, 0.5)", "(0.5, 1)")),
        ("final_score", "final_centroid"),
    ]
    for choice, _, setting in alternative_settings(CONFIGURED):
        fields = {"alpha": "alpha", "final_score": "score"}
        for field in ("selectors", "severities", "alpha", "score"):
            changed = getattr(setting, field) != getattr(CONFIGURED, field)
            assert changed == (field == fields.get(choice, choice))


def test_no_selector_or_severity_is_left_out_if_too_few_would_remain():
    # (1, 0.5) is (2, 1) at half the scale.
    alphas = [("alpha", pair) for pair in ("(1, 0)", "(0, 1)", "(0.5, 1)")]
    found = names_of(Setting(("one",), (2, 4), (2.0, 1.0), "final_centroid"))
    assert found == [*alphas, ("final_score", "at_pick")]
    three = names_of(Setting(("one",), (1, 3, 5), (1, 1), "at_pick"))[:3]
    assert three == [("severities", levels) for levels in ("3, 5", "1, 3", "1, 5")]


def test_agreement_by_hand():
    one = selected("abcd", [0.4, 0.3, 0.2, None], [True, True, False, False])
    other = selected("dcba", [0.9, 0.1, 0.25, 0.2], [True, False, True, False])
    found = agreement(one, other)
    assert (found["selected"], found["selected_by_both"], found["jaccard"]) == (2, 1, 1 / 3)
    assert found["jaccard_by_chance"] == pytest.approx(1 / 3)  # one of 2 x 2 out of 4 is shared by chance
    # Items a, b, c score 4, 3, 2 tenths here and 2, 2.5, 1 there: ranks 3, 2, 1 and 2, 3, 1; one pair of 3.
    assert found["compared"] == 3
    assert found["spearman"] == pytest.approx(0.5)
    assert found["kendall"] == pytest.approx(1 / 3)
    # Two items are enough for a correlation.
    two = selected("abcd", [0.1, 0.2, None, None], [True, True, True, False])
    found = agreement(one, two)
    assert found["compared"] == 2
    assert [found["spearman"], found["kendall"]] == pytest.approx([-1, -1])
    # Of 2 x 3 out of 4, 1.5 are shared by chance.
    assert (found["jaccard"], found["jaccard_by_chance"]) == (2 / 3, pytest.approx(1.5 / 3.5))
    constant = selected("abcd", [1.0] * 4, [True, True, False, False])
    for others in (one, constant):
        for found in (agreement(constant, others), agreement(others, constant)):
            assert (found["spearman"], found["kendall"]) == (None, None)
    assert found["jaccard"] == 1.0
    other = selected("abcd", [None] * 4, [True, False, False, False])
    found = agreement(constant, other)
    assert (found["compared"], found["spearman"], found["selected"], found["jaccard"]) == (0, None, 1, 1 / 2)


def test_each_row_compares_its_own_selection_with_the_configured_one():
    made = [*stability(CONFIGURED, ALL_PREDICTIONS, ITEMS, CORRUPTIONS, EMBEDDED)]
    rows = {(row["choice"], row["setting"]): row for row in made}
    assert all(list(row) == list(COLUMNS) for row in rows.values())
    whole = kappa(ALL_PREDICTIONS, ITEMS, CORRUPTIONS)
    base = select(whole, EMBEDDED)
    without = {name: ALL_PREDICTIONS[name] for name in ("one", "three_s")}
    two, three = kappa(without, ITEMS, CORRUPTIONS), kappa(ALL_PREDICTIONS, ITEMS, CORRUPTIONS, (1, 3, 5))
    expected = {
        ("as configured", ""): (whole, base),
        ("selectors", "without two"): (two, select(two, EMBEDDED)),
        ("severities", "1, 3, 5"): (three, select(three, EMBEDDED)),
        ("alpha", "(1, 0.5)"): (whole, select(whole, EMBEDDED, (1.0, 0.5))),
        ("final_score", "final_centroid"): (whole, select(whole, EMBEDDED, score="final_centroid")),
    }
    for key, (kappas, table) in expected.items():
        row = rows[key]
        assert {name: row[name] for name in agreement(base, table)} == agreement(base, table)
        assert row["selectable"] == (kappas["kappa"] > 0).sum()
        kept = table.filter("selected")["kappa"].to_numpy()
        for values, name in ((kappas["kappa"].to_numpy(), "pool"), (kept, "selected")):
            found = [row[f"kappa_{name}_{part}"] for part in ("mean", "zero", "q25", "median", "q75")]
            quartiles = np.percentile(values, (25, 50, 75))
            assert found == pytest.approx([values.mean(), (values == 0).mean(), *quartiles])
    # The order of predictions and embeddings changes nothing.
    names = ALL_PREDICTIONS.items()
    shuffled = {name: frame.sample(fraction=1, shuffle=True, seed=3) for name, frame in names}
    assert made == [*stability(CONFIGURED, shuffled, ITEMS, CORRUPTIONS, EMBEDDED.reverse())]
    configured = rows.pop(("as configured", ""))
    assert configured["jaccard"] == 1.0 and all(0 < row["jaccard"] < 1 for row in rows.values())
    assert rows["selectors", "without three_s"]["kappa_pool_zero"] > configured["kappa_pool_zero"]


def test_a_choice_that_selects_nothing_has_a_reason():
    partly_constant = {"one": predictions(1, 0.5), "two": predictions(2, 0.0)}
    setting = Setting(("one", "two"), SEVERITIES, (1.0, 1.0), "at_pick")
    table = pl.DataFrame(stability(setting, partly_constant, ITEMS, CORRUPTIONS, EMBEDDED), schema=COLUMNS)
    row = table.row(by_predicate=pl.col("setting") == "without one", named=True)
    assert "all 40 items have kappa 0" in row["note"]
    assert (row["selected"], row["jaccard"], row["kappa_pool_zero"]) == (None, None, 1.0)
    two = Setting(("two",), SEVERITIES, (1, 1), "at_pick")
    with pytest.raises(ValueError, match="all 40 items have kappa 0"):
        list(stability(two, partly_constant, ITEMS, CORRUPTIONS, EMBEDDED))
