"""What the results page of a run of NaturalBench shows."""

from collections.abc import Mapping, Sequence

from benchc.benchmarks.naturalbench.settings import Settings
from benchc.rendering.results_page.declaration import Bars, ResultsPage, samples
from benchc.workflow.run import Run

GROUPS = "<results>/pool/groups.parquet"


def results_page(
    run: Run,
    settings: Settings,
    predictions: Mapping[str, Sequence[str]],
    answers: Mapping[str, Sequence[str]],
) -> ResultsPage:
    """Return the declaration; ``predictions``, ``answers``: the files of each model that has some, by id."""
    purpose = (
        "NaturalBench measures how often models answer two questions about each of two images right, whose "
        "answers alternate, so that a model has to look at the images. G-Acc: all four answers are right."
    )
    if not settings.models:
        return ResultsPage(purpose=purpose, main_figure="figure3", main_table="curation")
    return ResultsPage(
        purpose=purpose,
        main_table="table1",
        main_figure="figure_readings",
        chance_of={"reading": settings.table_reading},
        bars=[
            _bars("G-Acc, %", "g_acc", 6.25),
            _bars("Q-Acc, %", "q_acc", 25.0),
            _bars("I-Acc, %", "i_acc", 25.0),
        ],
        samples=samples(
            {
                "groups": GROUPS,
                "scores": [f"<results>/scores/{id_}.parquet" for id_ in settings.models],
                "predictions": [file for files in predictions.values() for file in files],
                "answers": [file for files in answers.values() for file in files],
            },
            reading=settings.table_reading,
            corruption_groups=run.images.groups,
            severities=settings.corruptions.severities if settings.corruptions.types else [],
        ),
        subset="groups",
        ids=["<results>/subsets/groups.parquet"],
        sample_of=GROUPS,
    )


def _bars(label: str, value: str, chance: float) -> Bars:
    return Bars(
        label=label,
        table="tables/table1.csv",
        value=value,
        low=f"{value}_low",
        high=f"{value}_high",
        chance=chance,
        digits=1,
    )
