"""What is known of a run of Bench-C: the sizes of its pool and of its benchmark, and what is read already."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.settings import Settings
from benchc.config.batches import batches
from benchc.config.catalogue import Source
from benchc.planning import known as shared
from benchc.planning.known import Images, PoolItems, bytes_of, pool_items, sum_of
from benchc.planning.measured import predictions_in
from benchc.planning.stages import Done
from benchc.randomness import seed_of
from benchc.rendering.pluralize import pluralize
from benchc.schemas.parquet import read_table

# The folder of predictions that a stage of the plan fills.
SUBSETS = {"selectors": "pool", "targets": "selected", "random subset": "unselected"}


@dataclass(frozen=True)
class Known(shared.Known):
    """Sizes of a run. What is None is not known yet.

    ``kept`` is the size of the benchmark, ``kept_options`` holds the number of options of each of its items,
    in the order in which diagnostics.option_order takes them. ``kept_images`` counts an image once for every
    item that shows it, ``kept_distinct`` once in all.
    """

    kept: int | None = None
    kept_options: tuple[int, ...] | None = None
    kept_images: Images | None = None
    kept_distinct: Images | None = None


def known_of(settings: Settings, sources: Mapping[str, Source], results: Path) -> tuple[Known, str]:
    """Return the sizes of the run and a sentence that says where they come from."""
    items = pool_items(results)
    known, origin = shared.known_of(items, sources, settings.pool, results)
    if items is None:
        return Known(**vars(known)), origin
    corruptions, selected = settings.corruptions, results / "selection/selected.parquet"
    folder = results / ("corrupted" if corruptions.corrupted == "files" else "benchmark")
    known = replace(known, corrupted_bytes=bytes_of(folder, corruptions.types))
    if not selected.exists():
        return Known(**vars(known)), f"{origin} The benchmark is not selected yet."
    whole = with_benchmark(known, items, read_table(selected, SELECTED).filter("kept")["id"])
    return whole, f"{origin} Benchmark: {pluralize(whole.kept or 0, 'item')} ({selected})."


def with_benchmark(known: shared.Known, items: PoolItems, selected: Iterable[str]) -> Known:
    """Return ``known`` with the sizes of the benchmark, whose items have the ids ``selected``."""
    kept = [id_ for id_ in selected if id_ in items.options]
    # As in benchc/benchmarks/bench_c/selection/option_orders.py, which loads torch.
    asked = sorted(kept, key=lambda id_: (seed_of("option order", id_), id_))
    return Known(
        **vars(known),
        kept=len(kept),
        kept_options=tuple(items.options[id_] for id_ in asked),
        kept_images=sum_of(image for id_ in kept for image in items.images[id_]),
        kept_distinct=sum_of({image for id_ in kept for image in items.images[id_]}),
    )


def done_predictions(settings: Settings, results: Path) -> Done:
    """Return how many predictions are in the run's predictions, by stage and model."""
    done = {}
    names = batches(settings.corruptions, settings.inference)
    for stage, subset in SUBSETS.items():
        for model in settings.selectors if stage == "selectors" else settings.targets:
            files = [results / f"predictions/{subset}/{model}/{batch}.parquet" for batch in names]
            done[stage, model] = sum(predictions_in(path) for path in files)
    for model in settings.targets:
        done["option order", model] = predictions_in(results / f"orders/{model}.parquet")
    return {key: predictions for key, predictions in done.items() if predictions}
