"""What the results page of a Bench-C run shows."""

from benchc.benchmarks.bench_c.settings import Settings
from benchc.rendering.results_page.declaration import LEVEL, Bars, ResultsPage, samples
from benchc.workflow.run import Run

INTERVALS = "tables/intervals.csv"


def results_page(run: Run, settings: Settings) -> ResultsPage:
    """Return the declaration."""
    return ResultsPage(
        purpose="Bench-C selects items on which selector models are inconsistent under corruption, and "
        "measures how the option probabilities of models shift on them: RAS is higher where uncertainty and "
        "calibration error grow less.",
        main_table="table1",
        main_figure="figure6",
        claims="claims",
        bars=[
            _bars("RAS", "ras", chance=0.0),
            _bars("ΔAcc", "delta_acc", chance=0.0),
            Bars(
                label="accuracy on clean images",
                table=INTERVALS,
                value="estimate",
                low="low",
                high="high",
                where={"corruption": None, "metric": "acc_clean", "weighting": "unweighted"},
                chance=LEVEL,
            ),
        ],
        samples=samples(
            {
                "selected": "<results>/selection/selected.parquet",
                "scores": [f"<results>/scores/{id_}.parquet" for id_ in settings.targets],
                "predictions": [
                    f"<results>/predictions/selected/{id_}/{part}.parquet"
                    for id_ in settings.targets
                    for part in run.images.batches
                ],
            },
            groups=run.images.groups,
            severities=settings.corruptions.severities,
        ),
        subset="selected",
        ids=["<results>/subsets/selected.parquet"],
    )


def _bars(label: str, metric: str, chance: float) -> Bars:
    return Bars(
        label=label,
        table=INTERVALS,
        value="estimate",
        low="low",
        high="high",
        where={"corruption": None, "metric": metric, "weighting": "kappa"},
        chance=chance,
    )
