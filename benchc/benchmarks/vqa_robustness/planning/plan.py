"""The one stage of a run of VQA-robustness in which models answer, and how many answers it needs."""

from pathlib import Path
from typing import cast

from benchc.benchmarks.vqa_robustness.settings import Settings
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config
from benchc.planning.amounts import Amount
from benchc.planning.plan import Plan
from benchc.planning.size import ImageCounts, RunSize, image_counts, run_size, variants
from benchc.planning.stages import Stage
from benchc.pluralize import pluralize


def plan_of(config: Config, results: Path, size: RunSize | None = None) -> Plan:
    """Return the plan of a run whose tables are in the folder ``results`` as far as they exist.

    ``size``: None takes that of the pool in ``results`` or, before it is built, of the configuration.
    """
    settings = cast(Settings, config.settings)
    size = size or run_size(config, results)
    chosen = settings.corruptions
    outputs = tuple(
        f"answers/pool/{{model}}/{part}.parquet" for part in corruption_batches(chosen, settings.inference)
    )
    number = variants(chosen)
    stage = Stage("answers", tuple(settings.models), size.pool, size.pool.times(number), outputs)
    types = f"1 clean + {pluralize(len(chosen.types), 'corruption')} × {len(chosen.severities)} severities"
    if settings.corrupted == "files":
        images = image_counts(size.images, chosen, results / "corrupted")
    else:
        images = ImageCounts(Amount(0), Amount(0))
    return Plan([stage], images, [f"answers of an item: {types}."])
