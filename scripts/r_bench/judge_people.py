"""Judge the answers of people, for the human row of Table 4."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.judging.comparisons import read_items, wanted_cells
from benchc.benchmarks.r_bench.judging.judgement import judged
from benchc.benchmarks.r_bench.judging.judges import footer_of, open_judge, report
from benchc.benchmarks.r_bench.judging.options import JudgeOptions
from benchc.benchmarks.r_bench.judging.people import people_comparisons, people_scores
from benchc.benchmarks.r_bench.metrics.item_scores import kind_scores
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.command_line import PositiveInt
from benchc.endpoint.service import Service
from benchc.models.hub.offline import work_offline
from benchc.schemas.assignment import read_assignment
from benchc.schemas.parquet import write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest


def judge_people(
    *,
    pool: Path,
    references: Path,
    tasks: Path,
    assignment: Path,
    people: list[Path],
    corruptions: list[str],
    severities: list[PositiveInt],
    judge: JudgeOptions | None = None,
    scores: Path | None = None,
    service: Service | None = None,
    threads: PositiveInt = 1,
    output: Path,
) -> None:
    """Judge the answers of people to distorted images, by the judge of the models.

    The mean is without the person with the highest score over all items and the one with the lowest.

    Args:
        pool: pool/items.parquet
        references: pool/references.parquet
        tasks: pool/tasks.parquet
        assignment: pool/assignment.parquet
        people: CSV files with id and answer, one a person, at least three
        corruptions: that people were shown
        severities: of each corruption
        judge: who judges; default: gpt-3.5-turbo
        scores: CSV file of human scores, whose model is the name of a person's file without its ending
        service: how the language model is reached
        threads: of the CPU
        output: people/scores.parquet to write
    """
    work_offline()
    judge, service = judge or JudgeOptions(), service or Service()
    cells = wanted_cells(read_assignment(assignment, dict.fromkeys(corruptions, severities)))
    items = read_items(pool, references, tasks)
    tables = []
    for path in people:
        compared = people_comparisons(path, cells, items)
        with open_judge(judge, service, scores, path.stem, threads, compared) as judging:
            tables.append(judged(compared, judging, judge.kind, always=judge.always))
        report(tables[-1], path.stem)
    found = [kind_scores(table).rename({"score": "s_dis"}).drop("kind") for table in tables]
    facts = {"pool": pool_digest(pool, QUESTION_COLUMNS)}
    footer = footer_of(pl.concat(tables), judge, service, "people", facts)
    write_table(people_scores(found), output, SCORES, footer)
