"""What the results page of a run of R-Bench shows."""

from collections.abc import Mapping

from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.rendering.results_page.declaration import Bars, ResultsPage, samples
from benchc.workflow.run import Run


def results_page(run: Run, settings: Settings, labels: Mapping[str, str]) -> ResultsPage:
    """Return the declaration; ``labels``: of all models by id, in the order of figures."""
    return ResultsPage(
        purpose="R-Bench measures how well free answers about a distorted image agree with the truth "
        "(absolute robustness R_a), and with the answer about the reference image (relative robustness R_r). "
        "A judge grades the answers.",
        main_table="rank",
        main_figure="figure4bc",
        claims="claims",
        bars=[
            _bars("mean of R_a and R_r", "score"),
            _bars("R_a", "absolute"),
            _bars("R_r", "relative"),
        ],
        samples=samples(
            {
                "tasks": "<results>/pool/tasks.parquet",
                "references": "<results>/pool/references.parquet",
                "answers": [
                    f"<results>/answers/{task}/{id_}/{part}.parquet"
                    for task in TASKS
                    for id_ in settings.models
                    for part in run.images.batches
                ],
                "judge_scores": [
                    f"<results>/judge_scores/{id_}.parquet"
                    for id_ in labels
                    if id_ not in settings.judgements_from
                ],
                "scores": [f"<results>/scores/{id_}.parquet" for id_ in labels],
            },
            labels=labels,
            groups=run.images.groups,
            severities=settings.corruptions.severities,
        ),
        subset="mcq",
        ids=[f"<results>/subsets/{task}.parquet" for task in TASKS],
    )


def _bars(label: str, value: str) -> Bars:
    return Bars(label=label, table="tables/rank.csv", value=value, low=f"{value}_low", high=f"{value}_high")
