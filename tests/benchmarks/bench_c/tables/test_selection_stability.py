"""The table of the stability of the selected set: its numbers, its names, and what it says beside them."""

import re
from pathlib import Path

import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.selection.stability import COLUMNS, Setting, stability
from benchc.benchmarks.bench_c.tables.selection_stability import printed_stability
from benchc.errors import InputError
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.benchmarks.bench_c.outputs import flat, output, rows_of, write_filled
from tests.benchmarks.bench_c.selection.test_stability import (
    ALL_PREDICTIONS,
    CONFIGURED,
    CORRUPTIONS,
    EMBEDDED,
    ITEMS,
    SELECTORS,
    SEVERITIES,
)

LABELS = {"one": "Model 1", "two": "Model 2", "three_s": "Model_3"}


def test_choices_that_select_nothing_are_counted() -> None:
    numbers = {"items": 40, "selectable": 20, "selected": 12, "jaccard": 1.0}
    configured = dict.fromkeys(COLUMNS) | numbers | {"choice": "as configured", "setting": ""}
    nothing = dict.fromkeys(COLUMNS) | {"choice": "selectors", "items": 40, "selectable": 0, "note": "none"}
    rows = [configured, *(nothing | {"setting": f"without {name}"} for name in ("one", "two"))]
    for count, sentence in ((2, "1 choice selects nothing;"), (3, "2 choices select nothing;")):
        printed = printed_stability(pl.DataFrame(rows[:count], schema=COLUMNS), LABELS)
        assert "| without Model 1 " in printed.markdown
        assert sentence in flat(printed.markdown)
        assert "without Model 1 & $0$ & -- & --" in printed.latex
    assert "nothing" not in printed_stability(pl.DataFrame(rows[:1], schema=COLUMNS), LABELS).markdown


def test_the_texts_show_the_tables_numbers():
    table = pl.DataFrame(stability(CONFIGURED, ALL_PREDICTIONS, ITEMS, CORRUPTIONS, EMBEDDED), schema=COLUMNS)
    printed = printed_stability(table, LABELS)
    latex, cells_of = printed.latex, rows_of(printed.markdown)
    shown = cells_of[2 : 2 + table.height]
    for cells, row in zip(shown, table.iter_rows(named=True), strict=True):
        names = ("selectable", "selected", "selected_by_both")
        assert cells[1:4] == [str(row[name]) for name in names]
        names = ("jaccard", "jaccard_by_chance", "spearman", "kendall")
        assert cells[4:] == [f"{row[name]:.3f}" for name in names]
        assert " & ".join(f"${cell}$" for cell in cells[1:]) in latex
    severities = [f"severities {levels}" for levels in ("2, 3, 4, 5", "1, 2, 3, 4", "1, 3, 5")]
    assert [cells[0] for cells in shown[3:7]] == ["without Model_3", *severities]
    assert r"without Model\_3 & " in latex
    assert r"$\alpha$ = (1, 0.5) & " in latex
    first = table.row(0, named=True)
    for name, items, count in (("pool", "pool", 40), ("selected", "selected", first["selected"])):
        parts = [f"kappa_{items}_{part}" for part in ("mean", "zero", "q25", "median", "q75")]
        numbers = [f"{first[part]:.3f}" for part in parts]
        assert [f"{name} ({count})", *numbers] in cells_of
        assert " & ".join(f"${number}$" for number in numbers) in latex
    assert latex.isascii()


def test_the_table_of_files_is_the_librarys(tmp_path: Path) -> None:
    for selector, frame in ALL_PREDICTIONS.items():
        write_filled(frame.to_dict(), tmp_path / selector / "all.parquet", PREDICTIONS)
    pool = {"id": ITEMS["id"], "options": [["a", "b", "c", "d"]] * 40}
    write_filled(pool, tmp_path / "pool.parquet", POOL)
    write_table(EMBEDDED, tmp_path / "embeddings.parquet", EMBEDDINGS)
    files = {
        "predictions": [str(tmp_path / selector / "all.parquet") for selector in SELECTORS],
        "pool": [str(tmp_path / "pool.parquet")],
        "embeddings": [str(tmp_path / "embeddings.parquet")],
    }
    settings = {"selectors": SELECTORS, "labels": LABELS, "corruptions": CORRUPTIONS}
    settings |= {"severities": SEVERITIES, "alpha_kappa": 3.0, "alpha_diversity": 1.0}
    settings |= {"score": "final_centroid"}
    found = output("selection_stability", files, **settings)
    assert not re.search(r"without (one|two|three_s)\b", found.markdown)
    setting = Setting(SELECTORS, SEVERITIES, (3.0, 1.0), "final_centroid")
    table = pl.DataFrame(stability(setting, ALL_PREDICTIONS, ITEMS, CORRUPTIONS, EMBEDDED), schema=COLUMNS)
    assert found.frame.equals(table)
    jaccard, choice = min((row["jaccard"], place) for place, row in enumerate(table.iter_rows(named=True)))
    name = rows_of(found.markdown)[2 + choice][0]
    assert found.summary == f"11 other selections; least alike, Jaccard {jaccard:.2f}: {name}"
    printed = printed_stability(table, LABELS)
    assert (found.markdown, found.latex) == (printed.markdown, printed.latex)
    # With one selector and two severities, the first other choice is that of kappa alone.
    few = settings | {"selectors": SELECTORS[2:], "severities": [1, 5]}
    found = output("selection_stability", files | {"predictions": files["predictions"][2:]}, **few)
    assert found.summary == "5 other selections; least alike, Jaccard 0.42: α = (1, 0)"
    with pytest.raises(InputError, match="no file is in a folder named one"):
        output("selection_stability", files | {"predictions": files["predictions"][1:]}, **settings)
    with pytest.raises(InputError, match="score must be one of at_pick, final_centroid, not 'best'"):
        output("selection_stability", files, **settings | {"score": "best"})
