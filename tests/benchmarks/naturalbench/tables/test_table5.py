from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.schemas.translations import TRANSLATIONS
from benchc.rendering.output import Table, call, function_of
from benchc.schemas.parquet import TableError, write_table
from tests.benchmarks.naturalbench.simulated import group_rows, items_of, score_rows, write_scored
from tests.rendering.latex import check_latex

LANGUAGES = ("English", "Chinese", "Hindi", "Chinese")
GROUPS = group_rows(40, languages=LANGUAGES, methods=("mined",) * 7 + ("random",))
LEFT_OUT = ("g1", "g9", "g2")  # two in Chinese, one in Hindi
OTHERS = GROUPS.filter(pl.col("language") != "English", pl.col("method") == "mined")
TRANSLATED = OTHERS.filter(~pl.col("group").is_in(LEFT_OUT)).with_columns(language=pl.lit("English"))
# Two models of the paper, of which one is in its Table 5.
IDS = ("deepseek-vl-7b-chat", "llava-1.5-7b")
DRAWS = {"draws": 200, "seed": 3}


def translations() -> pl.DataFrame:
    """Return TRANSLATIONS, whose texts do not matter here."""
    rows = [
        {"group": group, "q_idx": q_idx, "language": language, "ok": q_idx == 0 or group not in LEFT_OUT}
        for group, q_idx, language in OTHERS.filter(i_idx=0).select("group", "q_idx", "language").iter_rows()
    ]
    return pl.DataFrame(rows, schema=pl.Schema(TRANSLATIONS.columns))


def scores(groups: pl.DataFrame, seed: int, skill: float) -> dict[str, Any]:
    """Return scores of each model for `write_scored`."""
    items = items_of(groups)
    return {id_: (score_rows(items, seed + n, skill=skill)[0], {}) for n, id_ in enumerate(IDS)}


