"""Groups, and models that answer them in known ways, for tests."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.group_items import GroupItems, group_items
from benchc.benchmarks.naturalbench.metrics.readings import probabilities, read_groups
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.scores import SCORES, ScoresFooter
from benchc.schemas.models import Model, Models, models_text
from benchc.schemas.parquet import write_table
from tests.benchmarks.made import frame_of

OPTIONS = {"yes_no": ["Yes", "No"], "multiple_choice": ["a dog", "a cat"]}
PLACES = [*product((0, 1), repeat=2)]
CLEAN = [("clean", 0)]


def group_rows(
    count: int,
    *,
    subsets: Sequence[str] = ("Flickr30K",),
    types: Sequence[str] = ("yes_no",),
    methods: Sequence[str] = ("mined",),
    languages: Sequence[str] = ("English",),
) -> pl.DataFrame:
    """Return GROUPS of ``count`` groups, whose subsets, types, methods and languages take turns."""
    rows = []
    for n, (q, i) in product(range(count), PLACES):
        kind, of_group = types[n // len(subsets) % len(types)], (languages, methods)
        facts = (subsets[n % len(subsets)], kind, *(values[n % len(values)] for values in of_group))
        rows.append((f"s/{n}{q}{i}", f"g{n}", q, i, *facts))
    return frame_of(GROUPS, rows)


def pool_rows(groups: pl.DataFrame, other: Sequence[str] = ()) -> pl.DataFrame:
    """Return id, options and answer; the groups ``other`` have the other order of right answers."""
    rows = [
        (row["id"], OPTIONS[row["type"]], row["q_idx"] ^ row["i_idx"] ^ (row["group"] in other))
        for row in groups.iter_rows(named=True)
    ]
    schema = {"id": pl.String, "options": pl.List(pl.String), "answer": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def items_of(groups: pl.DataFrame, other: Sequence[str] = ()) -> GroupItems:
    """Return the items of groups from ``group_rows``."""
    return group_items(groups, pool_rows(groups, other))


def prediction_rows(
    items: GroupItems, logits: np.ndarray, cells: Sequence[tuple[str, int]] = CLEAN, mass: float = 1.0
) -> pl.DataFrame:
    """Return id, corruption, severity, logits, label_mass; ``logits``: [cells, groups, 2, 2, 2 options]."""
    schema = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64, "logits": pl.List(pl.Float32)}
    rows = [
        (id_, *cell, logits[number][place].tolist())
        for number, cell in enumerate(cells)
        for place, id_ in np.ndenumerate(items.ids)
    ]
    mass_column = pl.lit(mass, pl.Float32).alias("label_mass")
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(mass_column)


def score_rows(
    items: GroupItems, seed: int, *, skill: float = 1.0, cells: Sequence[tuple[str, int]] = CLEAN
) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Return SCORES and thresholds of a random model that prefers the right option by ``skill``."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(len(cells), *items.truth.shape, 2))
    right = np.stack([items.truth == 0, items.truth == 1], axis=-1)
    given = probabilities(prediction_rows(items, logits + skill * right, cells), items, cells, "letter")
    said = np.where(
        random.random((len(cells), *items.truth.shape)) < 0.5 + skill / 4, items.truth, 1 - items.truth
    )
    silent = random.random(said.shape) < 0.05
    priors = {"no_image": random.normal(size=(len(items.groups), 2))}
    readings, answers = ("deterministic", "global", "sample"), np.where(silent, -1, said)
    found = read_groups(items, cells, answers=answers, given=given, readings=readings, priors=priors)
    return found.scores, found.taus


def scores_footer(label: str, **facts: object) -> ScoresFooter:
    """Return the footer of the scores of a model with probabilities of letters, and with these facts."""
    given = {"pool": "a", "scoring": "letter", "extraction": "strict", "unavailable": {}, "taus": []}
    return ScoresFooter(**{"label": label, **given, **facts})


def write_scored(
    folder: Path,
    groups: pl.DataFrame,
    models: dict[str, tuple[pl.DataFrame, dict[str, object]]],
    labels: dict[str, str] | None = None,
) -> dict[str, list[Path] | Path]:
    """Write scores, models.json and groups.parquet; return the inputs of a table."""
    paths = []
    for id_, (table, footer) in models.items():
        path = folder / "scores" / f"{id_}.parquet"
        write_table(table, path, SCORES, scores_footer(**{"label": id_, **footer}))
        paths.append(path)
    write_table(groups, folder / "groups.parquet", GROUPS)
    known = {id_: Model(id_, (labels or {}).get(id_, id_.upper())) for id_ in models}
    (folder / "models.json").write_text(models_text(Models("naturalbench", known)))
    return {"scores": paths, "models": folder / "models.json", "groups": folder / "groups.parquet"}
