"""Which corruptions an inference job evaluates."""

from benchc.config.settings import Corruptions, Inference
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.registry import group_of


def corruption_batches(corruptions: Corruptions, inference: Inference) -> dict[str, list[str]]:
    """Return the corruptions of each part of the predictions by its name, both in alphabetical order.

    So a new order of ``types`` reruns nothing. The first part begins with the clean images; without
    corruptions, it has these alone.
    """
    result: dict[str, list[str]] = {}
    for corruption in sorted(corruptions.types):
        result.setdefault(_part_of(corruption, corruptions, inference), []).append(corruption)
    result = dict(sorted(result.items())) or {CLEAN: []}
    next(iter(result.values())).insert(0, CLEAN)
    return result


def _part_of(corruption: str, corruptions: Corruptions, inference: Inference) -> str:
    match inference.corruptions_per_job:
        case "all":
            return "all"
        case "group":
            return group_of(corruption, suite_with(corruptions.suite, corruptions.own_files))
        case "one":
            return corruption
