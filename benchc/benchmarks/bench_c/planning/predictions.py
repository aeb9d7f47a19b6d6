"""How many predictions every stage of a run of Bench-C makes."""

from collections.abc import Sequence

from benchc.benchmarks.bench_c.planning.known import Known
from benchc.benchmarks.bench_c.settings import Settings
from benchc.config.batches import batches
from benchc.planning.amounts import UNKNOWN, Amount, Kind, joined
from benchc.planning.stages import Stage, computing, variants

DIAGNOSTICS = ("random subset", "option order")

# What the paper kept of its pool: the only share that is published.
PAPER_KEPT, PAPER_POOL = 849, 4000
# Of an item whose options are not known yet; what rests on it is marked as assumed.
ASSUMED_OPTIONS = 4


def stages(settings: Settings, known: Known) -> list[Stage]:
    """Return the stages in which models read, in the order of the pipeline.

    Selectors read the pool, targets the benchmark, both in all variants. diagnostics.random_subset: targets
    read so many items more: of the pool like the benchmark's, so that a target that is a selector has read
    them. diagnostics.option_order: targets read so many items of the benchmark again in
    their K - 1 other circular orders, clean and under every corruption at its highest severity. Bounds are of
    each stage alone: an item that is selected is in no random subset, so together they are less (see
    :func:`predictions_by_model`).
    """
    jobs = len(batches(settings.corruptions, settings.inference))
    whole = variants(settings.corruptions)
    selectors, targets = tuple(settings.selectors), tuple(settings.targets)
    result = [
        _selectors(selectors, jobs, whole, known),
        _stage("targets", targets, jobs, whole, settings, known),
    ]
    if settings.diagnostics.random_subset is not None:
        result.append(_stage("random subset", targets, jobs, whole, settings, known))
    if settings.diagnostics.option_order is not None:
        clean_and_highest = 1 + len(settings.corruptions.types)
        result.append(_stage("option order", targets, 1, clean_and_highest, settings, known))
    return result


def predictions_by_model(
    found: Sequence[Stage], settings: Settings, known: Known, *, new: bool = False
) -> dict[str, Amount]:
    """Return what every model reads in the stages ``found``, which :func:`stages` returned.

    ``new``: what it computes, see :func:`computing`. Where the benchmark is not known this is the bound of
    the sum, below the sum of the bounds: it is largest where the whole pool is kept, since an item costs as
    much in a random subset as in the benchmark.
    """
    result = {}
    for model in dict.fromkeys(model for stage in found for model in stage.models):
        own = computing(found, model) if new else [stage for stage in found if model in stage.models]
        kind = joined(stage.predictions.kind for stage in own)
        predictions = (
            None if known.pool is None else sum(_joint(stage, settings, known, known.pool) for stage in own)
        )
        result[model] = UNKNOWN if kind == "unknown" else Amount(predictions, kind)
    return result


def paper_share(pool: int) -> int:
    """Return how many items of a pool of this size are kept if it is the paper's share, 849 of 4,000."""
    return round(pool * PAPER_KEPT / PAPER_POOL)


def _selectors(models: tuple[str, ...], jobs: int, per_item: int, known: Known) -> Stage:
    items = UNKNOWN if known.pool is None else Amount(known.pool, "exact" if known.pool_exact else "at most")
    predictions = items.times(per_item)
    return Stage(
        "selectors",
        models,
        jobs,
        items,
        per_item,
        predictions,
        predictions.value if known.kept is None else None,
    )


def _stage(
    name: str, models: tuple[str, ...], jobs: int, per_item: int, settings: Settings, known: Known
) -> Stage:
    orders = name == "option order"

    def stage(items: Amount, predictions: Amount, at_share: int | None) -> Stage:
        part_of, factor = (None, " × (K − 1)") if orders else ("selectors", "")
        return Stage(name, models, jobs, items, per_item, predictions, at_share, part_of, factor)

    if known.pool is None:
        items = _without_a_pool(name, settings)
        if orders and items.value is not None:
            predictions = Amount(items.value * per_item * (ASSUMED_OPTIONS - 1), "assumed bound")
        else:
            predictions = items.times(per_item)
        return stage(items, predictions, None)
    if known.kept is not None:
        items = Amount(_items(name, settings, known.pool, known.kept), "exact")
        predictions = Amount(_reads(name, per_item, settings, known, known.kept), "exact")
        return stage(items, predictions, None)
    # The fewest kept leave most for a random subset, the most kept are most for all else.
    kept = 0 if name == "random subset" else known.pool
    assumed = orders and known.pool_options is None
    kind: Kind = "assumed bound" if assumed else "at most"
    items = Amount(_items(name, settings, known.pool, kept), "at most")
    predictions = Amount(_reads(name, per_item, settings, known, kept), kind)
    at_share = _reads(name, per_item, settings, known, paper_share(known.pool), typical=True)
    return stage(items, predictions, at_share)


def _joint(stage: Stage, settings: Settings, known: Known, pool: int) -> int:
    """Return the predictions of one model in a stage where as many items are kept as can be."""
    if stage.name == "selectors":
        return stage.per_item * pool
    kept = pool if known.kept is None else known.kept
    return _reads(stage.name, stage.per_item, settings, known, kept)


def _without_a_pool(name: str, settings: Settings) -> Amount:
    diagnostics = settings.diagnostics
    if name == "random subset" and isinstance(diagnostics.random_subset, int):
        return Amount(diagnostics.random_subset, "at most")
    if name == "option order" and diagnostics.option_order is not None:
        return Amount(diagnostics.option_order, "at most")
    return UNKNOWN


def _items(name: str, settings: Settings, pool: int, kept: int) -> int:
    match name:
        case "random subset":
            others, wanted = pool - kept, settings.diagnostics.random_subset
            return min(wanted, others) if isinstance(wanted, int) else others
        case "option order":
            return min(settings.diagnostics.option_order or 0, kept)
        case _:
            return kept


def _reads(
    name: str, per_item: int, settings: Settings, known: Known, kept: int, *, typical: bool = False
) -> int:
    """Return the predictions of one target where ``kept`` items of ``known.pool`` are kept."""
    items = _items(name, settings, known.pool or 0, kept)
    return per_item * (_other_orders(items, known, typical) if name == "option order" else items)


def _other_orders(items: int, known: Known, typical: bool) -> int:
    """Return the circular orders beside the given one of so many items: K - 1 each.

    Counted where the benchmark is known; of the pool's items with the most options, or ``typical`` for the
    mean, where that is known; of assumed items otherwise.
    """
    if known.kept_options is not None:
        return sum(count - 1 for count in known.kept_options[:items])
    if known.pool_options is None:
        return (ASSUMED_OPTIONS - 1) * items
    if typical:
        return round(items * sum(count - 1 for count in known.pool_options) / len(known.pool_options))
    return sum(sorted((count - 1 for count in known.pool_options), reverse=True)[:items])
