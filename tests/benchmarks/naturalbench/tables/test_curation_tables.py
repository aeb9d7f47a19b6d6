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
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.curation.reviewing import SAMPLES, questions, reviewed, rows_of
from tests.benchmarks.naturalbench.drawn import pairs_of

SLOTS = [(pair, kind, q) for pair in SAMPLES for kind in ("yes_no", "multiple_choice") for q in (0, 1)]


def agreed(folder, **tables):
    """Return the table of agreement of rounds."""
    paths = []
    for round_, table in tables.items():
        paths.append(folder / f"{round_.removeprefix('r')}.parquet")
        footer = ReviewedFooter(round=paths[-1].stem, annotators=["anna", "bob"])
        write_table(table, paths[-1], REVIEWED, footer)
    return agreement(paths, draws=200, seed=1)


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
    pairs = reviewed(pair_rows(SAMPLES), {"anna": [1, 1, 0, 1], "bob": [1, 1, 1, 1]})
    frame = agreed(tmp_path, pairs=pairs, r0=reviewed(rows, answers), r1=reviewed([], {})).frame
    expected = [("pairs", 4), ("0", 32), ("1", 0), ("all questions", 32)]
    assert frame.select("round", "rows").rows() == expected
    values = frame.row(1, named=True)
    anna, bob = (np.array(answers[name]) for name in ("anna", "bob"))
    assert values["agreement"] == pytest.approx(np.mean(anna == bob))
    assert values["kappa"] == pytest.approx(cohen_kappa_score(anna, bob))
    right = np.array([row.expected for row in rows])
    assert values["expected_answers"] == pytest.approx(np.mean([*(anna == right), *(bob == right)]))
    assert values["agreement_low"] < values["agreement"] < values["agreement_high"]
    assert values["kappa_low"] < values["kappa"] < values["kappa_high"]
    assert frame.select("agreement", "expected_answers").row(0) == (0.75, 0.875)
    assert set(frame.row(2)[2:]) == {None}
    assert frame.row(3)[1:] == frame.row(1)[1:]
    # The caption names the kappa.
    for names, kappa in ((("a", "b", "c"), "Kappa is Fleiss'"), (("anna", "bob"), "Kappa is Cohen's")):
        rows, answers = random_reviews(annotators=names)
        table = agreed(tmp_path, r0=reviewed(rows, answers))
        assert kappa in table.markdown and f"{len(names)} annotators" in table.markdown and table.latex


def test_an_interval_without_width_is_not_shown(tmp_path):
    rows = rows_of(questions(*SLOTS))
    same = [row.expected for row in rows]
    table = agreed(tmp_path, r0=reviewed(rows, {"a": same, "b": same}))
    values = table.frame.row(0, named=True)
    assert (values["agreement"], values["kappa"]) == (1, 1)
    assert {values[f"{name}_{end}"] for name in ("agreement", "kappa") for end in ("low", "high")} == {None}
    text = " ".join(table.markdown.split())
    assert "| 1.000 [–] | 1.000 [–] |" in text and "all resamples give one value" in text
    # One disagreement gives both intervals a width.
    other = [1 - same[0], *same[1:]]
    values = agreed(tmp_path, r0=reviewed(rows, {"a": same, "b": other})).frame.row(0, named=True)
    assert all(values[f"{name}_low"] < values[f"{name}_high"] == 1 for name in ("agreement", "kappa"))
    # Kappa without variation is null.
    rows = rows_of(questions(("p0", "yes_no", 0), ("p1", "yes_no", 0)))
    frame = agreed(tmp_path, r0=reviewed(rows, {"a": [0] * 4, "b": [0] * 4})).frame
    assert frame.select("kappa", "kappa_low", "agreement").rows() == [(None, None, 1.0)] * 2
    assert not any(frame.select(pl.col(pl.Float64).is_nan().any()).row(0))


def kept_of(reasons):
    """Return KEPT rows of p0, p1, ... in order, two each."""
    rows = [(f"p{n // 2}", "yes_no", n % 2, reason is None, reason) for n, reason in enumerate(reasons)]
    return frame_of(KEPT, rows)


