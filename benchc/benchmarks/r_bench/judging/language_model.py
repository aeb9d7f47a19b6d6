"""The judge that is a language model, and how many requests it needs."""

import re
from collections.abc import Iterator, Mapping, Sequence

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.benchmarks.r_bench.judging.judgement import Judgement
from benchc.benchmarks.r_bench.judging.options import JudgeOptions, Reading
from benchc.benchmarks.r_bench.judging.prompts import SCORES, SYSTEM, prompt_of
from benchc.benchmarks.r_bench.tasks import Task
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import Endpoint
from benchc.endpoint.language_model import CHAT, UnusableError, chat_request, reply_text
from benchc.endpoint.recording import request_hash
from benchc.progress import track

# Of "Score-2", the 2; of "Score: -2", no score.
_NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,]\d+)?")
_CAPTIONS = 5  # reference captions of most of the authors' items


def language_model_judge(
    comparisons: Sequence[Comparison], options: JudgeOptions, endpoint: Endpoint
) -> Iterator[list[Judgement]]:
    """Yield the judgements of each comparison: one of a caption and a reference, else ``options.repeats``.

    The repeat is the seed. Equal requests are sent once, such as those of two equal replies. Raises
    EndpointError, and InputError where the server refuses all requests or is not OpenAI-compatible.
    """
    bodies: dict[str, dict[str, object]] = {}
    keys = []
    for comparison in comparisons:
        prompt, number = prompt_of(comparison), repeats_of(comparison.item.task, comparison.kind, options)
        asked = [
            chat_request(options.model, prompt, options.temperature, repeat, SYSTEM)
            for repeat in range(number)
        ]
        keys.append([request_hash("POST", CHAT, body) for body in asked])
        bodies |= zip(keys[-1], asked, strict=True)
    answers = track(
        zip(bodies, endpoint.post_each(CHAT, [*bodies.values()]), strict=True),
        label="judgements",
        unit="replies",
        total=len(bodies),
    )
    replies = {key: _text(answer, options.model) for key, answer in answers}
    for comparison, own in zip(comparisons, keys, strict=True):
        scores = [read_score(replies[key], comparison.item.task, options.reading) for key in own]
        yield [
            Judgement(float(score or 0), score is not None, key)
            for key, score in zip(own, scores, strict=True)
        ]


def read_score(reply: str, task: Task, reading: Reading) -> int | None:
    """Return the score that a judge's reply gives; None where it gives none.

    ``reading``: last_line takes the first number of the last line, last_char the last character, as the
    authors' code does.
    """
    text = reply.strip()
    if reading == "last_char":
        found = text[-1:]
    else:
        number = _NUMBER.search(text.rpartition("\n")[2])
        found = number[0].removesuffix(".0") if number else ""
    return next((score for score in SCORES[task] if found == str(score)), None)


def repeats_of(task: Task, kind: str, options: JudgeOptions) -> int:
    """Return the judgements of a comparison; a caption is judged once against each reference."""
    return 1 if task == "cap" and kind != "com" else options.repeats


def most_requests(
    cells: Mapping[Task, int],
    items: Mapping[Task, int],
    options: JudgeOptions,
    captions: float = _CAPTIONS,
) -> dict[Task, float]:
    """Return the most requests for the judgements of one model, by task.

    Letters and equal requests save some.

    Args:
        cells: items under a corruption at a severity, by task
        items: distinct items, by task, whose replies to reference images are judged once
        options: of the judge; one that is no language model sends none
        captions: mean number of reference captions of an item
    """
    if options.kind != "llm":
        return dict.fromkeys(cells, 0.0)
    return {
        task: (cells[task] + items[task])
        * (captions if task == "cap" else 1)
        * repeats_of(task, "dis", options)
        + cells[task] * repeats_of(task, "com", options)
        for task in cells
    }


def _text(answer: Answer, model: str) -> str:
    try:
        return reply_text(answer, model)
    except UnusableError:
        return ""  # unreadable
