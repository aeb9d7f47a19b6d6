"""What the results page of a run of VQA-robustness shows."""

from collections.abc import Mapping

from benchc.benchmarks.vqa_robustness.settings import Settings
from benchc.rendering.results_page.declaration import LEVEL, Bars, ResultsPage, samples
from benchc.workflow.judges import judged
from benchc.workflow.run import Run

VRE = "tables/vre_model.csv"


def results_page(run: Run, settings: Settings, labels: Mapping[str, str]) -> ResultsPage:
    """Return the declaration; ``labels``: of all models by id, in the order of figures."""
    return ResultsPage(
        purpose="VQA-robustness measures how the errors of models on open questions grow with the level of "
        "each corruption. VRE is the weighted mean of five scaled metrics of this growth: low is robust.",
        main_table="vre_model",
        main_figure="figure_heatmap",
        bars=[
            Bars(label="VRE", table=VRE, value="vre", low="vre_low", high="vre_high", better="lower"),
            Bars(
                label="accuracy on clean images",
                table=VRE,
                value="accuracy",
                low="accuracy_low",
                high="accuracy_high",
                chance=LEVEL,
            ),
        ],
        samples=samples(
            {
                "grades": judged("judge_short_answers", "pool", labels),
                "references": "<results>/pool/references.parquet",
            },
            labels=labels,
            grade=settings.grade,
            groups=run.images.groups,
            severities=settings.corruptions.severities,
        ),
    )