Given = tuple[dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def given() -> Given:
    return scores(GROUPS, 1, 0.6), scores(TRANSLATED, 11, 1.4)


@pytest.fixture
def files(given: Given, tmp_path: Path) -> dict[str, Any]:
    found = write_scored(tmp_path, GROUPS, given[0])
    translated = write_scored(tmp_path / "translated", TRANSLATED, given[1])
    write_table(translations(), tmp_path / "questions.parquet", TRANSLATIONS)
    made = {f"translated_{name}": translated[name] for name in ("scores", "groups")}
    return found | made | {"translations": tmp_path / "questions.parquet", "chance": tmp_path / "chance.csv"}


def table5(files: dict[str, Any], reading: str = "decoding", **changes: int) -> Table:
    chance = function_of("benchc.benchmarks.naturalbench.tables.chance")
    ranking = {"predictions": [], "least_label_mass": 0.5, "rank_below_chance": True}
    files["chance"].write_text(call(chance, files | DRAWS | ranking).frame.write_csv())
    settings = DRAWS | changes | {"reading": reading, "translator": "gpt"}
    found: Table = call(function_of("benchc.benchmarks.naturalbench.tables.table5"), files | settings)
    return found


def right(table: pl.DataFrame, reading: str, names: list[str]) -> np.ndarray:
    """Return whether all four answers of each group are right, counted from the single answers."""
    rows = table.filter(reading=reading, corruption="clean")
    by_group = {row["group"]: all(row[f"c{q}{i}"] for q in (0, 1) for i in (0, 1)) for row in rows.to_dicts()}
    return np.array([by_group[name] for name in names], dtype=float)


@pytest.mark.parametrize("reading", ["decoding", "deterministic"])
def test_values_are_those_of_the_translated_groups(given: Given, files: dict[str, Any], reading: str) -> None:
    frame = table5(files, reading).frame
    assert frame.select("model", "language").rows() == [
        (id_.upper(), language) for language in ("Chinese", "Hindi") for id_ in IDS
    ]
    differences = []
    for row in frame.iter_rows(named=True):
        of_language = (f"g{n}" for n in range(40) if LANGUAGES[n % 4] == row["language"] and n % 8 != 7)
        names = [name for name in of_language if name not in LEFT_OUT]
        assert row["groups"] == len(names) and row["left_out"] == {"Chinese": 2, "Hindi": 1}[row["language"]]
        before, after = (right(part[row["model"].lower()][0], reading, names) for part in given)
        assert row["original"] == pytest.approx(100 * before.mean())
        assert row["translated"] == pytest.approx(100 * after.mean())
        assert row["difference"] == pytest.approx(100 * (after - before).mean())
        # Resamples of other draws: the interval of paired differences, by its quantiles alone.
        drawn = np.random.default_rng(0).choice(after - before, (20000, len(names))).mean(axis=1)
        low, high = 100 * np.quantile(drawn, [0.025, 0.975])
        step = 100 / len(names)
        assert abs(row["difference_low"] - low) <= 2 * step and abs(row["difference_high"] - high) <= 2 * step
        differences.append(row["difference"])
    assert max(differences) > 0


def test_pairs_are_by_group_whatever_the_order_of_files(
    given: Given, files: dict[str, Any], tmp_path: Path
) -> None:
    """The paired difference of a translation that changes nothing is 0 in every resample."""
    names = TRANSLATED["group"].unique(maintain_order=True)
    same = {id_: (t.filter(pl.col("group").is_in(names.implode())), f) for id_, (t, f) in given[0].items()}
    turned = TRANSLATED.select(pl.all().reverse())
    turned = turned.with_columns(i_idx=1 - pl.col("i_idx"), q_idx=1 - pl.col("q_idx")).sort(
        "group", "q_idx", "i_idx", descending=[True, False, False], maintain_order=True
    )
    order = {group: n for n, group in enumerate(turned["group"].unique(maintain_order=True))}
    shuffled = {
        id_: (t.sort(pl.col("group").replace_strict(order), maintain_order=True), f)
        for id_, (t, f) in same.items()
    }
    again = write_scored(tmp_path / "again", turned, shuffled)
    frame = table5(files | {"translated_scores": again["scores"], "translated_groups": again["groups"]}).frame
    zero = frame.select("difference", "difference_low", "difference_high")
    assert zero.rows() == [(0.0, 0.0, 0.0)] * 4 and (frame["original"] > 0).any()
    # The seed draws the resamples.
    one, again, other = (table5(files, draws=7, seed=seed).frame for seed in (1, 1, 2))
    assert one.equals(again) and not one.equals(other)


def test_it_prints_counts_marks_and_the_paper(files: dict[str, Any]) -> None:
    table = table5(files)
    text = " ".join(table.markdown.split())
    header = [cell.strip() for cell in table.markdown.splitlines()[0].strip("|").split("|")]
    assert header == ["Model", "Chinese", "Chinese → English", "Δ", "Hindi", "Hindi → English", "Δ"]
    assert "| Random chance | 6.2 | 6.2 | 0.0 | 6.2 | 6.2 | 0.0 |" in text
    assert "Groups: Chinese 13 (2 without a translation left out), Hindi 9 (1 without a translation" in text
    assert "by the model gpt, by the reading decoding, where a reply without an answer is wrong" in text
    assert "whether or not they claim to know the language" in text
    assert ("†" in text) == ("Marks are by all groups of the run." in text)
    check_latex(table.latex)
    assert "nan" not in (table.frame.write_csv() + table.markdown).lower()
    assert table.published is not None
    ours = table.frame.filter(model=IDS[0].upper())
    values = [(language, value) for language in ("Chinese", "Hindi") for value in ("original", "translated")]
    assert table.published.select("model", "value", "here", "published").rows() == [
        (IDS[0].upper(), f"{language}_{value}", ours.filter(language=language)[value].item(), published)
        for (language, value), published in zip(values, (10.9, 28.4, 0.6, 29.0), strict=True)
    ]
    deterministic = table5(files, "deterministic").published
    assert deterministic is not None and deterministic.is_empty()


def test_translated_groups_of_another_run_are_refused(files: dict[str, Any], tmp_path: Path) -> None:
    groups = GROUPS.filter(pl.col("group") != "g5")
    other = write_scored(tmp_path / "other", groups, scores(groups, 1, 0.6))
    with pytest.raises(TableError, match="the translated group g5 is no group of the run"):
        table5(files | {"scores": other["scores"], "groups": other["groups"]})
