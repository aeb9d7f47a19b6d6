"""Claims: on the paper's own tables, on runs with planted effects, and on degenerate runs."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.claims.claim import Claim
from benchc.benchmarks.bench_c.claims.evidence import Evidence, evidence, published_evidence
from benchc.benchmarks.bench_c.claims.gains import GAINS
from benchc.benchmarks.bench_c.claims.ranking import RANKING
from benchc.benchmarks.bench_c.claims.selection import SELECTION
from benchc.benchmarks.bench_c.claims.structure import PLANE, SENSITIVITY
from benchc.benchmarks.bench_c.claims.table import claims
from benchc.benchmarks.bench_c.published.tables import published_table1, published_table2
from benchc.errors import InputError
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE
from benchc.schemas.models import Model
from tests.benchmarks.bench_c.figures.figure_tables import score, scores, selection

GROUPS = {
    **{"brightness": "photometric", "defocus_blur": "blur"},
    **dict.fromkeys(["impulse_noise", "shot_noise"], "noise"),
    **dict.fromkeys(["fog", "frost", "snow", "spatter"], "weather"),
    **dict.fromkeys(["jpeg_compression", "elastic_transform"], "digital"),
}
# Mean RAS per unit of severity, as the paper describes them.
STRENGTH = dict.fromkeys(GROUPS, 0.02) | {"jpeg_compression": 0.01}
STRENGTH |= dict.fromkeys(["defocus_blur", "elastic_transform"], 0.08)
STRENGTH |= dict.fromkeys(["impulse_noise", "shot_noise"], 0.04)
MODELS = {"Idefics3-Llama3": 1.3, "Falcon2-VLM": 0.7, "Third": 1.0}


def planted(sign: float = 1.0, severities: tuple[int, ...] = (1, 3, 5)) -> Evidence:
    """Three models whose items lose RAS as the paper describes, or gain it where ``sign`` is -1."""
    generator = np.random.default_rng(0)

    def row(scale: float, corruption: str, severity: int, item: int) -> dict[str, object]:
        wrong, shift = item > 3, severity == 5 and item == 0
        loss = STRENGTH[corruption] * severity * scale * (-0.1 if wrong else 1.0)
        ras = generator.normal(0, 1e-4) - sign * loss
        transition = "WW" if wrong else "RW" if shift else "RR"
        return score(f"s/{item}", -0.1, -ras, ras, transition, corruption=corruption, severity=severity)

    cells = [*product(STRENGTH, severities, range(6))]
    return evidence_of(
        {label: scores([row(scale, *cell) for cell in cells]) for label, scale in MODELS.items()}
    )


def evidence_of(
    tables: dict[str, pl.DataFrame], example: tuple[str, str, int] = ("Third", "snow", 5)
) -> Evidence:
    ids = sorted(set(next(iter(tables.values()))["id"]))
    return evidence(
        [Model(label, label, None, None) for label in tables],
        list(tables.values()),
        selection([0.5] * len(ids), [True] * len(ids), ids),
        pl.DataFrame({"id": ids, "source": "s", "task": "t"}),
        groups=GROUPS,
        example=example,
    )


def verdicts_of(some: Sequence[Claim], run: Evidence) -> list[str]:
    return [claim.check(run).verdict for claim in some]


def verdicts(table: pl.DataFrame) -> dict[str, str]:
    return dict(table.select("claim", "verdict").rows())


PLANTED = {
    "The prediction structure of every model degrades as severity grows",
    "Structural distortions, blur and elastic transform, degrade most",
    "Noise (impulse, shot) degrades strongly at high severity",
    "Photometric and weather corruptions are comparatively mild",
    "RAS falls with severity in every group",
    "Of the groups, blur degrades most",
    "JPEG compression is mild",
    "Brightness, fog, frost and snow have minor effects",
    "On items that were right, most models have negative RAS under corruption",
    "Blur hurts destructive robustness most",
    "Falcon2-VLM has comparatively strong destructive robustness",
    "Idefics3-Llama3 has comparatively weak destructive robustness",
    "On items that were wrong, most models have RAS near zero or negative",
    "Some models have slightly positive corrective RAS",
    "Idefics3-Llama3 has positive corrective RAS under every corruption",
}
# Wrong items move by a tenth, so that their RAS is near zero with either sign.
SIGNLESS = {"On items that were wrong, most models have RAS near zero or negative"}


def test_claims_about_corruptions_hold_where_planted_and_fail_with_the_opposite_sign():
    found, opposite = verdicts(claims(planted())), verdicts(claims(planted(-1.0)))
    assert set(found) >= PLANTED
    assert {claim: found[claim] for claim in PLANTED} == dict.fromkeys(PLANTED, HOLDS)
    assert {claim for claim in PLANTED if opposite[claim] == FAILS} == PLANTED - SIGNLESS


def test_the_papers_own_tables_fulfil_its_claims():
    paper = published_evidence()
    assert verdicts_of(RANKING, paper) == [HOLDS] * 5
    assert RANKING[0].check(paper).numbers == "5 of 78 pairs in opposite order"
    shown = claims(replace(planted(), table1=published_table1())).filter(
        pl.col("claim").is_in([claim.text for claim in RANKING])
    )
    assert shown.height == 5 and shown["here"].equals(shown["paper"])
    example = {"label": "Idefics3-Llama3", "corruption": "spatter", "severity": 1}
    cells = pl.DataFrame([{**example, "acc_clean": 0.561, "delta_acc": 0.007}])
    cells = pl.concat([cells, paper.cells.select("corruption")], how="diagonal")
    gains = [claim.check(replace(paper, cells=cells)) for claim in GAINS]
    assert {finding.verdict for finding in gains} == {HOLDS}
    assert [finding.numbers for finding in gains] == [
        "28 of 247 cases",
        "0.561 to 0.568",
        "20 of 28 gains",
        "28 of 28 gains; highest RAS -0.001",
        "11 degraded, 9 overconfident, 3 hesitant, 5 stable",
        "gains: spatter 5, next brightness 4",
    ]


def test_the_order_of_models_decides_the_claims_about_it():
    # With reversed signs, the most accurate model is the most robust one.
    paper = published_table1()
    reversed_ = paper.with_columns(-pl.col("ras", "delta_acc"), rank_ras=14 - pl.col("rank_ras"))

    def found(table1: pl.DataFrame) -> list[str]:
        return verdicts_of(RANKING, replace(published_evidence(), table1=table1))

    assert found(reversed_) == [HOLDS, FAILS, FAILS, FAILS, FAILS]
    same = paper.with_columns(rank_ras="rank_delta_acc")
    assert found(same)[0] == FAILS
    assert found(paper.head(1)) == found(paper.clear()) == [NOT_APPLICABLE] * 5


def test_claims_about_the_ends_are_not_decided_by_a_tie():
    rows = [("A", 0.6, -0.1), ("B", 0.6, -0.2), ("C", 0.5, -0.05), ("D", 0.4, -0.3), ("E", 0.4, -0.01)]
    paper = published_table1()

    def found(labels: str) -> list[str]:
        own = [row for label in labels for row in rows if row[0] == label]
        frame = pl.DataFrame(own, schema=["label", "acc_clean", "ras"], orient="row")
        ranks = frame.select("label", "acc_clean", "ras", delta_acc="ras", rank_ras=pl.col("ras").rank())
        table = ranks.with_columns(rank_delta_acc="rank_ras").select(
            set(paper.columns) & {*ranks.columns, "rank_delta_acc"}
        )
        return verdicts_of(RANKING, replace(published_evidence(), table1=table))[3:]

    assert found("ABC") == found("BAC") == [NOT_APPLICABLE] * 2
    assert found("ADE") == found("AED") == [FAILS, NOT_APPLICABLE]
    assert found("BC") == [HOLDS] * 2


def plane(rows: list[tuple[float, float, float, str, bool]]) -> list[str]:
    predictions = [score(f"s/{n}", *values, shifted=shifted) for n, (*values, shifted) in enumerate(rows)]
    return verdicts_of(PLANE, evidence_of({"Third": scores(predictions)}))


UNCHANGED = [(0.1, 0.1, -0.1, "RR", False), (-0.1, 0.1, -0.2, "RR", False), (-0.1, -0.1, 0.2, "WW", False)]
CHANGED = [(0.1, 0.2, -0.3, "RW", True), (-0.1, 0.2, -0.5, "WW", True), (0.1, -0.2, 0.1, "WR", True)]


def test_the_plane_of_figure_4():
    assert plane(UNCHANGED + CHANGED) == [HOLDS, HOLDS, HOLDS, HOLDS, NOT_APPLICABLE]
    # Overconfident items lose least, and unchanged predictions only lose.
    losses = [-0.4 if c < 0 else -0.3 if s > 0 else -0.01 for s, c, *_ in UNCHANGED + CHANGED]
    other = [(s, c, ras, *rest) for ras, (s, c, _, *rest) in zip(losses, UNCHANGED + CHANGED, strict=True)]
    assert plane(other) == [FAILS, FAILS, FAILS, FAILS, NOT_APPLICABLE]
    assert plane(UNCHANGED[:1]) == [NOT_APPLICABLE] * 5


def test_swapping_the_two_metrics_reverses_the_claims_about_sensitivity():
    paper = published_table2()
    cases = paper.select("label", "mean_abs_z_ras", "mean_abs_z_delta_acc", steps=pl.lit(4))
    fine = replace(planted(severities=(1,)), table2=paper, sensitivity=cases)

    def found(tables: Evidence) -> list[str]:
        return verdicts_of(SENSITIVITY, tables)

    assert found(fine) == [HOLDS] * 5 + [NOT_APPLICABLE]
    swapped = {"mean_abs_z_ras": "mean_abs_z_delta_acc", "mean_abs_z_delta_acc": "mean_abs_z_ras"}
    table2 = paper.rename(swapped).with_columns(t=pl.lit(-3.0), p=1 - pl.col("p"))
    other = replace(fine, table2=table2, sensitivity=cases.rename(swapped))
    assert found(other) == [FAILS] * 5 + [NOT_APPLICABLE]
    # One model of 13 is enough.
    one = pl.when(pl.col("label") == "Molmo").then(0.005).otherwise("p").alias("p")
    expected = [HOLDS] * 3 + [FAILS, HOLDS, NOT_APPLICABLE]
    assert found(replace(fine, table2=paper.with_columns(one))) == expected
    assert found(planted(severities=(1,))) == [NOT_APPLICABLE] * 6


def items(counts: dict[tuple[str, str], tuple[int, int]], low: float) -> pl.DataFrame:
    """Candidates and selected items per (source, task); kappa is ``low`` for what is excluded."""
    rows = [
        (f"{source}/{task}{n}", source, task, 0.4 + 0.01 * (n % 3) if n < kept else low, n < kept)
        for (source, task), (candidates, kept) in counts.items()
        for n in range(candidates)
    ]
    return pl.DataFrame(rows, schema=["id", "source", "task", "kappa", "selected"], orient="row")


def test_claims_about_the_selection():
    tasks = ["Web", "Image Retrieval", "Map", "chart", "science & technology"]
    good = {("seedbench2-plus", task): (20, 7) for task in tasks}
    good |= {("mmt-bench-val", "keypoint_detection"): (60, 1)}
    bad = {("mmstar", task): (20, 2) for task in tasks} | {("mmstar", "other"): (60, 58)}
    bad |= {("mmstar", "none"): (1, 0), ("seedbench2-plus", "keypoint_detection"): (9, 1)}

    empty = planted(severities=(1,))

    def found(table: pl.DataFrame) -> list[str]:
        return verdicts_of(SELECTION, replace(empty, items=table))

    assert found(items(good, 0.01)) == [HOLDS] * 7
    numbers = [claim.check(replace(empty, items=items(good, 0.01))).numbers for claim in SELECTION]
    assert numbers == [
        "36 of 160 (22.5 %)",
        "most selected: chart 7, image retrieval 7, map 7, science & technology 7, web 7",
        "SEEDBench2+ 97.2 % of the items; most: seedbench2-plus, 97.2 %",
        "77.5 % in the lowest tenth, at most 22.5 % in another; skewness +1.32",
        "median 0.010 of the candidates, 0.410 of the selected; skewness +1.32, +0.32",
        "6 of 6 task types",
        "1.7 % of its candidates are selected, 22.5 % of all",
    ]
    largest = SELECTION[2].check(replace(empty, items=items(bad, 0.9))).numbers
    assert largest == "SEEDBench2+ 1.4 % of the items; most: mmstar, 98.6 %"
    assert found(items(bad, 0.9)) == [FAILS] * 6 + [HOLDS]
    assert found(items({("s", "t"): (4, 4)}, 0.0))[1:3] == [NOT_APPLICABLE] * 2
    for kept, verdict in ((2, FAILS), (3, HOLDS), (6, HOLDS), (7, FAILS)):
        assert found(items({("s", "t"): (20, kept)}, 0.0))[0] == verdict
    # As many of another task as of each of the five, and none of one of these if there is no other.
    assert found(items({("s", task): (2, 1) for task in [*tasks, "other"]}, 0.0))[1] == HOLDS
    assert found(items({("s", task): (2, int(task != "Map")) for task in tasks}, 0.0))[1] == HOLDS
    # Of keypoint detection as large a share as of all, and a larger one.
    for kept in (1, 2):
        table = items({("s", "keypoint detection"): (2, kept), ("s", "t"): (4, 2)}, 0.0)
        assert found(table)[6] == FAILS

    def with_kappa(kappa: list[float], kept: int) -> list[str]:
        return found(items({("s", "t"): (len(kappa), kept)}, 0.0).with_columns(kappa=pl.Series(kappa)))

    # The lowest tenth has most, but the tail is that of low values; the tail is right, but another has most.
    for kappa in (
        [0.05] * 3 + [0.65, 0.75, 0.85, 0.95] * 2,
        [0.05] + [0.15] * 9 + [0.95],
        [0.05, 0.15, 0.25, 0.35, 0.45] * 2 + [1.0] * 3,
    ):
        assert with_kappa(kappa, 2)[3] == FAILS
    assert with_kappa([0.05] * 3 + [0.15, 0.25, 0.35, 0.85, 0.95] * 2, 2)[3] == HOLDS
    # The same median, and a higher one of values that are more skewed.
    assert with_kappa([0.2, 0.3, 0.4, 0.3, 0.9], 3)[4] == FAILS
    assert with_kappa([0.4, 0.5, 0.5, 0.9, 0.1, 0.2, 0.3], 4)[4] == FAILS


def test_the_order_of_rows_changes_nothing():
    frames = {}
    for label in MODELS:
        generator = np.random.default_rng(len(label))
        rows = [
            score(id_, *generator.normal(0, 0.2, 3), kind, corruption=name, severity=level)
            for id_, kind in (("s/0", "RW"), ("s/1", "RR"), ("s/2", "RR"), ("s/3", "WR"), ("s/4", "WW"))
            for name, level in product(GROUPS, (1, 5))
        ]
        frames[label] = scores(rows)
    shuffled = {label: rows.sample(fraction=1, shuffle=True, seed=3) for label, rows in frames.items()}
    whole = evidence_of(frames)
    assert claims(evidence_of(shuffled)).equals(claims(whole))
    assert whole.cells.height == len(MODELS) * len(GROUPS) * 2


POOL = pl.DataFrame({"id": [f"s/{item}" for item in range(3)], "source": "s", "task": "t"})
RAS_FALLS = scores(
    [score(id_, 0.1, 0.1, -0.1, "RR", corruption=name, severity=1) for id_ in POOL["id"] for name in GROUPS]
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": {}}, "brightness.*whose group is not given"),
        ({"pool": POOL.head(2)}, "1 item in the pool or in the selection only, first s/2"),
        ({"targets": [Model("A", "A")] * 2, "scores": [RAS_FALLS] * 2}, "a target occurs twice"),
    ],
)
def test_inconsistent_inputs_are_refused(change, message):
    given = {
        "targets": [Model("A", "A")],
        "scores": [RAS_FALLS],
        "groups": GROUPS,
        "example": ("A", "fog", 1),
    }
    given |= {"selected": selection([0.5] * 3, [True] * 3), "pool": POOL}
    assert evidence(**given).cells["ras"][0] == pytest.approx(-0.1)
    with pytest.raises(InputError, match=message):
        evidence(**given | change)
