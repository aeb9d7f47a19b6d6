"""Delete cached predictions that meet all given conditions. Results do not change; missing ones are computed.

Predictions that other code adopted from the deleted ones stay.
"""

from collections.abc import Sequence

from benchc.errors import InputError
from benchc.models.cached_identities import cached_identities
from benchc.pluralize import pluralize
from scripts.argument_types import positive_argument
from scripts.command import Parser, run
from scripts.inference_arguments import add_cache_folder


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.cache_prune") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    add_cache_folder(parser)
    add = parser.add_argument
    add("--model", help="of this model, as `benchc cache` shows it")
    add("--unused-for", type=positive_argument, metavar="DAYS", help="not used for so many days")
    add("--outdated", action="store_true", help="computed by code that is not the present one")
    add("--dry-run", action="store_true", help="show what would be deleted")
    arguments = parser.parse_args(argv)
    if arguments.model is None and arguments.unused_for is None and not arguments.outdated:
        parser.error("give at least one of --model, --unused-for and --outdated")
    identities = cached_identities(arguments.cache)
    models = sorted({cached.facts["model"] for cached in identities})
    if arguments.model not in (None, *models):
        raise InputError(f"{arguments.cache}: no model {arguments.model!r}; choose from {', '.join(models)}")
    chosen = [
        cached
        for cached in identities
        if arguments.model in (None, cached.facts["model"])
        and (arguments.unused_for is None or cached.days_unused >= arguments.unused_for)
        and not (arguments.outdated and cached.is_current())
    ]
    verb = "would delete" if arguments.dry_run else "deleted"
    for cached in chosen:
        facts, count = cached.facts, pluralize(cached.units(), "unit")
        if not arguments.dry_run:
            cached.delete()
        print(f"{verb} {facts['model']}, {facts['scoring']}, {cached.name}: {count}")
    print(f"{verb} {pluralize(len(chosen), 'folder')}")


if __name__ == "__main__":
    run(main)
