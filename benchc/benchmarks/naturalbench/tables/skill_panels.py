"""Accuracies by skill: panels of G-Acc and Q-Acc, a row for each model and a column for each skill."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, MEASURES
from benchc.benchmarks.naturalbench.published.tables import of_run, published_skills
from benchc.benchmarks.naturalbench.scored import RunScores
from benchc.benchmarks.naturalbench.skills import skills_in, tagged_questions
from benchc.benchmarks.naturalbench.tables.frames import (
    HEADERS,
    READINGS,
    chance_rows,
    columns_of,
    labels_of,
    resampled,
)
from benchc.rendering.chance import ORDER, Standings
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

SHOWN = ("g_acc", "q_acc")
CAPTION = (
    "{measure} by skill ({kinds}), by the reading {reading}, in per cent. A {thing} needs a skill if one of "
    "its samples does; {things} by skill: {counts}." + ORDER
)
NOTE = {
    "g_acc": " The paper's table has these values, under the heading Q-Acc.",
    "q_acc": " Intervals are in the csv file.",
}
THINGS = {"g_acc": ("group", "groups"), "q_acc": ("question", "questions")}


def skill_table(
    scored: RunScores,
    groups: pl.DataFrame,
    tags: pl.DataFrame,
    chance: Standings,
    *,
    kinds: Sequence[str],
    number: int,
    reading: str,
    draws: int,
    seed: int,
) -> Table:
    """Return G-Acc and Q-Acc in per cent by skill of these kinds, one row for each model and skill.

    ``groups``: as GROUPS; ``tags``: as TAGS; ``chance``: of all readings; ``number``: of the paper's table.
    """
    skills = {skill: kind for skill, kind in skills_in(tags).items() if kind in kinds}
    frame = _frame(scored, groups, tags, skills, reading, Resamples(scored.groups.height, draws, seed))
    panels, standings = [], chance.of(reading)
    for measure in SHOWN:
        thing, things = THINGS[measure]
        counts = frame.unique("skill", keep="first", maintain_order=True).select("skill", things)
        caption = CAPTION.format(
            measure=HEADERS[measure],
            kinds=" and ".join(kinds[:2]),
            reading=READINGS.get(reading, reading).lower(),
            thing=thing,
            things=things,
            counts=", ".join(f"{skill} {count:,}" for skill, count in counts.iter_rows()) or "none",
        )
        caption += NOTE[measure] + standings.note
        first = chance_rows({f"skill {skill}": CHANCE[measure] for skill in skills})
        models = frame.with_columns(skill="skill " + pl.col("skill")).pivot(
            "skill", index="model", values=measure
        )
        panels.append(
            printed(
                frame,
                [Column("model", "Model"), *(Column(f"skill {skill}", skill, digits=1) for skill in skills)],
                caption=caption,
                label=f"naturalbench-{number}-{measure.replace('_acc', '')}",
                shown=pl.concat(
                    [first, models.with_columns(standings.marked(models["model"]))], how="diagonal"
                ),
                references=first.height,
                small=True,
            )
        )
    published = of_run(
        published_skills().filter(table=number), labels_of(scored) if reading == "decoding" else {}
    )
    compared = compare_with_published(frame, published, on=["model", "skill"], values={"g_acc": "score"})
    summary = f"{resampled(scored, draws)}"
    markdown, latex = ("\n".join(getattr(panel, form) for panel in panels) for form in ("markdown", "latex"))
    return Table(frame, markdown, latex, compared, summary)


def _frame(
    scored: RunScores,
    groups: pl.DataFrame,
    tags: pl.DataFrame,
    skills: dict[str, str],
    reading: str,
    resamples: Resamples,
) -> pl.DataFrame:
    shown = groups["group"].unique(maintain_order=True).is_in(scored.groups["group"].implode()).to_numpy()
    tagged = {skill: needed[shown] for skill, needed in tagged_questions(groups, tags).items()}
    schema = {"model": pl.String, "kind": pl.String, "skill": pl.String} | dict.fromkeys(
        [thing for _, thing in THINGS.values()], pl.Int64
    )
    none = pl.DataFrame(
        schema=schema | {f"{m}{end}": pl.Float64 for m in SHOWN for end in ("", "_low", "_high")}
    )
    if not skills:
        return none
    questions = np.stack([tagged[skill] for skill in skills], axis=-1)  # [groups, 2, skills]
    whole = questions.max(axis=1)
    g_acc = MEASURES.index("g_acc")
    parts = [none]
    for id_, label in labels_of(scored).items():
        of_groups = scored.values(id_, reading)[:, g_acc, None] * whole
        of_questions = (scored.questions(id_, reading)[:, :, None] * questions).sum(axis=1)
        parts.append(
            pl.DataFrame(
                {
                    "model": [label] * len(skills),
                    "kind": [*skills.values()],
                    "skill": [*skills],
                    "groups": whole.sum(axis=0).astype(np.int64),
                    "questions": questions.sum(axis=(0, 1)).astype(np.int64),
                    **columns_of(resamples.means(of_groups, whole), ["g_acc"]),
                    **columns_of(resamples.means(of_questions, questions.sum(axis=1)), ["q_acc"]),
                }
            )
        )
    return pl.concat(parts)
