"""Which corruptions an inference job evaluates."""

from benchc.config.settings import Corruptions, Inference
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.registry import family_of


def batches(corruptions: Corruptions, inference: Inference) -> dict[str, list[str]]:
    """Return the corruptions of each inference batch by the name of the batch, in the configured order.

    The first batch begins with the clean images.
    """
    result: dict[str, list[str]] = {}
    for corruption in corruptions.types:
        result.setdefault(_batch_of(corruption, corruptions, inference), []).append(corruption)
    next(iter(result.values())).insert(0, CLEAN)
    return result


def _batch_of(corruption: str, corruptions: Corruptions, inference: Inference) -> str:
    match inference.batch:
        case "all":
            return "all"
        case "family":
            return family_of(corruption, corruptions.suite)
        case "corruption":
            return corruption
