"""Outcomes of models that no model gave: random ones with a known skill and loss, in memory and as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.benchmarks.mllm_ic.schemas.outcomes import (
    OUTCOMES,
    REFUSED,
    RIGHT,
    TIED_RIGHT,
    UNPARSED,
    WRONG,
    OutcomesFooter,
    scenarios,
)
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.images import encode_png
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.corruptions.photos import PHOTOS, photo

CATEGORIES = {each.name: name for name, types in MLLM_IC.groups.items() for each in types if each.in_default}
LEVELS = {group: level for level, groups in MLLM_IC.levels.items() for group in groups}
CORRUPTIONS = tuple(CATEGORIES)
SEVERITIES = (1, 2, 3, 4, 5)


def items_of(
    names: Sequence[str] | None = None, questions: int = 6, rotations: int = 1, shared: int = 2
) -> pl.DataFrame:
    """Return CAPABILITIES of ``questions`` circular groups of each capability, sorted by id.

    ``rotations``: circular copies of each, itself among them; ``shared``: groups that show one picture.
    """
    chosen = set(names or [each.name for each in capabilities()])
    rows = [
        (f"{own}-{rotation}", *each, "made", own, rotation, f"sha256://{number}-{group // shared}")
        for number, each in enumerate(capabilities())
        if each.name in chosen
        for group in range(questions)
        for own in [f"made/{number}-{group}"]
        for rotation in range(rotations)
    ]
    return pl.DataFrame(rows, schema=CAPABILITIES.columns, orient="row").sort("id")


def run_of(
    models: Mapping[str, float],
    items: pl.DataFrame | None = None,
    corruptions: Sequence[str] = CORRUPTIONS,
    severities: Sequence[int] = SEVERITIES,
    loss: float = 0.08,
    seed: int = 0,
) -> RunOutcomes:
    """Return random outcomes of models: their accuracy on clean images, less ``loss`` a severity."""
    items = items_of() if items is None else items
    levels = np.array([level for _, level in scenarios(corruptions, severities)])
    codes = {}
    for number, (id_, skill) in enumerate(models.items()):
        noise = np.random.default_rng([seed, number])
        right = noise.random((items.height, len(levels))) < np.clip(skill - loss * levels, 0, 1)
        found = np.where(right, RIGHT, WRONG).astype(np.int8)
        rare = noise.random(found.shape)
        found[right & (rare < 0.02)] = TIED_RIGHT
        found[~right & (rare < 0.02)] = REFUSED
        found[~right & (rare > 0.98)] = UNPARSED
        codes[id_] = found
    return RunOutcomes(codes, items, tuple(corruptions), tuple(severities))


def averages(
    run: RunOutcomes, model: str, name: object = None, level: object = None, category: object = None
) -> dict[str, float]:
    """Return accuracies of a model, by plain means: of each capability, of the mid-level ones, and averages.

    They are over the scenarios of types, severities and categories; a value, several, or None for any.
    """

    def fits(wanted: object, value: object) -> bool:
        return wanted is None or value in (wanted if isinstance(wanted, list | range) else [wanted])

    columns = [
        place
        for place, (type_, severity) in enumerate(run.scenarios)
        if fits(name, type_) and fits(level, severity) and fits(category, CATEGORIES.get(type_))
    ]
    right = np.isin(run.codes[model], (RIGHT, TIED_RIGHT))[:, columns].mean(axis=1)
    names = run.items["capability"].to_numpy()
    found = {each.name: float(right[names == each.name].mean()) for each in run.capabilities}
    of = {mid: [each.name for each in run.capabilities if each.mid == mid] for mid in mids_of(run)}
    mids = {mid: float(np.mean([found[each] for each in own])) for mid, own in of.items()}
    overall = {"overall": float(np.mean([*mids.values()])), "capabilities": float(np.mean([*found.values()]))}
    return found | mids | overall | {"micro": float(right.mean())}


def mids_of(run: RunOutcomes) -> list[str]:
    return list(dict.fromkeys(each.mid for each in run.capabilities))


def write_run(folder: Path, run: RunOutcomes) -> tuple[list[Path], Path]:
    """Write a run as the stages do; return the files of outcomes, and that of the capabilities."""
    capabilities_file = folder / "capabilities.parquet"
    write_table(run.items, capabilities_file, CAPABILITIES)
    paths = []
    for id_, codes in run.codes.items():
        paths.append(folder / f"outcomes/{id_}.parquet")
        columns = {"id": run.items["id"], "outcomes": codes.tolist()}
        made = {"pool": "made", "seed": 0, "corruptions": run.corruptions, "severities": run.severities}
        table = pl.DataFrame(columns, schema_overrides=OUTCOMES.columns)
        write_table(table, paths[-1], OUTCOMES, OutcomesFooter(label=id_, **made))
    return paths, capabilities_file


def write_pool(path: Path, items: pl.DataFrame) -> None:
    """Write POOL of items, each with a photograph and a question; the right option is the second."""
    files = [encode_png(photo(name, 120, 160)) for name in PHOTOS]
    rows = [
        {
            **{"id": id_, "source": "made", "task": "mcq", "hint": None, "category": None},
            **{"question": f"What does question {place} ask about the picture?", "l2_category": None},
            **{"options": ["a red bicycle", "a small dog", "none of these"], "answer": 1},
            "images": [{"bytes": files[place % len(files)], "path": None}],
            "image_keys": [f"{id_}#0"],
        }
        for place, id_ in enumerate(items["id"])
    ]
    write_table(pl.DataFrame(rows, schema=dict(POOL.columns)), path, POOL)
