"""The claims of the paper's sections 4.1 to 4.5, each with a criterion, as the paper gives none.

A claim is a number of the run that lies on one side of a bound. It holds if the whole 95 % interval over
resamples of the pictures does, does not hold if none of it does, and cannot be told otherwise.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.published.tables import AVG, published_table2, published_table3
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE, UNKNOWN
from benchc.statistics.resampling import TAILS, Floats, percentile_interval

POINTS = 100
LINEAR, EVEN = 0.95, 0.5
WORST_CATEGORIES = ("blur", "compression")
WORST_MIDS = ("spatial_perception", "knowledge_reasoning")
CLAIMS = {
    "claim": pl.String,
    "criterion": pl.String,  # of the check; ours
    "paper": pl.String,  # what the check finds in the paper's own tables
    "value": pl.Float64,  # the number of the criterion in this run; null where there is none
    "low": pl.Float64,  # its 95 % interval
    "high": pl.Float64,
    "here": pl.String,  # what it is of, or why there is none
    "verdict": pl.String,  # one of the four above, of this run
}


@dataclass(frozen=True)
class Evidence:
    """Mean accuracies of models in [0, 1], by severity; the first row is the sample, others its resamples.

    Attributes:
        severities: ascending
        mids: of each mid-level capability, over all corruptions, float64[1 + draws, models, severities]
        categories: the same, overall, of each category of corruption
    """

    severities: Sequence[int]
    mids: Mapping[str, Floats]
    categories: Mapping[str, Floats]

    @property
    def overall(self) -> Floats:
        """Return overall accuracies over all corruptions, float64[1 + draws, models, severities]."""
        return np.asarray(np.mean([*self.mids.values()], axis=0))


class Number(NamedTuple):
    """The number of a criterion in the sample, with its interval, and what it is of."""

    value: float
    low: float
    high: float
    text: str


class NothingToFindError(Exception):
    """Raised where a run has nothing to check a claim on; the text says why."""


def evidence_of(
    run: RunOutcomes, models: Sequence[str], categories: Mapping[str, str], draws: int, seed: int
) -> Evidence:
    """Return the evidence of some models of a run; ``categories``: the category of each corruption."""
    levels = np.array([severity for _, severity in run.scenarios])
    columns = run.columns(category_of=categories)
    names = dict.fromkeys(categories[name] for name in run.corruptions)
    places = {f"severity_{level}": columns[f"severity_{level}"] for level in run.severities}
    for name in names:
        own = columns[name]
        places |= {f"{name}/{level}": own[levels[own] == level] for level in run.severities}
    drawn = run.draws(models, places, draws, seed)
    number = len(run.severities)
    by_mid = run.by_mid(drawn[:, :, :number])
    average = run.average(drawn[:, :, number:])
    by_category = {
        name: average[:, :, place * number : (place + 1) * number] for place, name in enumerate(names)
    }
    return Evidence(run.severities, by_mid, by_category)


def claims(evidence: Evidence | None) -> pl.DataFrame:
    """Return one row for each claim, columns ``CLAIMS``; without evidence no claim is applicable."""
    rows: list[tuple[str | float | None, ...]] = []
    for claim in ALL:
        try:
            if evidence is None:
                raise NothingToFindError("no model is ranked: none is above chance (table chance)")
            found = claim.check(evidence)
        except NothingToFindError as reason:
            rows.append(
                (claim.text, claim.criterion, claim.paper(), None, None, None, f"{reason}", NOT_APPLICABLE)
            )
            continue
        numbers = [None if np.isnan(each) else round(each, 9) for each in found[:3]]
        rows.append((claim.text, claim.criterion, claim.paper(), *numbers, found.text, claim.verdict(found)))
    return pl.DataFrame(rows, schema=CLAIMS, orient="row")


def _percentile(values: Floats, text: str) -> Number:
    low, high = percentile_interval(values[1:, None])
    return Number(float(values[0]), float(low[0]), float(high[0]), text)


def _basic(values: Floats, text: str) -> Number:
    """Return a number with its basic interval, which corrects the bias of squares (Davison, Hinkley 1997).

    Resampling adds as much to a mean square as the sample's own noise has added.
    """
    low, high = percentile_interval(values[1:, None])
    twice = 2 * float(values[0])
    return Number(twice - float(values[1:].mean()), twice - float(high[0]), twice - float(low[0]), text)


def _of_severities(evidence: Evidence, least: int) -> Floats:
    """Return the severities. Raises NothingToFindError where there are fewer than ``least``."""
    if len(evidence.severities) < least:
        raise NothingToFindError(f"needs {least} severities; the run has {len(evidence.severities)}")
    return np.array(evidence.severities, np.float64)


def _curve(evidence: Evidence) -> tuple[Floats, str]:
    curve = POINTS * evidence.overall.mean(axis=1)
    return curve, "mean accuracies " + " ".join(f"{value:.1f}" for value in curve[0])


def _slope(evidence: Evidence) -> Number:
    levels = _of_severities(evidence, 2)
    curve, text = _curve(evidence)
    centred = levels - levels.mean()
    return _percentile(curve @ centred / (centred**2).sum(), text)


def _linearity(evidence: Evidence) -> Number:
    levels = _of_severities(evidence, 3)
    curve, text = _curve(evidence)
    centred = levels - levels.mean()
    squares = ((curve - curve.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    line = (curve @ centred) ** 2 / (centred**2).sum()
    return _percentile(np.divide(line, squares, out=np.full(len(line), np.nan), where=squares > 1e-12), text)


def _gap(parts: Mapping[str, Floats], worst: Sequence[str], text: str, label: Callable[[str], str]) -> Number:
    """Return how far the lowest other part is above the higher of two, the least difference of their pairs.

    An interval of the least of noisy differences would be too low. Its ends are the least ends of the pairs':
    of the lower ones as they are, since one pair has the least difference (intersection-union, Berger 1982);
    of the upper ones after Bonferroni's correction, since any pair may seem to.
    """
    means = {name: POINTS * values.mean(axis=(1, 2)) for name, values in parts.items()}
    if not {*worst} < {*means}:
        raise NothingToFindError(f"needs {' and '.join(map(label, worst))}, and another")
    others = [values for name, values in means.items() if name not in worst]
    pairs = np.stack([other - means[name] for other in others for name in worst], axis=1)
    low, _ = percentile_interval(pairs[1:])
    tail = TAILS[0] / pairs.shape[1]
    _, high = percentile_interval(pairs[1:], tails=np.array([tail, 1 - tail]))
    order = sorted(means, key=lambda name: float(means[name][0]))
    lowest = ", ".join(f"{label(name)} {means[name][0]:.1f}" for name in order[:3])
    return Number(float(pairs[0].min()), float(low.min()), float(high.min()), f"lowest {text}: {lowest}")


def _worst_categories(evidence: Evidence) -> Number:
    return _gap(evidence.categories, WORST_CATEGORIES, "categories", corruption_label)


def _worst_mids(evidence: Evidence) -> Number:
    return _gap(evidence.mids, WORST_MIDS, "capabilities", label_of)


def _stacked(parts: Mapping[str, Floats], name: str) -> Floats:
    """Return float64[1 + draws, models, severities, parts] in points."""
    if len(parts) < 2:
        raise NothingToFindError(f"needs two {name}; the run has {len(parts)}")
    return POINTS * np.stack([*parts.values()], axis=-1)


def _evenness(evidence: Evidence) -> Number:
    levels = _of_severities(evidence, 2)
    spread = _stacked(evidence.categories, "categories").std(axis=-1).mean(axis=1)
    first, last = spread[:, 0], spread[:, -1]
    ratio = np.divide(first, last, out=np.full(len(first), np.nan), where=last > 1e-9)
    ends = f"at severities {levels[0]:g} and {levels[-1]:g}"
    return _percentile(
        ratio, f"standard deviation over categories {first[0]:.2f} and {last[0]:.2f} points {ends}"
    )


def _falls(evidence: Evidence) -> tuple[Floats, Floats]:
    """Return what each model loses from the first to the last severity, float64[1 + draws, models, parts]."""
    _of_severities(evidence, 2)
    both = _stacked(evidence.categories, "categories"), _stacked(evidence.mids, "mid-level capabilities")
    by_category, by_mid = (values[:, :, 0] - values[:, :, -1] for values in both)
    return by_category, by_mid


def _difference(squares: Sequence[Floats], what: str) -> Number:
    """Return by how much the first mean square is larger, with the root of each without noise, in points."""
    roots = [np.sqrt(max(0.0, 2 * float(each[0]) - float(each[1:].mean()))) for each in squares]
    return _basic(
        squares[0] - squares[1],
        f"{what}: {roots[0]:.2f} by category, {roots[1]:.2f} by capability, in points",
    )


def _sensitivity(evidence: Evidence) -> Number:
    return _difference(
        [each.var(axis=-1).mean(axis=1) for each in _falls(evidence)], "standard deviation of falls"
    )


def _profiles(evidence: Evidence) -> Number:
    if evidence.overall.shape[1] < 2:
        raise NothingToFindError("needs two ranked models")
    squares = []
    for falls in _falls(evidence):
        own = falls - falls.mean(axis=1, keepdims=True) - falls.mean(axis=2, keepdims=True)
        squares.append(((own + falls.mean(axis=(1, 2), keepdims=True)) ** 2).mean(axis=(1, 2)))
    return _difference(squares, "deviation of falls from the sum of model and part")


def _paper_gap(table: pl.DataFrame, worst: Sequence[str]) -> str:
    means = table.filter(pl.col("model") != AVG).drop("model", "overall").mean().row(0, named=True)
    lowest = POINTS * max(means[name] for name in worst)
    other = POINTS * min(value for name, value in means.items() if name not in worst)
    return f"{other - lowest:+.1f}: others from {other:.1f}, these up to {lowest:.1f}"


@dataclass(frozen=True)
class Claim:
    """A claim, its criterion, and the number that lies above or below a bound where it holds."""

    text: str
    criterion: str
    check: Callable[[Evidence], Number]
    above: float | None = None
    below: float | None = None
    paper: Callable[[], str] = lambda: "no numbers"

    def verdict(self, found: Number) -> str:
        """Return whether the whole interval is on the side of the bound, none of it, or a part."""
        if self.above is not None:
            is_in, is_out = found.low > self.above, found.high <= self.above
        else:
            is_in, is_out = found.high < (self.below or 0), found.low >= (self.below or 0)
        return HOLDS if is_in else FAILS if is_out else UNKNOWN


ALL: tuple[Claim, ...] = (
    Claim(
        "Accuracy falls with severity",
        "the slope of the mean accuracy over severities is below 0, in points",
        _slope,
        below=0.0,
    ),
    Claim(
        "The fall is linear",
        f"a line has more than {LINEAR:g} of the variance of the mean accuracies over severities",
        _linearity,
        above=LINEAR,
    ),
    Claim(
        "Blur and compression are worst",
        "the lowest mean accuracy of other categories minus the higher of these two, in points, is above 0",
        _worst_categories,
        above=0.0,
        paper=lambda: _paper_gap(published_table3(), WORST_CATEGORIES),
    ),
    Claim(
        "Spatial perception and knowledge reasoning are worst",
        "the same of mid-level capabilities",
        _worst_mids,
        above=0.0,
        paper=lambda: _paper_gap(published_table2(), WORST_MIDS),
    ),
    Claim(
        "At severity 1, accuracy is even over categories",
        f"its standard deviation over categories, mean over models, is less than {EVEN:g} times that at the "
        "last severity",
        _evenness,
        below=EVEN,
    ),
    Claim(
        "Sensitivity to severity differs by corruption, not by capability",
        "the variance over categories of the fall from the first to the last severity, mean over models, is "
        "larger than that over mid-level capabilities, in squared points",
        _sensitivity,
        above=0.0,
    ),
    Claim(
        "Models differ in sensitivity by corruption, not by capability",
        "the mean square of what falls are beyond a sum of model and category is larger than of model and "
        "mid-level capability, in squared points",
        _profiles,
        above=0.0,
    ),
)
