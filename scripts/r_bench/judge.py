"""Judge the replies of one model."""

from pathlib import Path

from benchc.benchmarks.r_bench.judging.comparisons import (
    comparisons,
    read_items,
    replies_of_file,
    replies_of_run,
)
from benchc.benchmarks.r_bench.judging.judgement import judged
from benchc.benchmarks.r_bench.judging.judges import footer_of, open_judge, report
from benchc.benchmarks.r_bench.judging.options import JudgeOptions
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.command_line import PositiveInt
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.models.hub.offline import work_offline
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import check_predictions


def judge(
    *,
    pool: Path,
    references: Path,
    tasks: Path,
    assignment: Path,
    answers: list[Path],
    imported: Path | None = None,
    label: str,
    corruptions: list[str],
    severities: list[PositiveInt],
    judge: JudgeOptions | None = None,
    scores: Path | None = None,
    service: Service | None = None,
    threads: PositiveInt = 1,
    output: Path,
) -> None:
    """Judge the replies of one model: against the truth, and those to distorted images against the others.

    A reply to options that is a letter needs no judge. In mode record, a killed job continues with the
    replies of the language model that it has.

    Args:
        pool: pool/items.parquet
        references: pool/references.parquet
        tasks: pool/tasks.parquet
        assignment: pool/assignment.parquet
        answers: answers/{subset}/{model}/{part}.parquet of the model
        imported: CSV file with its answers, in place of these
        label: id of the model
        corruptions: of the answers, beside clean
        severities: of each corruption
        judge: who judges; default: gpt-3.5-turbo
        scores: CSV file of human scores
        service: how the language model is reached
        threads: of the CPU
        output: judge_scores/{model}.parquet to write
    """
    work_offline()
    if bool(answers) == (imported is not None):
        raise InputError("--answers and --imported: one is needed; give the other none")
    judge, service = judge or JudgeOptions(), service or Service()
    items = read_items(pool, references, tasks)
    cells = read_assignment(assignment, dict.fromkeys(corruptions, severities))
    facts = check_predictions(answers, pool)
    replies = replies_of_file(imported, cells) if imported else replies_of_run(answers, cells)
    compared = [*comparisons(replies, items)]
    with open_judge(judge, service, scores, label, threads, compared) as judging:
        table = judged(compared, judging, judge.kind, always=judge.always)
    report(table, label)
    write_table(table, output, JUDGE_SCORES, footer_of(table, judge, service, label, facts))
