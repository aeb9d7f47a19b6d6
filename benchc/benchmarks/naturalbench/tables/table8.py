"""Table 8: what the skills are, with how many samples of the run need them."""

from typing import Annotated

import polars as pl

from benchc.benchmarks.naturalbench.inputs import GroupRows, Tags
from benchc.benchmarks.naturalbench.scored import benchmark_groups
from benchc.benchmarks.naturalbench.taxonomy import CLASSES, DEFINITIONS, label_of
from benchc.command_line import NaturalInt
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.rendering.shorten import shorten
from benchc.schemas.pool import POOL

LONGEST_EXAMPLE = 100
CAPTION = (
    "The skills of the paper, each with its definition in short. Samples: questions about one image that "
    "have a tag of the skill; groups: those of which a sample has one. {tags}"
)
TAGGED = (
    "{samples} of {all:,} have tags. Example: the question of one of these samples, drawn at random by a "
    "hash of the run's seed."
)
UNTAGGED = "–: unknown, since the run has no tags (groups.tags)."

Questions = Annotated[pl.DataFrame, parquet(POOL, "id", "question")]


def table8(groups: GroupRows, tags: Tags, pool: Questions, seed: NaturalInt) -> Table:
    """Return the ten rows of the paper's table, then one for each own skill in the tags.

    Columns: skill, kinds (the skills of the taxonomy in it), definition (null of own skills), samples and
    groups (null without any tag), example (null where no sample has the skill).
    """
    placed = tags.join(benchmark_groups(groups), on="id").join(pool, on="id", how="left")
    own = sorted({*placed["skill"]} - {*CLASSES})
    rows = [*DEFINITIONS, *((label_of(skill).capitalize(), (skill,), None) for skill in own)]
    known = not tags.is_empty()
    found = []
    for label, skills, definition in rows:
        needing = placed.filter(pl.col("skill").is_in(skills))
        found.append(
            {
                "skill": label,
                "kinds": ", ".join(map(label_of, skills)) if len(skills) > 1 else None,
                "definition": definition,
                "samples": needing["id"].n_unique() if known else None,
                "groups": needing["group"].n_unique() if known else None,
                "example": _example(needing, label, seed),
            }
        )
    texts = ("skill", "kinds", "definition", "example")
    schema = {name: pl.String if name in texts else pl.Int64 for name in found[0]}
    frame = pl.DataFrame(found, schema=schema)
    shown = frame.with_columns(
        example=pl.Series(
            [
                None if text is None else shorten(" ".join(text.split()), LONGEST_EXAMPLE)
                for text in frame["example"]
            ],
            dtype=pl.String,
        ),
    ).with_columns(pl.col("definition", "example").fill_null(MISSING))
    columns = [
        Column("skill", "Skill"),
        Column("definition", "Definition", inches=2.6),
        Column("example", "Example of the run", inches=2.0),
        Column("samples", "Samples"),
        Column("groups", "Groups"),
    ]
    tagged = TAGGED.format(
        samples=pluralize(placed["id"].n_unique(), "sample"), all=benchmark_groups(groups).height
    )
    return printed(
        frame,
        columns,
        caption=CAPTION.format(tags=tagged if known else UNTAGGED),
        label="naturalbench-8",
        shown=shown,
        small=True,
        summary=pluralize(tags.height, "tag"),
    )


def _example(needing: pl.DataFrame, label: str, seed: int) -> str | None:
    """Return the question of the sample that a hash draws; None where there is none."""
    drawn = min(needing["id"], key=lambda id_: seed_of(seed, "skill", label, id_), default=None)
    return None if drawn is None else str(needing.filter(id=drawn)["question"][0])
