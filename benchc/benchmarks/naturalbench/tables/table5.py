"""Table 5: G-Acc on groups in other languages, asked in these and translated into English."""

from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.published.tables import of_run, published_table5
from benchc.benchmarks.naturalbench.schemas.translations import TRANSLATIONS
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores, read_clean
from benchc.benchmarks.naturalbench.tables.frames import (
    chance_of_groups,
    chance_rows,
    columns_of,
    labels_of,
    reading_text,
)
from benchc.benchmarks.naturalbench.translation import languages
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Files, Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published
from benchc.schemas.parquet import REMAKE, TableError

VALUES = ("original", "translated", "difference")
CAPTION = (
    "G-Acc on groups in other languages than English, asked as they are and translated into English by "
    "{translator}, by the reading {reading}; Δ: translated minus original, paired by group. {groups}. The "
    "suffix of a question, and labels that are Yes and No or letters, are English in both. In per cent, with "
    "95 % percentile intervals from {draws} of the groups of a language, the same for all models. All models "
    "of the run are shown, whether or not they claim to know the language." + ORDER
)
MARKS = " Marks are by all groups of the run."


def read_translated(translated_scores: list[Path], models: Path, translated_groups: Path) -> RunScores:
    """Return the scores of translated groups; raises as `read_clean`."""
    return read_clean(translated_scores, models, translated_groups)


def table5(
    scored: CleanScores,
    translated: Annotated[RunScores, Files(read_translated)],
    translations: Annotated[pl.DataFrame, parquet(TRANSLATIONS)],
    chance: ChanceTable,
    translator: str,
    reading: str,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the G-Acc of each model in per cent by language, original and translated, and the difference.

    Both are of the groups that are translated. Raises TableError where one of these has no original.
    """
    place = {group: number for number, group in enumerate(scored.groups["group"])}
    names = translated.groups["group"].to_list()
    if absent := [name for name in names if name not in place]:
        raise TableError(f"the translated group {absent[0]} is no group of the run; {REMAKE}")
    originals = np.array([place[name] for name in names], dtype=np.int64)
    language_of = scored.groups["language"].to_numpy()[originals]
    g_acc = MEASURES.index("g_acc")
    rows, counts = [], languages(translations)
    for language in dict.fromkeys(language_of):
        chosen = language_of == language
        resamples = Resamples(int(chosen.sum()), draws, seed)
        for id_, label in labels_of(scored).items():
            pair = [scored.values(id_, reading)[originals, g_acc], translated.values(id_, reading)[:, g_acc]]
            drawn = resamples.means(np.column_stack(pair)[chosen])
            drawn = np.column_stack([drawn, drawn[:, 1] - drawn[:, 0]])
            about = {"model": [label], "language": [language], "groups": [int(chosen.sum())]}
            rows.append(pl.DataFrame({**about, **columns_of(drawn, VALUES)}))
    left_out = {language: count for language, _, count in counts}
    frame = pl.concat(rows)
    frame = frame.with_columns(left_out=pl.col("language").replace_strict(left_out, return_dtype=pl.Int64))
    shown_languages = frame["language"].unique(maintain_order=True).to_list()
    ends = [f"{value}{end}" for value in VALUES for end in ("", "_low", "_high")]
    wide = frame.select("model").unique(maintain_order=True)
    for language in shown_languages:
        columns = {f"{language}_{name}": name for name in ends}
        of_language = frame.filter(language=language).select("model", **columns)
        wide = wide.join(of_language, on="model", maintain_order="left")
    standings = chance.of(reading)
    values = [f"{language}_{value}" for language in shown_languages for value in VALUES[:2]]
    first = chance_rows(dict.fromkeys(values, chance_of_groups(reading)))
    first = first.with_columns(pl.lit(0.0).alias(f"{language}_difference") for language in shown_languages)
    published = of_run(published_table5(), labels_of(scored) if reading == "decoding" else {})
    return printed(
        frame,
        [
            Column("model", "Model"),
            *(
                column
                for language in shown_languages
                for column in (
                    Column(f"{language}_original", language, interval=True, digits=1),
                    Column(f"{language}_translated", f"{language} → English", interval=True, digits=1),
                    Column(f"{language}_difference", "Δ", signed=True, interval=True, digits=1),
                )
            ),
        ],
        caption=CAPTION.format(
            translator=translator,
            reading=reading_text(reading),
            groups=_groups_text(counts),
            draws=pluralize(draws, "resample"),
        )
        + (f"{standings.note}{MARKS}" if standings.note else ""),
        label="naturalbench-5",
        shown=pl.concat(
            [wide.clear(), first, wide.with_columns(standings.marked(wide["model"]))], how="diagonal"
        ),
        references=first.height,
        published=compare_with_published(
            wide, published, on=["model"], values={name: name for name in values if name in published.columns}
        ),
    )


def _groups_text(counts: list[tuple[str, int, int]]) -> str:
    """Return how many groups each language has; those without a translation are in no column."""
    texts = [
        f"{language} {whole:,}" + (f" ({left_out:,} without a translation left out)" if left_out else "")
        for language, whole, left_out in counts
    ]
    return f"Groups: {', '.join(texts)}"
