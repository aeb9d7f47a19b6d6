"""Questions in other languages, translated into English by a language model (Table 5 of the paper)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.reply import json_object, text_of
from benchc.benchmarks.naturalbench.groups import are_words
from benchc.benchmarks.naturalbench.places import ENGLISH
from benchc.benchmarks.naturalbench.schemas.translations import TRANSLATIONS, TranslationsFooter
from benchc.benchmarks.naturalbench.scored import benchmark_groups
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import Endpoint
from benchc.endpoint.language_model import CHAT, UnusableError, chat_request, reply_text, usable_replies
from benchc.endpoint.recording import request_hash
from benchc.endpoint.service import Service
from benchc.endpoint.template import Template, read_template
from benchc.schemas.parquet import TableFile, read_table
from benchc.schemas.pool import POOL

ALL_ENGLISH = "all groups are in English, so that nothing can be translated; give translate: null"
REQUIRED, OPTIONAL = ("text",), ("language",)
QUESTION, HINT, OPTIONS = "Question", "Hint", ("Option A", "Option B")
TEXTS = ("question", "hint", "options")  # columns of the pool
SAME = "both questions of the group have this translation"
ITEMS_AT_ONCE = 64


class Text(NamedTuple):
    """What models read of a question."""

    question: str
    hint: str | None
    options: tuple[str, ...]

    @property
    def fields(self) -> dict[str, str]:
        """The texts to translate by the keys of a request: not the options Yes and No, which are labels."""
        hint = {HINT: self.hint} if self.hint else {}
        options = {} if are_words(self.options) else dict(zip(OPTIONS, self.options, strict=True))
        return {QUESTION: self.question, **hint, **options}


@dataclass(frozen=True)
class Translator:
    """The language model that translates, as its requests describe it.

    Attributes:
        attempts: requests for a question, until a reply is a translation
    """

    model: str
    temperature: float
    template: Template
    attempts: int

    def request(self, text: Text, language: str, attempt: int) -> dict[str, object]:
        """Return the request for the translation of a question. The attempt is its seed: attempts differ."""
        asked = json.dumps(text.fields, ensure_ascii=False, indent=1)
        prompt = self.template.filled(text=asked, language=language)
        return chat_request(self.model, prompt, self.temperature, attempt)

    def translated(self, text: Text, answer: Answer) -> Text:
        """Return the translation that a reply has; raises UnusableError where it has none."""
        return read_translation(reply_text(answer, self.model), text)

    def footer(self, pool: str, service: Service) -> TranslationsFooter:
        """Return the footer of the translations; ``pool``: digest of the pool's questions."""
        return TranslationsFooter(
            pool=pool,
            model=self.model,
            temperature=self.temperature,
            template=self.template.hash,
            mode=service.mode,
            url=service.asked_at,
        )


def read_translator(model: str, temperature: float, template: Path, attempts: int) -> Translator:
    """Return the translator with the template in a file. Raises InputError where that is not valid."""
    return Translator(model, temperature, read_template(template, REQUIRED, OPTIONAL), attempts)


def read_translation(reply: str, text: Text) -> Text:
    """Return the translation of ``text`` in a reply: a JSON object, in a code fence or not, with its keys.

    Each text becomes one line. Raises UnusableError where keys are missing or more, a text is empty, the
    question is still the original, or the options are equal.
    """
    found, asked = json_object(reply), text.fields
    for key in asked:
        if key not in found:
            raise UnusableError(f"the reply has no {key}")
    if more := [key for key in found if key not in asked]:
        raise UnusableError(f"the reply has {more[0][:40]!r}, which was not asked for")
    lines = {key: " ".join(text_of(found, key, key).split()) for key in asked}
    if lines[QUESTION] == " ".join(text.question.split()):
        raise UnusableError("the question is not translated")
    options = tuple(lines[key] for key in OPTIONS if key in lines) or text.options
    if len({option.casefold() for option in options}) < len(options):
        raise UnusableError("its options are equal")
    if options != text.options and are_words(options):
        raise UnusableError("its options are Yes and No, which are other labels; give the original these")
    return Text(lines[QUESTION], lines.get(HINT), options)


