"""The pair explorer: reference and distorted images side by side, with replies, judgements and scores."""

from collections.abc import Sequence
from pathlib import Path

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS, STRENGTHS, dimension
from benchc.benchmarks.r_bench.examples import Answer, Example, judge_note, read_examples
from benchc.benchmarks.r_bench.names import named
from benchc.benchmarks.r_bench.tasks import TASK_LABELS
from benchc.rendering.data_page import data_page


def pairs(
    pairs: Path,
    pool: Path,
    references: Path,
    answers: list[Path],
    judge_scores: list[Path],
    scores: list[Path],
    labels: dict[str, str],
) -> str:
    """Return the page, one HTML file that needs no network."""
    return pairs_page(
        read_examples(pairs, pool, references, answers, judge_scores, scores, labels),
        [*labels.values()],
        judge_note(scores),
    )


def pairs_page(examples: Sequence[Example], models: Sequence[str], note: str = "") -> str:
    """Return the page of ``examples``, with the answers of ``models``; ``note``: on their judge."""
    numbers: dict[bytes, int] = {}
    content = {
        "models": models,
        "note": note,
        "tasks": TASK_LABELS,
        "strengths": {str(number): name for number, name in STRENGTHS.items()},
        "dimensions": _dimensions(examples),
        "rows": [
            {
                "id": example.id,
                "task": example.task,
                "dimension": example.corruption,
                "strength": str(example.severity),
                "question": example.question,
                "options": example.options,
                "truths": example.truths,
                "images": [
                    numbers.setdefault(image, len(numbers))
                    for image in (example.reference, example.distorted)
                ],
                "answers": [_answer(answer) for answer in example.answers],
            }
            for example in examples
        ],
    }
    return "".join(data_page("benchc.benchmarks.r_bench.pages", "pairs.html", lambda: content, numbers))


def _dimensions(examples: Sequence[Example]) -> dict[str, str]:
    """Return the names of the dimensions, with number, step and group, in the order of their numbers."""
    found = sorted({dimension(example.corruption) for example in examples}, key=lambda one: one.number)
    return {
        one.name: f"{named(one.name)} ({STEP_LABELS[one.step]}, {GROUP_LABELS[one.group]})" for one in found
    }


def _answer(answer: Answer) -> dict[str, object]:
    return {
        "model": answer.model,
        "replies": [answer.reference, answer.distorted],
        "judgements": answer.judgements,
        **answer.scores,
    }
