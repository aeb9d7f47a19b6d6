"""A small run up to its replies: three tasks, one cell an item, one model."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.letters import LETTERS
from benchc.schemas.answers import ANSWERS
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.footer import ImageFooter
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.references import REFERENCES
from tests.benchmarks.made import frame_of
from tests.footers import footer_of


class Pair(NamedTuple):
    """An item under one distortion, and its two replies."""

    name: str
    task: str
    question: str
    options: Sequence[str]
    truths: Sequence[str]
    dis: str
    ref: str
    corruption: str = "jpeg"
    severity: int = 2


PAIRS = [
    Pair("a", "mcq", "What is it?", ["a dog", "a cat"], ["B"], "B", "A. a dog"),
    Pair("b", "mcq", "Which one?", ["red", "blue"], ["A"], "It looks red.", "A", severity=3),
    Pair("c", "vqa", "Where is it?", [], ["on the table"], "on table", "a table on the left side of it"),
    Pair("d", "cap", "Describe it.", [], ["A dog runs.", "A dog on grass."], "a dog", "a cat sleeps"),
]


def written(folder: Path, pairs: Iterable[Pair] = PAIRS) -> dict[str, Any]:
    """Write the files that a job judges; return them by argument, with the other arguments."""
    pairs = list(pairs)
    items = [
        {
            **dict.fromkeys(POOL.columns),
            **{"id": f"s/{pair.name}", "source": "s", "task": "t", "question": pair.question},
            **{"options": list(pair.options), "category": pair.task, "images": []},
            "answer": LETTERS.index(pair.truths[0]) if pair.options else None,
            "image_keys": [f"s/{pair.name}#0"],
        }
        for pair in pairs
    ]
    write_table(frame_of(POOL, items), folder / "pool.parquet", POOL)
    digest = pool_digest(folder / "pool.parquet", QUESTION_COLUMNS)

    def write(name: str, type_: Any, rows: list[tuple[object, ...]], footer: Any) -> Path:
        write_table(frame_of(type_, rows), folder / name, type_, footer)
        return folder / name

    of_pool = ImageFooter(pool=digest)
    truths = []
    for pair in pairs:
        truth = pair.options[LETTERS.index(pair.truths[0])] if pair.options else pair.truths[0]
        truths.append((f"s/{pair.name}", truth, list(pair.truths) if pair.task == "cap" else []))
    replies: list[tuple[object, ...]] = [
        (f"s/{pair.name}", *cell, reply, "stop", 1, "", "")
        for pair in pairs
        for *cell, reply in (("clean", 0, pair.ref), (pair.corruption, pair.severity, pair.dis))
    ]
    cells = [(f"s/{pair.name}", pair.corruption, pair.severity) for pair in pairs]
    answers = footer_of({"label": "m", "pool": digest, "seed": 0, "alpha": "drop", "answers": len(replies)})
    return {
        "pool": folder / "pool.parquet",
        "references": write("references.parquet", REFERENCES, truths, of_pool),
        "tasks": write("tasks.parquet", TASK_TABLE, [(f"s/{p.name}", p.task) for p in pairs], of_pool),
        "assignment": write("assignment.parquet", ASSIGNMENT, cells, None),
        "answers": [write("m/all.parquet", ANSWERS, replies, answers)],
        "label": "m",
        "corruptions": sorted({pair.corruption for pair in pairs}),
        "severities": [1, 2, 3],
    }


def without_answers(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a stage that reads no replies of a model."""
    return {name: value for name, value in arguments.items() if name != "answers"}
