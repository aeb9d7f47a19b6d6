"""The stages in which models are asked, in letters or in words, and the images that a run writes."""

from pathlib import Path
from typing import cast

from benchc.benchmarks.mllm_ic.capabilities import PUBLISHED_CAPABILITIES
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.config.corruption_batches import corruption_batches
from benchc.config.load import Config
from benchc.models.registry import ANSWERING
from benchc.planning.amounts import Amount
from benchc.planning.plan import Plan
from benchc.planning.size import ImageCounts, RunSize, image_counts, run_size, variants
from benchc.planning.stages import Stage
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table
from benchc.schemas.subset import SUBSET

# A question and its circular copies, of at most four options.
COPIES = 4


def plan_of(config: Config, results: Path, size: RunSize | None = None) -> Plan:
    """Return the plan of a run whose tables are in the folder ``results`` as far as they exist.

    ``size``: None takes that of the pool in ``results`` or, before it is built, of the configuration.
    """
    settings = cast(Settings, config.settings)
    size = size or run_size(config, results)
    chosen = settings.corruptions
    parts = corruption_batches(chosen, settings.inference)
    questions, number = asked(settings, size, results), variants(chosen)
    words = tuple(id_ for id_ in settings.models if config.models[id_].scoring in ANSWERING)
    letters = tuple(id_ for id_ in settings.models if id_ not in words)
    stages = [
        Stage(
            folder,
            models,
            questions,
            questions.times(number),
            tuple(f"{folder}/questions/{{model}}/{part}.parquet" for part in parts),
        )
        for folder, models in (("predictions", letters), ("answers", words))
        if models
    ]
    notes = [
        f"predictions of a question: 1 clean + {pluralize(len(chosen.types), 'corruption')} × "
        f"{len(chosen.severities)} severities; {pluralize(len(parts), 'job')} a model.",
    ]
    if settings.corrupted == "files":
        images = image_counts(size.images, chosen, results / "corrupted")
    else:
        images = ImageCounts(Amount(0), Amount(0))
    return Plan(stages, images, notes)


def asked(settings: Settings, size: RunSize, results: Path) -> Amount:
    """Return the number of questions with their copies: counted once they are chosen, and bounded before."""
    path = results / "subsets/questions.parquet"
    if size.options is not None and path.exists():
        # They may be of an older pool.
        return Amount(sum(id_ in size.options for id_ in read_table(path, SUBSET)["id"]))
    if settings.mini is None:
        return Amount(size.pool.value, "at most" if size.pool.kind == "exact" else size.pool.kind)
    copies = COPIES if settings.capabilities.circular else 1
    most = settings.mini * PUBLISHED_CAPABILITIES * copies
    bound = size.pool.capped(most)
    return Amount(bound.value, "at most") if bound.value == most else bound
