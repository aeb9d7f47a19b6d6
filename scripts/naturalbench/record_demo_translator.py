"""Write the replies of the demo's translator, as a folder of recordings that translate_questions replays."""

from pathlib import Path

from benchc.atomic import atomic_folder
from benchc.benchmarks.naturalbench.demo.translator import record_translations
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.translation import asked_texts, in_other_languages, read_translator
from benchc.command_line import PositiveInt, Seed
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table


def record_demo_translator(
    *,
    pool: Path,
    groups: Path,
    model: str,
    temperature: float = 1.0,
    template: Path,
    attempts: PositiveInt = 4,
    seed: Seed,
    output: Path,
) -> None:
    """Write the replies of the demo's translator, as a folder of recordings that translate_questions replays.

    Args:
        pool: pool/items.parquet
        groups: pool/groups.parquet
        model: name of the model in its requests
        temperature: of the requests
        template: prompt of the requests
        attempts: requests for a question
        seed: decides which replies are not usable
        output: folder to write
    """
    asked = asked_texts(in_other_languages(read_table(groups, GROUPS)), pool)
    translator = read_translator(model, temperature, template, attempts)
    with atomic_folder(output) as folder:
        count = record_translations(dict.fromkeys(asked.values()), translator, seed, folder)
    print(f"{output}: {count:,} replies to requests about {pluralize(len(asked), 'question')}")
