"""The judge of a run, and the footer and warnings of its judgements."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.benchmarks.r_bench.judging.human import human_judge, read_people
from benchc.benchmarks.r_bench.judging.judgement import Judge
from benchc.benchmarks.r_bench.judging.language_model import language_model_judge
from benchc.benchmarks.r_bench.judging.options import JudgeOptions
from benchc.benchmarks.r_bench.judging.prompts import prompts_hash
from benchc.benchmarks.r_bench.judging.rule import rule_judge
from benchc.benchmarks.r_bench.schemas.judge_scores import JudgeScoresFooter
from benchc.endpoint.language_model import opened
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.pluralize import pluralize

MOST_UNREADABLE = 0.01  # share of judgements without a score from which there is a warning
FEWEST_EQUAL = 20  # readable scores of a language model, all the same, from which there is a warning


@contextmanager
def open_judge(
    options: JudgeOptions,
    service: Service,
    scores: Path | None,
    label: str,
    threads: int,
    known: Sequence[Comparison],
) -> Iterator[Judge]:
    """Yield the judge of a run.

    Args:
        options: who judges
        service: of a language model
        scores: CSV file of human scores
        label: id of the model whose replies are judged, by which human scores are found
        threads: of the encoder of the judge rule
        known: all comparisons of the model, also those that a letter decides, which may have human scores
    """
    match options.kind:
        case "llm":
            with opened(service) as endpoint:
                yield lambda comparisons: language_model_judge(comparisons, options, endpoint)
        case "human":
            if scores is None:
                raise InputError("--scores is needed by --judge.kind=human; give the CSV file of scores")
            people = read_people(scores, label)
            yield lambda comparisons: human_judge(comparisons, people, scores, label, known)
        case "rule":
            yield lambda comparisons: rule_judge(
                comparisons, lambda texts: _encode(options.encoder, texts, threads)
            )


def footer_of(
    table: pl.DataFrame, options: JudgeOptions, service: Service, label: str, facts: Mapping[str, Any]
) -> JudgeScoresFooter:
    """Return the footer of rows of JUDGE_SCORES; ``facts``: of the answers."""
    found: dict[str, Any] = {}
    match options.kind:
        case "llm":
            found = {
                "judge_model": options.model,
                "temperature": options.temperature,
                "prompts": prompts_hash(),
                "reading": options.reading,
                "url": service.asked_at,
            }
        case "rule":
            found = {"encoder": options.encoder}
    return JudgeScoresFooter(
        label=label,
        judge=options.kind,
        judgements=table.filter(pl.col("judge") != "letter").height,
        unreadable=int((~table["readable"]).sum()),
        **found,
        **facts,
    )


def report(table: pl.DataFrame, label: str) -> None:
    """Print how many judgements there are, and warn of unreadable ones and of one score for a whole task."""
    letters = int((table["judge"] == "letter").sum())
    print(f"{label}: {pluralize(table.height, 'judgement')}, {letters:,} by letters", file=sys.stderr)
    bad = table.filter(~pl.col("readable"))
    if bad.height:
        share = bad.height / (table.height - letters)
        word = "warning" if share > MOST_UNREADABLE else "note"
        print(
            f"{word}: {label}: {pluralize(bad.height, 'judgement')} ({share:.1%}) without a readable score, "
            f"counted as 0, the first in the recording {bad['request_key'][0]}",
            file=sys.stderr,
        )
    scores = table.filter(pl.col("readable") & (pl.col("judge") == "llm")).group_by(
        "task", maintain_order=True
    )
    for task, count, least, most in scores.agg(
        pl.len(), pl.min("score").alias("least"), pl.max("score").alias("most")
    ).iter_rows():
        if least == most and count >= FEWEST_EQUAL:
            print(
                f"warning: {label}: the judge gives {least:g} in all {count:,} judgements of {task}; read "
                "some in the recording",
                file=sys.stderr,
            )


def _encode(name: str, texts: Sequence[str], threads: int) -> Any:
    # Imported here because only this judge needs torch, which takes seconds.
    from benchc.models.encoders.device import prepare
    from benchc.models.encoders.encoders import load_text_encoder

    prepare({"cpu"}, threads)
    return load_text_encoder(name).encode([*texts])
