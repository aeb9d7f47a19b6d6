import numpy as np
import pytest

from benchc.benchmarks.mllm_ic.claims import (
    ALL,
    WORST_CATEGORIES,
    WORST_MIDS,
    Evidence,
    claims,
    evidence_of,
)
from benchc.benchmarks.mllm_ic.published.tables import CATEGORIES, MIDS
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE, UNKNOWN
from benchc.statistics.resampling import Floats
from tests.benchmarks.mllm_ic.made_up import CATEGORIES as CATEGORY_OF
from tests.benchmarks.mllm_ic.made_up import averages, run_of

LEVELS = np.arange(1.0, 6)
DRAWS = 300
FALL, LINE, CATEGORY, MID, EVEN, SENSITIVITY, PROFILE = (claim.text for claim in ALL)


def drawn(sample: Floats, noise: float = 0.002, seed: int = 0) -> Floats:
    """Return a sample [models, severities] and its noisy resamples."""
    noises = np.random.default_rng(seed).normal(0, noise, (DRAWS, *sample.shape))
    return np.concatenate([sample[None], sample + noises])


def as_the_paper_says(noise: float = 0.002, models: int = 3) -> Evidence:
    """Falls are steeper under blur, compression and, for each model, some others; not by capability."""
    base = np.linspace(0.9, 0.8, models)[:, None] - 0.02 * LEVELS
    mids = {
        mid: drawn(base - 0.2 * (mid in WORST_MIDS) - 0.001 * place, noise, place)
        for place, mid in enumerate(MIDS.values())
    }
    categories = {}
    for place, name in enumerate(CATEGORIES.values()):
        steeper = 0.03 * (name in WORST_CATEGORIES) + 0.01 * (place % models == np.arange(models))[:, None]
        categories[name] = drawn(base - 0.001 * place - steeper * (LEVELS - 1), noise, 50 + place)
    return Evidence([1, 2, 3, 4, 5], mids, categories)


def verdicts(evidence: Evidence) -> dict[str, str]:
    return dict(claims(evidence).select("claim", "verdict").rows())


def test_all_claims_hold_where_they_are_true() -> None:
    found = claims(as_the_paper_says())
    assert found["verdict"].to_list() == [HOLDS] * len(ALL)
    row = {row["claim"]: row for row in found.rows(named=True)}
    assert row[FALL]["value"] == pytest.approx(-2)
    assert row[LINE]["value"] == pytest.approx(1)
    assert 0 < row[CATEGORY]["low"] < row[CATEGORY]["value"] < row[CATEGORY]["high"]
    assert row[MID]["value"] == pytest.approx(100 * (0.2 - 0.004 + 0.0), abs=0.4)
    assert row[CATEGORY]["paper"].startswith("+0.6: others from 56.0, these up to 55.4")
    assert row[MID]["paper"].startswith("+11.0: others from 62.0, these up to 51.0")


def test_all_claims_fail_where_the_opposite_is_true() -> None:
    base = np.array([0.5, 0.6, 0.7])[:, None] + 0.05 * (LEVELS - 3) ** 2 / 4 + 0.01 * LEVELS
    own = np.eye(3)[:, :, None] * 0.05 * (LEVELS - 1)
    mids = {
        mid: drawn(base + 0.1 * (mid in WORST_MIDS) - own[place % 3], seed=place)
        for place, mid in enumerate(MIDS.values())
    }
    categories = {
        name: drawn(base + 0.1 * (name in WORST_CATEGORIES), seed=50 + place)
        for place, name in enumerate(CATEGORIES.values())
    }
    found = verdicts(Evidence([1, 2, 3, 4, 5], mids, categories))
    del found[FALL]
    assert {*found.values()} == {FAILS}
    rising = Evidence([1, 2, 3, 4, 5], {"a": drawn(0.5 + 0.01 * LEVELS[None])}, categories)
    assert verdicts(rising)[FALL] == FAILS


