"""What `benchc check` checks in a run of MLLM-IC alone: its categories, and results of other programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from benchc.benchmarks.mllm_ic.categories import read_categories
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.checking.finding import Finding, reason
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.errors import InputError


def check(config: Config, pool: PoolFound, *, load: bool, network: bool) -> Iterator[Finding]:
    """Yield what is right and wrong; nothing is loaded."""
    del pool, load, network
    settings = cast(Settings, config.settings)
    file = settings.capabilities.categories
    try:
        known = read_categories(Path(file), settings.sources)
        of_source = {id_: [each for each in known.values() if each.source == id_] for id_ in settings.sources}
        for id_, categories in of_source.items():
            mapped = len({each.capability for each in categories} - {""})
            if categories:
                yield Finding(
                    "pool", "ok", id_, f"{len(categories)} categories of {mapped} capabilities in {file}"
                )
            else:
                text = f"{file} has no category of it; add its categories, or name another file"
                yield Finding("pool", "error", id_, text)
    except InputError as error:
        yield Finding("pool", "error", "capabilities", reason(error))
    for id_, one in settings.imported.items():
        if Path(one.file).is_file():
            yield Finding("answers", "ok", id_, f"in {one.file}")
        else:
            key = "answers_from" if id_ in settings.answers_from else "predictions_from"
            text = f"{key} names {one.file}, which does not exist; write it, or remove the model"
            yield Finding("answers", "error", id_, text)
