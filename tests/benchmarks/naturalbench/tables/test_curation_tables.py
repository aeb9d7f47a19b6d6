"""Tables about curation: agreement, dropped questions and the steps."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from benchc.benchmarks.naturalbench.curation.review_rows import pair_rows
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES, MismatchesFooter
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED, ReviewedFooter
from benchc.benchmarks.naturalbench.tables.agreement import agreement
from benchc.benchmarks.naturalbench.tables.curation import curation
from benchc.benchmarks.naturalbench.tables.drop_reasons import drop_reasons
from benchc.schemas.parquet import write_table
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, reviewed, rows_of
from tests.benchmarks.naturalbench.drawn import pairs_of

SLOTS = [(pair, kind, q) for pair in SAMPLES for kind in ("yes_no", "multiple_choice") for q in (0, 1)]


def saved(folder, tables):
    paths = []
    for round_, table in tables.items():
        paths.append(folder / f"{round_}.parquet")
        write_table(table, paths[-1], REVIEWED, ReviewedFooter(round=round_, annotators=["anna", "bob"]))
    return paths


def random_reviews(seed=0, annotators=("anna", "bob")):
    rng = np.random.default_rng(seed)
    rows = rows_of(questions(*SLOTS))
    noisy = {
        name: [row.expected if rng.random() < 0.8 else int(rng.integers(3)) for row in rows]
        for name in annotators
    }
    return rows, noisy


def test_agreement_is_by_round_with_kappa_and_an_interval(tmp_path):
    rows, answers = random_reviews()
    pairs = pair_rows(SAMPLES)
    tables = {
        "pairs": reviewed(pairs, {"anna": [1, 1, 0, 1], "bob": [1, 1, 1, 1]}),
        "0": reviewed(rows, answers),
        "1": reviewed([], {}),
    }
    frame = agreement(saved(tmp_path, tables), draws=200, seed=1).frame
    assert frame["round"].to_list() == ["pairs", "0", "1", "all questions"] and frame["rows"].to_list() == [
        4,
        32,
        0,
        32,
    ]
    values = frame.row(1, named=True)
    anna, bob = (np.array(answers[name]) for name in ("anna", "bob"))
    assert values["agreement"] == pytest.approx(np.mean(anna == bob))
    assert values["kappa"] == pytest.approx(cohen_kappa_score(anna, bob))
    right = np.array([row.expected for row in rows])
    assert values["expected_answers"] == pytest.approx(np.mean([*(anna == right), *(bob == right)]))
    assert values["agreement_low"] < values["agreement"] < values["agreement_high"]
    assert values["kappa_low"] < values["kappa"] < values["kappa_high"]
    assert (
        frame.row(0, named=True)["agreement"] == 0.75
        and frame.row(0, named=True)["expected_answers"] == 0.875
    )
    assert set(frame.row(2)[2:]) == {None}
    assert frame.row(3)[1:] == frame.row(1)[1:]


def test_the_caption_names_the_kappa(tmp_path):
    rows, answers = random_reviews(annotators=("a", "b", "c"))
    table = agreement(saved(tmp_path, {"0": reviewed(rows, answers)}), draws=100, seed=1)
    assert "Kappa is Fleiss'" in table.markdown and "3 annotators" in table.markdown
    rows, answers = random_reviews()
    table = agreement(saved(tmp_path, {"0": reviewed(rows, answers)}), draws=100, seed=1)
    assert "Kappa is Cohen's" in table.markdown and "\\begin" in table.latex


def test_an_interval_without_width_is_not_shown(tmp_path):
    rows = rows_of(questions(*SLOTS))
    same = [row.expected for row in rows]
    table = agreement(saved(tmp_path, {"0": reviewed(rows, {"a": same, "b": same})}), draws=100, seed=1)
    values = table.frame.row(0, named=True)
    assert (values["agreement"], values["kappa"]) == (1, 1)
    assert {values[f"{name}_{end}"] for name in ("agreement", "kappa") for end in ("low", "high")} == {None}
    text = " ".join(table.markdown.split())
    assert "| 1.000 [–] | 1.000 [–] |" in text and "all resamples give one value" in text
    # One disagreement gives both intervals a width.
    other = [1 - same[0], *same[1:]]
    frame = agreement(
        saved(tmp_path, {"0": reviewed(rows, {"a": same, "b": other})}), draws=100, seed=1
    ).frame
    values = frame.row(0, named=True)
    assert all(values[f"{name}_low"] < values[f"{name}_high"] == 1 for name in ("agreement", "kappa"))


def test_kappa_without_variation_is_null(tmp_path):
    rows = rows_of(questions(("p0", "yes_no", 0), ("p1", "yes_no", 0)))
    frame = agreement(
        saved(tmp_path, {"0": reviewed(rows, {"a": [0] * 4, "b": [0] * 4})}), draws=100, seed=1
    ).frame
    assert frame["kappa"].to_list() == frame["kappa_low"].to_list() == [None, None]
    assert frame["agreement"].to_list() == [1.0, 1.0]
    write = frame.select(pl.col(pl.Float64).is_nan().any()).row(0)
    assert not any(write)


def kept_of(reasons):
    """Return KEPT rows of p0, p1, ... in order, two each."""
    rows = [(f"p{n // 2}", "yes_no", n % 2, reason is None, reason) for n, reason in enumerate(reasons)]
    return pl.DataFrame(rows, schema=pl.Schema(KEPT.columns), orient="row")


def test_reasons_are_counted_by_round_and_type(tmp_path):
    first = kept_of(
        [None, "wrong_answer", "disagreement", "disagreement", None, None, "no_question", "unanswerable"]
    )
    second = kept_of([None]).with_columns(type=pl.lit("multiple_choice"))
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for path, table in zip(paths, (first, second, first.clear()), strict=True):
        write_table(table, path, KEPT)
    table = drop_reasons(paths, draws=200, seed=0)
    assert table.frame.drop("kept_low", "kept_high").rows() == [
        ("0", "yes_no", 8, 0.375, 1, 2, 1, 1),
        ("1", "multiple_choice", 1, 1.0, 0, 0, 0, 0),
    ]
    low, high = table.frame.select("kept_low", "kept_high").row(0)
    assert 0 <= low < 0.375 < high <= 1
    assert table.frame.select("kept_low", "kept_high").row(1) == (None, None)  # one pair
    assert "yes/no" in table.markdown


def test_the_steps_are_counted(tmp_path):
    pairs = pairs_of([(f"a{n}", f"b{n}") for n in range(4)]).with_columns(pair=pl.Series(list(SAMPLES)))
    pairs = pairs.with_columns(
        method=pl.Series(["mined", "mined", "mined", "random"]).cast(PAIRS.columns["method"])
    )
    asked = questions(
        *[slot for slot in SLOTS if slot[0] in ("p0", "p1", "p2")], unusable=("p1", "yes_no", 0)
    )
    kept = asked.select(
        "pair",
        "type",
        "q_idx",
        kept=pl.col("ok"),
        reason=pl.when("ok").then(None).otherwise(pl.lit("no_question")),
    )
    files = {
        name: tmp_path / f"{name}.parquet"
        for name in ("mismatches", "pairs", "kept_pairs", "questions", "kept")
    }
    write_table(
        pl.DataFrame(schema=pl.Schema(MISMATCHES.columns)),
        files["mismatches"],
        MISMATCHES,
        MismatchesFooter(samples=9, mismatches=30, left_out=30),
    )
    write_table(pairs, files["pairs"], PAIRS)
    write_table(pairs.head(3), files["kept_pairs"], PAIRS)
    write_table(asked, files["questions"], QUESTIONS)
    write_table(kept, files["kept"], KEPT)
    table = curation(
        files["mismatches"], files["pairs"], [files["kept_pairs"]], [files["questions"]], [files["kept"]]
    )
    assert table.frame.select("step", "number", "share").rows() == [
        ("samples", 9, None),
        ("mismatches", 30, None),
        ("pairs, mined", 3, 0.75),
        ("pairs, random", 1, 0.25),
        ("pairs, kept", 3, 0.75),
        ("questions, round 0", 12, None),
        ("usable, round 0", 11, 11 / 12),
        ("kept, round 0", 11, 11 / 12),
        ("groups, yes/no", 2, 2 / 3),
        ("groups, multiple choice", 3, 1.0),
    ]
    without = curation(files["mismatches"], files["pairs"], [], [files["questions"]], [files["kept"]])
    assert "pairs, kept" not in without.frame["step"]
    assert without.frame.filter(step="groups, yes/no")["share"].item() == 0.5


def test_the_order_of_rows_changes_no_interval_of_drop_reasons(tmp_path):
    random = np.random.default_rng(0)
    reasons = [None if random.random() < 0.6 else "disagreement" for _ in range(80)]
    # Pairs differ in their numbers of questions too.
    rows = kept_of(reasons).filter(pl.Series(random.random(80) < 0.8))
    ends = set()
    for seed in range(5):
        path = tmp_path / f"{seed}.parquet"
        write_table(rows.sample(fraction=1, shuffle=True, seed=seed), path, KEPT)
        ends.add(drop_reasons([path], draws=50, seed=0).frame.select("kept_low", "kept_high").row(0))
    assert len(ends) == 1


def test_agreement_is_resampled_by_pairs(tmp_path):
    rows = rows_of(questions(*[slot for slot in SLOTS if slot[0] in ("p0", "p1")]))
    anna = [row.expected for row in rows]
    # They agree on all questions of one pair and on none of the other.
    bob = [row.expected if row.pair == "p0" else 1 - row.expected for row in rows]
    answers = {"anna": anna, "bob": bob}
    frame = agreement(saved(tmp_path, {"0": reviewed(rows, answers)}), draws=200, seed=1).frame
    assert frame.select("agreement", "agreement_low", "agreement_high").row(0) == (0.5, 0.0, 1.0)
    # Of one pair there is no interval.
    second = [number for number, row in enumerate(rows) if row.pair == "p1"]
    chosen = {name: [given[number] for number in second] for name, given in answers.items()}
    one = reviewed([rows[number] for number in second], chosen)
    row = agreement(saved(tmp_path, {"0": one}), draws=200, seed=1).frame.row(0, named=True)
    assert row["agreement"] == 0 and row["kappa"] == -1
    assert [row[f"{name}_{end}"] for name in ("agreement", "kappa") for end in ("low", "high")] == [None] * 4


def test_a_round_without_questions_has_no_share(tmp_path):
    pairs = pairs_of([("a0", "b0")]).with_columns(pair=pl.Series(["p0"]))
    asked = questions(("p0", "yes_no", 0))
    files = {name: tmp_path / f"{name}.parquet" for name in ("mismatches", "pairs", "questions", "kept")}
    none = pl.DataFrame(schema=pl.Schema(MISMATCHES.columns))
    footer = MismatchesFooter(samples=2, mismatches=1, left_out=1)
    write_table(none, files["mismatches"], MISMATCHES, footer)
    write_table(pairs, files["pairs"], PAIRS)
    write_table(asked.clear(), files["questions"], QUESTIONS)
    write_table(kept_of([]), files["kept"], KEPT)
    frame = curation(files["mismatches"], files["pairs"], [], [files["questions"]], [files["kept"]]).frame
    assert frame.filter(pl.col("step").str.ends_with("round 0")).select("step", "number", "share").rows() == [
        ("questions, round 0", 0, None),
        ("usable, round 0", 0, None),
        ("kept, round 0", 0, None),
    ]
