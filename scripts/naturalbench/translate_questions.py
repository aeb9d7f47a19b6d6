"""Let a language model translate the questions of groups in other languages into English."""

import sys
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, GroupsFooter
from benchc.benchmarks.naturalbench.schemas.translations import TRANSLATIONS
from benchc.benchmarks.naturalbench.translation import (
    ALL_ENGLISH,
    asked_texts,
    in_other_languages,
    languages,
    read_translator,
    translated_groups,
    translated_items,
    translations,
)
from benchc.command_line import PositiveInt
from benchc.endpoint.language_model import opened
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.row_groups import table_writer


def translate_questions(
    *,
    pool: Path,
    groups: Path,
    model: str,
    temperature: float = 1.0,
    template: Path,
    attempts: PositiveInt = 4,
    service: Service | None = None,
    questions: Path,
    translated_pool: Path,
    translated: Path,
) -> None:
    """Let a language model translate the questions of groups in other languages into English.

    A question is one request, with its hint and its options other than Yes and No. Groups from random pairs
    are not translated. A group of which no reply translates a question is left out. In mode record, a killed
    job continues with the replies that it has.

    Args:
        pool: pool/items.parquet
        groups: pool/groups.parquet
        model: name of the model at the endpoint
        temperature: of the replies
        template: prompt, a text file with the placeholders {text} and, if wanted, {language}
        attempts: requests for a question, until a reply is a translation
        questions: translated/questions.parquet to write: each question, and its translation or the reason
        translated_pool: translated/items.parquet to write: the pool's items of the translated groups
        translated: translated/groups.parquet to write: these groups
    """
    others = in_other_languages(read_table(groups, GROUPS))
    if others.is_empty():
        raise InputError(f"{groups}: {ALL_ENGLISH}")
    translator = read_translator(model, temperature, template, attempts)
    service = service or Service()
    with opened(service) as endpoint:
        table = translations(asked_texts(others, pool), translator, endpoint)
    kept = translated_groups(others, table)
    for language, whole, left_out in languages(table):
        print(f"{language}: {pluralize(whole, 'group')} translated, {left_out:,} left out", file=sys.stderr)
    reasons = table.filter(~pl.col("ok"))["reason"].value_counts(sort=True)
    for reason, count in reasons.head(5).iter_rows():
        print(f"{pluralize(count, 'question')}: {reason}", file=sys.stderr)
    if kept.is_empty():
        raise InputError(
            f"no group was translated (the first reason: {table['reason'].drop_nulls()[0]}); correct "
            "translate.model or translate.template"
        )
    sizes = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()
    with table_writer(translated_pool, POOL, sizes, PoolFooter(cap=None), compression="zstd") as writer:
        for rows in translated_items(pool, kept, table):
            writer.append(rows)
    digest = pool_digest(translated_pool, QUESTION_COLUMNS)
    write_table(kept, translated, GROUPS, GroupsFooter(pool=digest))
    write_table(
        table, questions, TRANSLATIONS, translator.footer(pool_digest(pool, QUESTION_COLUMNS), service)
    )
