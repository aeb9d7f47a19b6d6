"""The cube and its marginals: accuracies by any level of corruption, severity and capability."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from benchc.benchmarks.mllm_ic.metrics.averages import mid_weights
from benchc.benchmarks.mllm_ic.metrics.draws import Integers
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.statistics.resampling import Floats, percentile_interval

ALL = "all"
CHUNK = 32  # columns whose resamples are averaged at once: 20 MB each at the paper's size


class Group(NamedTuple):
    """Part of an axis: its kind, such as `category`, its name, and its members."""

    kind: str
    name: str
    members: Integers


def corruption_groups(
    run: RunOutcomes, categories: Mapping[str, str], levels: Mapping[str, str]
) -> list[Group]:
    """Return each corruption, category and level, and all; members are indices into the run's corruptions."""
    names = run.corruptions
    found = [Group("corruption", name, np.array([number])) for number, name in enumerate(names)]
    for kind, of in (("category", categories), ("level", {n: levels[categories[n]] for n in names})):
        found += [
            Group(kind, own, np.array([number for number, name in enumerate(names) if of[name] == own]))
            for own in dict.fromkeys(of[name] for name in names)
        ]
    return [*found, Group(ALL, ALL, np.arange(len(names)))]


def capability_groups(run: RunOutcomes) -> list[tuple[Group, Floats]]:
    """Return each capability, mid-level and high-level one, and all, with the weights of capabilities.

    A mid-level one is the mean of its capabilities, a high-level one and all are means of mid-level ones.
    """
    own = run.capabilities
    each = np.eye(len(own))
    found = [(Group("capability", one.name, np.array([n])), each[n]) for n, one in enumerate(own)]
    mids = mid_weights(own)
    found += [(Group("mid", mid, np.flatnonzero(weights)), weights) for mid, weights in mids.items()]
    high_of = {one.mid: one.high for one in own}
    groups = {high: [mid for mid in mids if high_of[mid] == high] for high in dict.fromkeys(high_of.values())}
    for kind, name, members in [*(("high", high, of) for high, of in groups.items()), (ALL, ALL, [*mids])]:
        weights = np.mean([mids[mid] for mid in members], axis=0)
        found.append((Group(kind, name, np.flatnonzero(weights)), weights))
    return found


def columns_of(run: RunOutcomes, corruptions: list[Group]) -> dict[str, Integers]:
    """Return the scenarios of each column: clean, then each group of corruptions at each severity and all.

    Their names are `clean`, and numbers of group and severity.
    """
    many = len(run.severities)
    found = {"clean": np.array([0])}
    for number, group in enumerate(corruptions):
        first = 1 + group.members[:, None] * many + np.arange(many)
        found |= {f"{number} {place}": first[:, place] for place in range(many)}
        found[f"{number} {ALL}"] = first.ravel()
    return found


def marginals(
    run: RunOutcomes,
    model: str,
    columns: Mapping[str, Integers],
    weights: Floats,
    draws: int,
    seed: int,
) -> Floats:
    """Return the estimates of a model, float64[columns, groups, 5], accuracies in [0, 1].

    They are the accuracy, the ends of its interval, and those of its difference to clean pictures, over the
    same resamples.

    Args:
        run: the outcomes.
        model: its id.
        columns: the scenarios of each, the first clean.
        weights: float64[groups, capabilities].
        draws: number of resamples of the pictures.
        seed: of the resamples.
    """
    drawn = run.draws([model], columns, draws, seed)[:, 0]
    clean = drawn[:, :1] @ weights.T
    found = np.empty((len(columns), len(weights), 5))
    for first in range(0, len(columns), CHUNK):
        means = drawn[:, first : first + CHUNK] @ weights.T
        place, flat = slice(first, first + CHUNK), (draws, -1)
        found[place, :, 0] = means[0]
        for begin, values in ((1, means[1:]), (3, (means - clean)[1:])):
            ends = percentile_interval(values.reshape(flat))
            found[place, :, begin : begin + 2] = np.stack(ends, axis=-1).reshape(*means.shape[1:], 2)
    return found
