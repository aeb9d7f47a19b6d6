"""What the results page of a run of MLLM-IC shows."""

from collections.abc import Mapping

from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.rendering.results_page.declaration import LEVEL, Bars, ResultsPage, samples
from benchc.workflow.judges import judged
from benchc.workflow.run import Run


def results_page(run: Run, settings: Settings, labels: Mapping[str, str], words: list[str]) -> ResultsPage:
    """Return the declaration.

    ``labels``: of all models by id, in the order of tables; ``words``: the ids of those that answer in words.
    """
    by_logits = [id_ for id_ in settings.models if id_ not in words]
    return ResultsPage(
        purpose="MLLM-IC measures how accurately models answer under many corruptions, by capability.",
        main_table="table1",
        main_figure="figure4",
        claims="claims",
        bars=[
            Bars(
                label="accuracy lost under corruption",
                table="tables/drops.csv",
                value="overall",
                low="overall_low",
                high="overall_high",
                better="lower",
                chance=0.0,
            ),
            Bars(
                label="accuracy on clean images",
                table="tables/chance.csv",
                value="accuracy",
                low="accuracy_low",
                high="accuracy_high",
                chance=LEVEL,
            ),
        ],
        samples=samples(
            {
                "capabilities": "<results>/pool/capabilities.parquet",
                "outcomes": [f"<results>/outcomes/{id_}.parquet" for id_ in labels],
                "predictions": [
                    f"<results>/predictions/questions/{id_}/{part}.parquet"
                    for id_ in by_logits
                    for part in run.images.batches
                ],
                "answers": [
                    f"<results>/answers/questions/{id_}/{part}.parquet"
                    for id_ in words
                    for part in run.images.batches
                ],
                "judgements": judged("judge_options", "questions", words),
            },
            labels=labels,
            groups=run.images.groups,
        ),
        subset="questions",
        ids=["<results>/subsets/questions.parquet"],
    )
