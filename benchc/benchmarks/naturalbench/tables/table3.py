"""Table 3: the statistics of the run's groups."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.groups import groups_of
from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.benchmarks.naturalbench.places import ENGLISH
from benchc.benchmarks.naturalbench.published.tables import published_table3
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, MINED
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.scored import benchmark_groups
from benchc.pluralize import pluralize
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published
from benchc.schemas.parquet import read_table

SAMPLES = 4  # of a group: two questions about two images
ALL = "All"
TYPES = {"yes_no": "Yes-or-No", "multiple_choice": "Multiple-Choice"}
KEY = ("source", "question_type", "language")
HEADERS = {
    "samples": "VQA samples",
    "mismatched_pairs": "Mismatched pairs",
    "verified_pairs": "Verified pairs",
}
COUNTS = tuple(HEADERS)
SCHEMA = {
    "source": pl.String,
    "question_type": pl.String,
    "language": pl.String,
    "groups": pl.Int64,
    "samples": pl.Int64,  # four of each group
    "vlms": pl.String,  # null where the run did not make the groups
    "mismatched_pairs": pl.Int64,  # of the source, which all of its types have; null likewise
    "verified_pairs": pl.Int64,  # those of them that people kept; null too where people do not review pairs
}
CAPTION = (
    "Statistics of the groups that the run reads or makes. A group has four VQA samples: two questions about "
    "two images; the rows All are sums. All types of questions are written about the pairs of a source, so "
    "that the pairs of its rows must not be added.{made}{read}{paper}"
)
MADE = (
    " Of what the run makes, mismatched pairs are those chosen among the mined ones, and verified pairs "
    "those that people kept; groups from random pairs are not counted."
)
READ = f" {MISSING}: not known of a set that the run reads and does not make."
PAPER = " Paper: its values for the same source, type and language, of its own set."


def table3(
    groups: list[Path],
    captions: list[Path],
    pairs: list[Path],
    kept_pairs: list[Path],
    questions: list[Path],
    kept: list[Path],
    subsets: dict[str, str],
    types: list[QuestionType],
    vlms: str,
    released: list[str],
) -> Table:
    """Return a row for each source, type of questions and language, and sums, as ``SCHEMA``.

    Sums are over English, and over other languages together, as in the paper.

    Args:
        groups: GROUPS that models answer; no file where none does
        captions, pairs: CAPTIONS and PAIRS of curation; no file where the run makes no groups
        kept_pairs: the pairs that people kept; no file where they review none
        questions, kept: of each round of curation
        subsets: the source of the groups of each data set of captions
        types: of the questions that curation writes
        vlms: the encoders and the writer of curation
        released: the sources of ``groups`` that are what the run makes, which is counted by itself
    """
    made = pl.DataFrame(schema=SCHEMA)
    if pairs:
        rounds = [
            (read_table(asked, QUESTIONS), read_table(found, KEPT))
            for asked, found in zip(questions, kept, strict=True)
        ]
        made = made_rows(
            read_table(captions[0], CAPTIONS, ["id", "dataset", "language"]),
            read_table(pairs[0], PAIRS),
            read_table(kept_pairs[0], PAIRS) if kept_pairs else None,
            rounds,
            subsets,
            types,
            vlms,
        )
    read = pl.DataFrame(schema=SCHEMA)
    if groups:
        table = benchmark_groups(read_table(groups[0], GROUPS))
        read = read_rows(table.filter(~pl.col("id").str.split("/").list.first().is_in(released)))
        same = pl.col("source").is_in(made["source"].implode())
        read = read.with_columns(pl.when(same).then(pl.format("{} (read)", "source")).otherwise("source"))
    frame = with_sums(pl.concat([made, read]))
    ours = frame.with_columns(_source_alone())
    published = _of_sources(published_table3(), ours)
    compared = compare_with_published(ours, published, on=KEY, values={name: name for name in COUNTS})
    compared = compared.filter(pl.col("published").is_not_null())
    shown = ours.join(
        published.select(*KEY, *(pl.col(name).alias(f"{name}_published") for name in COUNTS)),
        on=KEY,
        how="left",
        maintain_order="left",
    ).with_columns(source=frame["source"], vlms=pl.col("vlms").fill_null(MISSING))
    in_paper = [Column(f"{name}_published", f"Paper: {header}") for name, header in HEADERS.items()]
    columns = [
        Column("source", "Source"),
        Column("question_type", "Question type"),
        Column("language", "Language"),
        Column("vlms", "VLMs used"),
        Column("groups", "Groups"),
        *(Column(name, header) for name, header in HEADERS.items()),
        *(in_paper if compared.height else []),
    ]
    return printed(
        frame,
        columns,
        caption=CAPTION.format(
            made=MADE if made.height else "",
            read=READ if read.height else "",
            paper=PAPER if compared.height else "",
        ),
        label="naturalbench-3",
        shown=shown,
        small=True,
        published=compared,
        summary=pluralize(sum([*made["groups"], *read["groups"]]), "group"),
    )


def made_rows(
    captions: pl.DataFrame,
    pairs: pl.DataFrame,
    kept_pairs: pl.DataFrame | None,
    rounds: Sequence[tuple[pl.DataFrame, pl.DataFrame]],
    subsets: Mapping[str, str],
    types: Sequence[QuestionType],
    vlms: str,
) -> pl.DataFrame:
    """Return a row of ``SCHEMA`` for each data set of captions and type of questions, also without groups.

    ``captions``: id, dataset and language of the samples; ``pairs``, ``kept_pairs``: as PAIRS; ``rounds``:
    QUESTIONS and KEPT of each.
    """
    dataset = dict(captions.select("id", "dataset").iter_rows())
    language = dict(captions.select("dataset", "language").iter_rows())

    def mined(table: pl.DataFrame) -> Counter[str]:
        return Counter(dataset[id_] for id_ in table.filter(method=MINED)["a"])

    mismatched, verified = mined(pairs), None if kept_pairs is None else mined(kept_pairs)
    of_pair = dict(pairs.select("pair", "a").iter_rows())
    used = pairs if kept_pairs is None else kept_pairs
    counts = Counter(
        (dataset[of_pair[group.pair]], group.type)
        for group in groups_of(used, rounds)
        if group.method == MINED
    )
    return pl.DataFrame(
        [
            {
                "source": label,
                "question_type": TYPES[kind],
                "language": language[id_],
                "groups": counts[id_, kind],
                "samples": SAMPLES * counts[id_, kind],
                "vlms": vlms,
                "mismatched_pairs": mismatched[id_],
                "verified_pairs": None if verified is None else verified[id_],
            }
            for id_, label in subsets.items()
            for kind in types
        ],
        schema=SCHEMA,
    )


def read_rows(groups: pl.DataFrame) -> pl.DataFrame:
    """Return a row of ``SCHEMA`` for each source, type and language of ``groups`` (as GROUPS)."""
    order = [*TYPES]
    counted = groups.group_by("subset", "type", "language", maintain_order=True).agg(
        pl.col("group").n_unique().cast(pl.Int64).alias("groups"), pl.len().cast(pl.Int64).alias("samples")
    )
    return (
        counted.sort("subset", pl.col("type").replace_strict(order, range(len(order))), maintain_order=True)
        .select(
            pl.col("subset").alias("source"),
            pl.col("type").replace_strict(TYPES).alias("question_type"),
            "language",
            "groups",
            "samples",
            *(pl.lit(None, SCHEMA[name]).alias(name) for name in ("vlms", *COUNTS[1:])),
        )
        .cast(pl.Schema(SCHEMA))
    )


def with_sums(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of English, then those of other languages, each followed by a row of their sums."""
    parts = []
    for part in (rows.filter(language=ENGLISH), rows.filter(pl.col("language") != ENGLISH)):
        if part.is_empty():
            continue
        kinds = [kind for kind in TYPES.values() if kind in part["question_type"]]
        total = part.select(
            pl.lit(ALL).alias("source"),
            pl.lit(", ".join(kinds)).alias("question_type"),
            pl.lit(", ".join(part["language"].unique(maintain_order=True))).alias("language"),
            *(pl.col(name).sum() for name in ("groups", "samples")),
            *(pl.lit(None, SCHEMA[name]).alias(name) for name in ("vlms", *COUNTS[1:])),
        )
        parts += [part, total]
    return pl.concat(parts) if parts else rows


def _of_sources(published: pl.DataFrame, ours: pl.DataFrame) -> pl.DataFrame:
    """Return the published rows of our sources, and the sums over languages of which there is such a row."""
    rows = published.filter(pl.col("source") != ALL).join(ours, on=KEY, how="semi", maintain_order="left")
    languages = {*rows["language"]}
    sums = [text for text in published.filter(source=ALL)["language"] if languages & {*text.split(", ")}]
    return pl.concat([rows, published.filter(pl.col("language").is_in(sums), source=ALL)])


def _source_alone() -> pl.Expr:
    """Return the source without its language, which the paper has in a column of its own."""
    return pl.col("source").str.strip_suffix(pl.format(" ({})", "language"))
