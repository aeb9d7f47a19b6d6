"""The cube explorer: heat maps by severity, capability and corruption, and the samples behind a cell."""

import base64
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import label_of
from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.metrics.marginals import (
    ALL,
    capability_groups,
    columns_of,
    corruption_groups,
    marginals,
)
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, RunOutcomes, check_models, few_pictures
from benchc.benchmarks.mllm_ic.schemas.samples import SAMPLES
from benchc.command_line import PositiveInt
from benchc.corruptions.recipe import CLEAN
from benchc.letters import LETTERS
from benchc.pluralize import pluralize
from benchc.rendering.data_page import data_page
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL

UNIT = 10_000  # of an accuracy of 1, in the page


def cube_explorer(
    run: RunFiles,
    samples: Path,
    pool: Path,
    labels: dict[str, str],
    categories: dict[str, str],
    levels: dict[str, str],
    draws: PositiveInt,
    seed: int,
) -> str:
    """Return the page, one HTML file that needs no network.

    ``samples``: samples.parquet; ``pool``: pool/items.parquet.
    """
    check_models(run, labels)
    corruptions, capabilities = corruption_groups(run, categories, levels), capability_groups(run)
    columns = columns_of(run, corruptions)
    weights = np.stack([own for _, own in capabilities])
    values = np.stack([marginals(run, id_, columns, weights, draws, seed) for id_ in labels])
    pictures: dict[bytes, int] = {}
    questions = pluralize(run.items.height, "question")
    shown = pluralize(run.items["picture"].n_unique(), "picture")
    content = {
        "models": [*labels.values()],
        "corruptions": [
            {"kind": each.kind, "name": _corruption(each.name), "members": each.members.tolist()}
            for each in corruptions
        ],
        "capabilities": [
            {
                "kind": each.kind,
                "name": "All capabilities" if each.kind == ALL else label_of(each.name),
                "members": each.members.tolist(),
            }
            for each, _ in capabilities
        ],
        "severities": list(run.severities),
        "questions": run.questions.tolist(),
        "unit": UNIT,
        # [models, columns, capabilities, 5], as marginals returns them.
        "values": base64.b64encode(np.rint(UNIT * values).astype("<i2").tobytes()).decode(),
        "draws": draws,
        "counts": f"This run has {questions} about {shown}.{few_pictures(run)}",
        "samples": _samples(run, read_table(samples, SAMPLES), pool, [*labels], pictures),
    }
    return "".join(data_page(__package__, "cube_explorer.html", lambda: content, pictures))


def _corruption(name: str) -> str:
    return "All corruptions" if name == ALL else corruption_label(name)


def _samples(
    run: RunOutcomes, rows: pl.DataFrame, pool: Path, models: list[str], pictures: dict[bytes, int]
) -> list[dict[str, object]]:
    """Return the questions of the samples, with the numbers of their ``pictures``, to which it adds."""
    items = {
        row["id"]: row
        for row in read_table(pool, POOL, ["id", "question", "options", "answer"])
        .filter(pl.col("id").is_in(rows["id"].implode()))
        .iter_rows(named=True)
    }
    place = {id_: number for number, id_ in enumerate(run.items["id"])}
    corruption = {name: number for number, name in enumerate(run.corruptions)}
    found = []
    for (id_,), own in rows.group_by("id", maintain_order=True):
        item, number = items[str(id_)], place[str(id_)]
        shown: dict[int, dict[int, int]] = {}
        clean = 0
        for row in own.iter_rows(named=True):
            picture = pictures.setdefault(row["picture"]["bytes"], len(pictures))
            if row["corruption"] == CLEAN:
                clean = picture
            else:
                shown.setdefault(corruption[row["corruption"]], {})[row["severity"]] = picture
        found.append(
            {
                "id": id_,
                "capability": int(run.capability[number]),
                "question": item["question"],
                "options": [
                    f"{letter}. {text}" for letter, text in zip(LETTERS, item["options"], strict=False)
                ],
                "answer": item["answer"],
                "clean": clean,
                "pictures": shown,
                # One digit for each scenario: its code (schemas/outcomes.py).
                "outcomes": ["".join(map(str, run.codes[id_][number].tolist())) for id_ in models],
            }
        )
    return found
