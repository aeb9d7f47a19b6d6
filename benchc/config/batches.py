"""Which corruptions an inference job reads."""

from benchc.config.settings import Settings
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.registry import family_of


def batches(settings: Settings) -> dict[str, list[str]]:
    """Return the corruptions of every inference batch, by the batch's name, in the configured order.

    Clean reads come first in the first batch.
    """
    result: dict[str, list[str]] = {}
    for corruption in settings.corruptions.types:
        result.setdefault(_batch_of(corruption, settings), []).append(corruption)
    next(iter(result.values())).insert(0, CLEAN)
    return result


def _batch_of(corruption: str, settings: Settings) -> str:
    match settings.inference.batch:
        case "all":
            return "all"
        case "family":
            return family_of(corruption, settings.corruptions.suite)
        case "corruption":
            return corruption
