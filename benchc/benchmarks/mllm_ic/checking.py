"""What `benchc check` checks in a run of MLLM-IC alone: its categories, and results of other programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from benchc.benchmarks.mllm_ic.categories import groups_of, read_categories
from benchc.benchmarks.mllm_ic.questions import asked, unmapped_counts, with_groups
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.checking.answers import check_answers, check_file
from benchc.checking.finding import Finding, reason
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.pluralize import pluralize


def check(config: Config, pool: PoolFound, *, load: bool, network: bool) -> Iterator[Finding]:
    """Yield what is right and wrong; nothing is loaded."""
    del load, network
    settings = cast(Settings, config.settings)
    file = settings.capabilities.categories
    ids: list[str] | None = None
    try:
        known = read_categories(Path(file), settings.sources)
        of_source = {id_: [each for each in known.values() if each.source == id_] for id_ in settings.sources}
        for id_, categories in of_source.items():
            mapped = len({each.capability for each in categories} - {""})
            if categories:
                known_of = "1 category" if len(categories) == 1 else f"{len(categories)} categories"
                of = "1 capability" if mapped == 1 else f"{mapped} capabilities"
                text = f"{file} has {known_of} of it, in {of}"
                yield Finding("pool", "ok", id_, text)
            else:
                text = f"{file} has no category of it; add its categories, or name another file"
                yield Finding("pool", "error", id_, text)
        items = with_groups(pool.texts, groups_of(known, settings.mini), settings.capabilities.circular)
        unmapped = unmapped_counts(items)
        for name, count in unmapped.items():
            text = f"{pluralize(count, 'item')} of a category that {file} does not have"
            if settings.capabilities.unmapped == "stop":
                yield Finding("pool", "error", name, f"{text}; add it, with a capability or a reason")
            else:
                yield Finding("pool", "ok", name, f"{text}; in no mean of capabilities")
        if pool.size is not None:
            ids = asked(items, settings.mini)["id"].to_list() or None
            if ids is None and not unmapped:
                text = f"all categories in {file} are left out, so there is no question to ask; keep one"
                yield Finding("pool", "error", "capabilities", text)
    except InputError as error:
        yield Finding("pool", "error", "capabilities", reason(error))
    chosen = settings.corruptions
    for id_, answers in settings.answers_from.items():
        yield check_answers(f"answers_from.{id_}", answers.file, chosen.types, chosen.severities, ids)
    for id_, predictions in settings.predictions_from.items():
        yield check_file(f"predictions_from.{id_}", predictions.file)