def in_other_languages(groups: pl.DataFrame) -> pl.DataFrame:
    """Return the rows (as GROUPS) of the benchmark's groups in other languages than English."""
    return benchmark_groups(groups).filter(pl.col("language").str.to_lowercase() != ENGLISH.lower())


def asked_texts(groups: pl.DataFrame, pool: Path) -> dict[tuple[str, int], tuple[str, Text]]:
    """Return language and text of each question, by group and q_idx; ``groups``: rows as GROUPS."""
    texts = read_table(pool, POOL, ["id", *TEXTS])
    rows = groups.filter(i_idx=0).join(texts, on="id", how="left", maintain_order="left")
    return {
        (group, q_idx): (language, Text(question, hint, tuple(options)))
        for group, q_idx, language, question, hint, options in rows.select(
            "group", "q_idx", "language", *TEXTS
        ).iter_rows()
    }


def translations(
    asked: Mapping[tuple[str, int], tuple[str, Text]], translator: Translator, endpoint: Endpoint
) -> pl.DataFrame:
    """Return one row of TRANSLATIONS for each question, asking once for equal ones.

    ``asked``: language and text by group and q_idx. Raises EndpointError, and InputError where the server
    refuses all requests or is not OpenAI-compatible.
    """
    found, reasons = usable_replies(
        {key: key for key in asked.values()},
        lambda key, attempt: translator.request(key[1], key[0], attempt),
        lambda key, answer: translator.translated(key[1], answer),
        attempts=translator.attempts,
        endpoint=endpoint,
        label="translate questions",
    )
    rows = [
        (
            *place,
            language,
            *text,
            *(found.get((language, text)) or (None, None, None)),
            (language, text) in found,
            reasons.get((language, text)),
            request_hash("POST", CHAT, translator.request(text, language, 0)),
        )
        for place, (language, text) in asked.items()
    ]
    table = pl.DataFrame(rows, schema=pl.Schema(TRANSLATIONS.columns), orient="row")
    # The right answers of a group alternate, so that no model could be right about one question asked twice.
    texts = pl.struct("english_question", "english_hint", "english_options")
    same = (pl.col("ok").all() & (texts.n_unique() == 1)).over("group")
    return table.with_columns(
        ok=pl.col("ok") & ~same, reason=pl.when(same).then(pl.lit(SAME)).otherwise("reason")
    )


def translated_groups(groups: pl.DataFrame, table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of ``groups`` (as GROUPS) both of whose questions are translated, now in English."""
    whole = table.group_by("group").agg(pl.col("ok").all()).filter("ok")
    kept = groups.join(whole, on="group", how="semi", maintain_order="left")
    return kept.with_columns(language=pl.lit(ENGLISH))


def translated_items(pool: Path, groups: pl.DataFrame, table: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the items of ``groups`` in pool order, of type POOL, a few at a time, with translated texts.

    Ids, images and answers are those of the pool. Images of all items may not fit into memory.
    """
    new = groups.select("id", "group", "q_idx").join(
        table.select("group", "q_idx", **{name: f"english_{name}" for name in TEXTS}), on=("group", "q_idx")
    )
    with TableFile(pool, POOL) as file:
        ids = file.columns(["id"]).with_row_index("row").join(new, on="id", maintain_order="left")
        for part in ids.iter_slices(ITEMS_AT_ONCE):
            rows = file.rows(part["row"].to_list()).drop(TEXTS)
            yield rows.join(part.select("id", *TEXTS), on="id", maintain_order="left").select(
                list(POOL.columns)
            )


def languages(table: pl.DataFrame) -> list[tuple[str, int, int]]:
    """Return each language of TRANSLATIONS with its groups that are translated, and those that are not."""
    whole = table.group_by("language", "group", maintain_order=True).agg(pl.col("ok").all())
    counts = whole.group_by("language", maintain_order=True).agg(
        pl.col("ok").sum().cast(pl.Int64), (~pl.col("ok")).sum().cast(pl.Int64).alias("left_out")
    )
    return counts.rows()
