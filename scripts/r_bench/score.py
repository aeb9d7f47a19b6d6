"""Score the items of one model by its judgements."""

from pathlib import Path

from benchc.benchmarks.r_bench.metrics.item_scores import item_scores
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES, JudgeScoresFooter
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.schemas.parquet import read_footer, read_table, write_table


def score(*, judge_scores: Path, output: Path) -> None:
    """Score the items of one model by its judgements (equations 1 and 2 of the paper).

    Args:
        judge_scores: judge_scores/{model}.parquet
        output: scores/{model}.parquet to write
    """
    table = item_scores(read_table(judge_scores, JUDGE_SCORES), judge_scores)
    write_table(table, output, SCORES, JudgeScoresFooter(**read_footer(judge_scores)))  # type: ignore[arg-type]
