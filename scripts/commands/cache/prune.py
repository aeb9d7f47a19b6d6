"""Delete cached predictions that meet all given conditions."""

from pathlib import Path

from benchc.command_line import PositiveInt
from benchc.errors import InputError
from benchc.models.asking import Job
from benchc.models.cache.identities import cached_identities
from benchc.pluralize import pluralize


def prune(
    *,
    cache: Path = Job.cache,
    model: str | None = None,
    unused_for: PositiveInt | None = None,
    outdated: bool = False,
    dry_run: bool = False,
) -> None:
    """Delete cached predictions that meet all given conditions.

    Results do not change: missing predictions are computed. Predictions that other
    code adopted from the deleted ones stay.

    Args:
        cache: folder of the prediction cache, which runs share
        model: of this model, as `benchc cache` shows it
        unused_for: not used for so many days
        outdated: computed by code that is not the present one
        dry_run: show what would be deleted
    """
    if model is None and unused_for is None and not outdated:
        raise InputError("give at least one of --model, --unused-for and --outdated")
    identities = cached_identities(cache)
    models = sorted({cached.facts["model"] for cached in identities})
    if model not in (None, *models):
        raise InputError(f"{cache}: no model {model!r}; choose from {', '.join(models)}")
    chosen = [
        cached
        for cached in identities
        if model in (None, cached.facts["model"])
        and (unused_for is None or cached.days_unused >= unused_for)
        and not (outdated and cached.is_current())
    ]
    verb = "would delete" if dry_run else "deleted"
    for cached in chosen:
        facts, count = cached.facts, pluralize(cached.units(), "unit")
        if not dry_run:
            cached.delete()
        print(f"{verb} {facts['model']}, {facts['scoring']}, {cached.name}: {count}")
    print(f"{verb} {pluralize(len(chosen), 'folder')}")
