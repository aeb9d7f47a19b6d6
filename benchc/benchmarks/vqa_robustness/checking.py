"""What `benchc check` checks in a run of VQA-robustness alone: answers of other programs, and soft grades."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from benchc.benchmarks.vqa_robustness.settings import Settings
from benchc.checking.answers import check_answers
from benchc.checking.finding import Finding
from benchc.checking.pool import PoolFound
from benchc.config.load import Config


def check(config: Config, pool: PoolFound, *, load: bool, network: bool) -> Iterator[Finding]:
    """Yield what is right and wrong; nothing is loaded."""
    del load
    settings = cast(Settings, config.settings)
    chosen = settings.corruptions
    for id_, model in settings.answers_from.items():
        yield check_answers(f"answers_from.{id_}", model.file, chosen.types, chosen.severities, pool.all_ids)
    scale = settings.vre.scale_of
    if scale is not None and not Path(scale).is_file():
        text = f"vre.scale_of names {scale}, which does not exist; correct the path, or give null"
        yield Finding("answers", "error", "vre", text)
    if settings.grade == "soft":
        for id_ in (id_ for id_, source in config.sources.items() if source.convert is None):
            text = "has one reference answer for each question, but grade is soft; choose normalised or exact"
            yield Finding("answers", "error", id_, text)
