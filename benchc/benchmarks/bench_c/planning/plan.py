"""The stages of a run of Bench-C, and how many predictions each needs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import polars as pl

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.settings import Settings
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config
from benchc.planning.amounts import Amount
from benchc.planning.plan import Plan
from benchc.planning.size import ImageCounts, RunSize, image_counts, run_size, variants
from benchc.planning.stages import Stage
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_table

# 849 of 4,000 items were selected: the only published share.
PAPER_SHARE = 849 / 4000
# Options of an item, assumed until the pool is built.
OPTIONS = 4


def plan_of(config: Config, results: Path, size: RunSize | None = None) -> Plan:
    """Return the plan of a run whose tables are in the folder ``results`` as far as they exist.

    ``size``: None takes that of the pool in ``results`` or, before it is built, of the configuration.
    """
    settings = cast(Settings, config.settings)
    size = size or run_size(config, results)
    selected = selected_ids(size, results / "selection/selected.parquet")
    orders, pool = other_orders(size, selected), size.pool.value
    count = Amount(pool, "at most") if selected is None else Amount(len(selected))
    expected: list[Stage] = []
    if selected is None and pool is not None:
        expected = stages(settings, size.pool, Amount(round(pool * PAPER_SHARE), "estimate"), orders)
    return Plan(
        stages(settings, size.pool, count, orders),
        images(settings, size, selected, results),
        list(_notes(settings, size)),
        expected,
        f"{100 * PAPER_SHARE:.1f} % of the pool is selected, as in the paper",
    )


def selected_ids(size: RunSize, path: Path) -> list[str] | None:
    """Return the selected items of the pool; None where the pool or the selection does not exist."""
    if size.options is None or not path.exists():
        return None
    ids = read_table(path, SELECTED).filter("selected")["id"]
    return [id_ for id_ in ids if id_ in size.options]  # the selection may be of an older pool


def other_orders(size: RunSize, selected: Sequence[str] | None) -> list[int] | None:
    """Return K - 1 (0 for an open-ended question) of the items that diagnostics.option_order may take.

    Selected items come in the order in which they are taken. Before the selection, the pool's come in
    descending order, so that the first n bound any n. None before the pool is built.
    """
    if size.options is None:
        return None
    if selected is None:
        return sorted((max(0, count - 1) for count in size.options.values()), reverse=True)
    # As in benchc/benchmarks/bench_c/selection/option_orders.py, which loads torch.
    taken = sorted(selected, key=lambda id_: (seed_of("option order", id_), id_))
    return [max(0, size.options[id_] - 1) for id_ in taken]


def stages(settings: Settings, pool: Amount, selected: Amount, orders: Sequence[int] | None) -> list[Stage]:
    """Return the stages in which models make predictions, in the order of the pipeline.

    Selectors answer the pool, targets the ``selected`` items, both in all variants.
    diagnostics.random_subset: targets answer that many items that are not selected.
    diagnostics.option_order: targets answer that many selected items in their K - 1 other circular orders,
    clean and under every corruption at its highest severity. ``orders``: see :func:`other_orders`.
    diagnostics.generated_answers: these models answer the selected items in their own words.
    """
    names, number = (
        corruption_batches(settings.corruptions, settings.inference),
        variants(settings.corruptions),
    )
    selectors, targets = tuple(settings.selectors), tuple(settings.targets)

    def stage(name: str, models: tuple[str, ...], items: Amount, subset: str, part_of: str | None) -> Stage:
        outputs = tuple(f"predictions/{subset}/{{model}}/{part}.parquet" for part in names)
        return Stage(name, models, items, items.times(number), outputs, part_of)

    found = [
        stage("selectors", selectors, pool, "pool", None),
        stage("targets", targets, selected, "selected", "selectors"),
    ]
    random_subset, option_order = settings.diagnostics.random_subset, settings.diagnostics.option_order
    if random_subset is not None:
        # An upper bound on the selected items does not bound the others.
        least = 0 if selected.kind == "at most" else selected.value or 0
        others = Amount(pool.minus(least).value, selected.kind)
        items = others if random_subset == "all" else others.capped(random_subset)
        found.append(stage("random subset", targets, items, "unselected", "selectors"))
    if option_order is not None:
        items = selected.capped(option_order)
        clean_and_highest = 1 + len(settings.corruptions.types)
        if orders is None:
            reordered = Amount(items.times(OPTIONS - 1).value, "estimate")
        else:
            reordered = Amount(sum(orders[: int(items.value or 0)]), items.kind)
        outputs = ("orders/{model}.parquet",)
        found.append(Stage("option order", targets, items, reordered.times(clean_and_highest), outputs))
    if answering := tuple(settings.diagnostics.generated_answers):
        answers = tuple(f"answers/selected/{{model}}/{part}.parquet" for part in names)
        found.append(Stage("generated answers", answering, selected, selected.times(number), answers))
    return found


def images(settings: Settings, size: RunSize, selected: Sequence[str] | None, results: Path) -> ImageCounts:
    """Return the corrupted images that are written: the pool's, or with on_the_fly the selected items'."""
    if settings.corrupted == "files":
        return image_counts(size.images, settings.corruptions, results / "corrupted")
    share, found = (PAPER_SHARE if selected is None else 1), size.images
    if found is not None and selected is not None:
        found = found.filter(pl.col("id").is_in(selected))
    return image_counts(found, settings.corruptions, results / "benchmark", share)


def _notes(settings: Settings, size: RunSize) -> Iterator[str]:
    types, severities = settings.corruptions.types, settings.corruptions.severities
    variants = f"1 clean + {pluralize(len(types), 'corruption')}"
    yield f"predictions of an item: {variants} × {len(severities)} severities."
    if settings.diagnostics.option_order is not None:
        assumed = "" if size.options is not None else f"; K = {OPTIONS} is assumed"
        yield f"option order: {variants} in the K − 1 other circular orders of K options{assumed}."
    if settings.diagnostics.generated_answers:
        yield "generated answers take longer than predictions, by whose rate their hours are estimated."
    if both := [model for model in settings.selectors if model in settings.targets]:
        yield f"targets that are selectors too find their predictions in the cache: {', '.join(both)}."