def test_reasons_are_counted_by_round_and_type(tmp_path):
    reasons = [None, "wrong_answer", *["disagreement"] * 2, None, None, "no_question", "unanswerable"]
    first = kept_of(reasons)
    second = kept_of([None]).with_columns(type=pl.lit("multiple_choice"))
    paths = [tmp_path / f"{round_}.parquet" for round_ in range(3)]
    for path, table in zip(paths, (first, second, first.clear()), strict=True):
        write_table(table, path, KEPT)
    table = drop_reasons(paths, draws=200, seed=0)
    assert table.frame.drop("kept_low", "kept_high").rows() == [
        ("0", "yes_no", 8, 0.375, 1, 2, 1, 1),
        ("1", "multiple_choice", 1, 1.0, 0, 0, 0, 0),
    ]
    (low, high), alone = table.frame.select("kept_low", "kept_high").rows()
    assert 0 <= low < 0.375 < high <= 1 and alone == (None, None)  # one pair
    assert "yes/no" in table.markdown


def steps(folder, pairs, asked, kept, *, reviewed=True):
    """Return the table of a curation with 9 samples and 30 mismatches."""
    footer = MismatchesFooter(samples=9, mismatches=30, left_out=30)
    tables = {"pairs": (pairs, PAIRS), "kept_pairs": (pairs.head(3), PAIRS)}
    tables |= {"questions": (asked, QUESTIONS), "kept": (kept, KEPT)}
    tables["mismatches"] = (frame_of(MISMATCHES), MISMATCHES, footer)
    paths = {name: folder / f"{name}.parquet" for name in tables}
    for name, (table, *type_) in tables.items():
        write_table(table, paths[name], *type_)
    used = [paths["kept_pairs"]] if reviewed else []
    return curation(paths["mismatches"], paths["pairs"], used, [paths["questions"]], [paths["kept"]])


def test_the_steps_are_counted(tmp_path):
    pairs = pairs_of([(f"a{n}", f"b{n}") for n in range(4)]).with_columns(pair=pl.Series(list(SAMPLES)))
    methods = pl.Series(["mined", "mined", "mined", "random"]).cast(PAIRS.columns["method"])
    pairs = pairs.with_columns(method=methods)
    asked = questions(*[slot for slot in SLOTS if slot[0] != "p3"], unusable=("p1", "yes_no", 0))
    slots = asked.select("pair", "type", "q_idx", "ok").iter_rows()
    kept = frame_of(KEPT, [(*slot, ok, None if ok else "no_question") for *slot, ok in slots])
    table = steps(tmp_path, pairs, asked, kept)
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
    without = steps(tmp_path, pairs, asked, kept, reviewed=False)
    assert "pairs, kept" not in without.frame["step"]
    assert without.frame.filter(step="groups, yes/no")["share"].item() == 0.5
    # A round without questions has no share.
    frame = steps(tmp_path, pairs.head(1), asked.clear(), kept.clear()).frame
    found = frame.filter(pl.col("step").str.ends_with("round 0")).select("step", "number", "share").rows()
    assert found == [(f"{name}, round 0", 0, None) for name in ("questions", "usable", "kept")]


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
    frame = agreed(tmp_path, r0=reviewed(rows, answers)).frame
    assert frame.select("agreement", "agreement_low", "agreement_high").row(0) == (0.5, 0.0, 1.0)
    # Of one pair there is no interval.
    second = [number for number, row in enumerate(rows) if row.pair == "p1"]
    chosen = {name: [given[number] for number in second] for name, given in answers.items()}
    one = reviewed([rows[number] for number in second], chosen)
    row = agreed(tmp_path, r0=one).frame.row(0, named=True)
    assert row["agreement"] == 0 and row["kappa"] == -1
    assert [row[f"{name}_{end}"] for name in ("agreement", "kappa") for end in ("low", "high")] == [None] * 4
