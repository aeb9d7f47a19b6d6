"""Claims about which corruptions degrade most (sections 6.3 and 9.4), on unweighted mean RAS over models."""

import math
from collections.abc import Iterable
from itertools import pairwise

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import FIGURE, Claim, Finding, judged, not_applicable
from benchc.benchmarks.bench_c.claims.numbers import listed, mean, means_by, signed
from benchc.pluralize import pluralize

BLUR, NOISE, PHOTOMETRIC, WEATHER = "blur", "noise", "photometric", "weather"
WARP = "elastic_transform"
HARSH_NOISE = ("impulse_noise", "shot_noise")
NOISE_GROWS_ABOVE = 3  # severity
MILD = ("brightness", "fog", "frost", "snow")
JPEG = "jpeg_compression"


def _structural(cells: pl.DataFrame) -> Finding:
    present = set(cells["group"])
    if BLUR not in present or WARP not in set(cells["corruption"]):
        return not_applicable("the run lacks blur or elastic transform")
    structural = (pl.col("group") == BLUR) | (pl.col("corruption") == WARP)
    ours = _mean(cells.filter(structural)["ras"])
    others = means_by(cells.filter(~structural), "group", "ras")
    if not others:
        return not_applicable("the run has no other corruptions")
    return judged(ours < min(others.values()), f"structural {signed(ours)}, {listed(others)}")


def _noise(cells: pl.DataFrame) -> Finding:
    high = pl.col("severity") > NOISE_GROWS_ABOVE
    noise = cells.filter(pl.col("corruption").is_in(HARSH_NOISE))
    strong, weak, all_ = noise.filter(high), noise.filter(~high), cells.filter(high)
    if noise["corruption"].n_unique() < len(HARSH_NOISE) or strong.is_empty() or weak.is_empty():
        return not_applicable(
            f"the run lacks impulse or shot noise, or severities around {NOISE_GROWS_ABOVE}"
        )
    above, below, every = (_mean(part["ras"]) for part in (strong, weak, all_))
    return judged(
        above < below and above < every,
        f"severities above {NOISE_GROWS_ABOVE}: {signed(above)}, up to {NOISE_GROWS_ABOVE}: {signed(below)}; "
        f"all corruptions at severities above {NOISE_GROWS_ABOVE}: {signed(every)}",
    )


def _mild_groups(cells: pl.DataFrame) -> Finding:
    means = means_by(cells, "group", "ras")
    rest = cells.filter(~pl.col("group").is_in([PHOTOMETRIC, WEATHER]))["ras"]
    if not {PHOTOMETRIC, WEATHER} <= set(means) or rest.is_empty():
        return not_applicable("the run lacks photometric or weather corruptions, or has no others")
    others = _mean(rest)
    mild = {group: means[group] for group in (PHOTOMETRIC, WEATHER)}
    return judged(min(mild.values()) > others, f"{listed(mild)}, others {signed(others)}")


def _groups_fall(cells: pl.DataFrame) -> Finding:
    steps = cells["severity"].n_unique() - 1
    if steps < 1:
        return not_applicable("there is one severity")
    rises = []
    groups = list(dict.fromkeys(cells["group"]))
    for group in groups:
        rows = cells.filter(pl.col("group") == group).sort("severity", maintain_order=True)
        means = means_by(rows, "severity", "ras")
        rises += [f"{group} {a} to {b}" for (a, x), (b, y) in pairwise(means.items()) if y >= x]
    total = steps * len(groups)
    exceptions = f"; not {', '.join(rises)}" if rises else ""
    all_steps = f"{pluralize(total, 'step')} of {pluralize(len(groups), 'group')}"
    return judged(not rises, f"falls at {total - len(rises)} of {all_steps}{exceptions}")


def _less_stable(cells: pl.DataFrame) -> Finding:
    severities = cells["severity"].unique().sort().to_list()
    low, high = severities[0], severities[-1]
    if low == high or cells["label"].n_unique() < 2:
        return not_applicable("two severities and two models are needed")
    spreads = []
    for severity in (low, high):
        groups = cells.filter(pl.col("severity") == severity).group_by("corruption", maintain_order=True)
        spreads.append(_mean(_deviation(rows["ras"].to_list()) for _, rows in groups))
    return judged(
        spreads[1] > spreads[0], f"{spreads[0]:.3f} at severity {low}, {spreads[1]:.3f} at severity {high}"
    )


def _worst_group(cells: pl.DataFrame) -> Finding:
    means = means_by(cells, "group", "ras")
    if BLUR not in means or len(means) < 2:
        return not_applicable("the run lacks blur, or has no other group")
    if len(set(means.values())) < 2:
        return not_applicable("all groups have the same mean RAS")
    return judged(means[BLUR] == min(means.values()), listed(means))


def _mild(cells: pl.DataFrame, names: tuple[str, ...]) -> Finding:
    rest = cells.filter(~pl.col("corruption").is_in(names))["ras"]
    means = means_by(cells.filter(pl.col("corruption").is_in(names)), "corruption", "ras")
    missing = [name.replace("_", " ") for name in names if name not in means]
    if missing or rest.is_empty():
        return not_applicable(f"the run lacks {', '.join(missing) or 'other corruptions'}")
    others = _mean(rest)
    return judged(min(means.values()) > others, f"{listed(means)}, others {signed(others)}")


def _deviation(values: list[float]) -> float:
    centre = _mean(values)
    return math.sqrt(_mean((value - centre) ** 2 for value in values))


def _mean(values: Iterable[float]) -> float:
    found = mean(values)
    if found is None:
        raise ValueError("there are no values to average")
    return found


GROUPS = (
    Claim(
        "6.3",
        "Structural distortions, blur and elastic transform, degrade most",
        "their mean RAS is below that of photometric, noise, weather and other digital corruptions",
        FIGURE,
        lambda run: _structural(run.cells),
    ),
    Claim(
        "6.3, 9.4",
        "Noise (impulse, shot) degrades strongly at high severity",
        f"their mean RAS at severities above {NOISE_GROWS_ABOVE} is below their own at the others, and "
        "below that of all corruptions at these severities",
        FIGURE,
        lambda run: _noise(run.cells),
    ),
    Claim(
        "6.3",
        "Photometric and weather corruptions are comparatively mild",
        "the mean RAS of each of the two groups is above that of all others together",
        FIGURE,
        lambda run: _mild_groups(run.cells),
    ),
    Claim(
        "9.4",
        "RAS falls with severity in every group",
        "every group's mean RAS falls at every step of severity",
        FIGURE,
        lambda run: _groups_fall(run.cells),
    ),
    Claim(
        "9.4",
        "Stronger corruption makes RAS less stable",
        "the standard deviation of RAS over models, averaged over corruptions, is larger at the highest "
        "severity than at the lowest",
        FIGURE,
        lambda run: _less_stable(run.cells),
    ),
    Claim(
        "9.4",
        "Of the groups, blur degrades most",
        "no group has a lower mean RAS",
        FIGURE,
        lambda run: _worst_group(run.cells),
    ),
    Claim(
        "9.4",
        "JPEG compression is mild",
        "its mean RAS is above that of all other corruptions together",
        FIGURE,
        lambda run: _mild(run.cells, (JPEG,)),
    ),
    Claim(
        "9.4",
        "Brightness, fog, frost and snow have minor effects",
        "the mean RAS of each is above that of all other corruptions together",
        FIGURE,
        lambda run: _mild(run.cells, MILD),
    ),
)