def test_noise_leaves_claims_open() -> None:
    """Where all categories are equal, noise orders them, and gives their falls a spread."""
    noise = np.random.default_rng(3)
    base = np.full((3, 5), 0.6) - 0.02 * LEVELS
    categories = {
        name: drawn(base + noise.normal(0, 0.03, base.shape), 0.03, place)
        for place, name in enumerate(CATEGORIES.values())
    }
    mids = {mid: drawn(base, 1e-6, 50 + place) for place, mid in enumerate(MIDS.values())}
    evidence = Evidence([1, 2, 3, 4, 5], mids, categories)
    found = verdicts(evidence)
    assert {name: found[name] for name in (CATEGORY, SENSITIVITY, PROFILE)} == dict.fromkeys(
        (CATEGORY, SENSITIVITY, PROFILE), UNKNOWN
    )
    # The interval of each pair, without correction for their number, would end lower.
    means = {name: 100 * values.mean(axis=(1, 2)) for name, values in categories.items()}
    ends = [
        np.quantile(means[name][1:] - means[worst][1:], 0.975)
        for name in means
        for worst in WORST_CATEGORIES
        if name not in WORST_CATEGORIES
    ]
    assert claims(evidence).filter(claim=CATEGORY)["high"][0] > min(ends) + 0.1
    # A percentile interval of the variances of falls would lie above 0.
    variances = [
        np.stack([100 * (values[:, :, 0] - values[:, :, -1]) for values in parts.values()], axis=-1)
        .var(axis=-1)
        .mean(axis=1)
        for parts in (categories, mids)
    ]
    difference = variances[0] - variances[1]
    low, high = np.quantile(difference[1:], [0.025, 0.975])
    assert low > 5
    row = claims(evidence).filter(claim=SENSITIVITY).select("value", "low", "high").row(0)
    assert row == pytest.approx(2 * difference[0] - np.array([difference[1:].mean(), high, low]))


def test_the_profile_of_a_model_is_what_model_and_part_do_not_add_up_to() -> None:
    def fall(points: Floats) -> Floats:
        """Return accuracies, equal in three resamples, that fall by ``points`` [models] over severities."""
        return np.repeat((0.9 - np.outer(points, [0, 0.4, 1]) / 100)[None], 4, axis=0)

    categories = {"blur": fall(np.array([5.0, 9.0])), "noise": fall(np.array([1.0, 3.0]))}
    mids = {"a": fall(np.array([2.0, 8.0])), "b": fall(np.array([7.0, 5.0]))}
    found = claims(Evidence([1, 2, 3], mids, categories))
    # Of each cell of 2 x 2 a quarter of the double difference: 4 - 2 and 6 + 2 points.
    assert found.filter(claim=PROFILE)["value"][0] == pytest.approx((2 / 4) ** 2 - (8 / 4) ** 2)
    # The variance of two parts is the square of half their difference.
    expected = (4**2 + 6**2) / 8 - (5**2 + 3**2) / 8
    assert found.filter(claim=SENSITIVITY)["value"][0] == pytest.approx(expected)


ONES = drawn(np.ones((2, 2)))


@pytest.mark.parametrize(
    ("evidence", "open_claims"),
    [
        (None, {*(claim.text for claim in ALL)}),
        (as_the_paper_says(models=1), {PROFILE}),
        (Evidence([3], {"a": ONES[..., :1]}, {"blur": ONES[..., :1]}), {*(claim.text for claim in ALL)}),
        (Evidence([1, 2], dict.fromkeys(WORST_MIDS, ONES), as_the_paper_says().categories), {LINE, MID}),
    ],
    ids=["no model", "one model", "one severity", "two capabilities"],
)
def test_what_a_run_has_not_is_not_applicable(evidence: Evidence | None, open_claims: set[str]) -> None:
    table = claims(evidence)
    rows = table.filter(verdict=NOT_APPLICABLE)
    assert {*rows["claim"]} == open_claims
    assert rows["value"].null_count() == rows.height
    assert all(rows["here"].str.contains("needs|no model"))


def test_equal_accuracies_have_no_verdict() -> None:
    flat = drawn(np.full((2, 5), 0.5), 0.0)
    parts = (dict.fromkeys(names.values(), flat) for names in (MIDS, CATEGORIES))
    found = verdicts(Evidence([1, 2, 3, 4, 5], *parts))
    assert (found[LINE], found[EVEN]) == (UNKNOWN, UNKNOWN)
    assert (found[FALL], found[CATEGORY], found[SENSITIVITY]) == (FAILS, FAILS, FAILS)


def test_the_evidence_of_a_run_is_the_mean_over_its_scenarios() -> None:
    run = run_of({"a": 0.9, "b": 0.6})
    evidence = evidence_of(run, ["b"], CATEGORY_OF, 3, 0)
    assert evidence.categories["blur"].shape == evidence.overall.shape == (4, 1, 5)
    under_blur, fourth = averages(run, "b", level=4, category="blur"), averages(run, "b", level=4)
    assert evidence.categories["blur"][0, 0, 3] == pytest.approx(under_blur["overall"])
    assert evidence.mids["logic_reasoning"][0, 0, 3] == pytest.approx(fourth["logic_reasoning"])
