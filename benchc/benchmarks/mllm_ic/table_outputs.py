"""The tables of a run of MLLM-IC."""

from collections.abc import Mapping

from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.rendering.declaration import TABLE_FORMATS, Output, in_order_of, table
from benchc.workflow.run import Run

OUTCOMES = "<results>/outcomes/{}.parquet"
CAPABILITIES = "<results>/pool/capabilities.parquet"
POOL = "<results>/pool/items.parquet"
CHANCE = "<results>/tables/chance.csv"
PUBLISHED = "benchc/benchmarks/mllm_ic/published/table{}.csv"
# Tables that have all models.
WITH_MODELS = ("chance", "table2", "table3", "severities", "drops", "answer_counts")
AVERAGES = """Overall is the mean over mid-level capabilities, each the mean over its low-level ones.
            Accuracies are in [0, 1] in csv files, and in per cent as printed."""


def table_outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of tables."""
    outcomes = {"outcomes": [OUTCOMES.format(id_) for id_ in labels], "capabilities": CAPABILITIES}
    with_chance = outcomes | {"chance": CHANCE}
    bootstrap = settings.tables.bootstrap
    models = {"labels": labels}
    resampling = models | {"draws": bootstrap.draws, "seed": bootstrap.seed}
    categories = {"categories": run.images.groups}
    intervals = (
        f"In brackets: 95 % percentile intervals from {bootstrap.draws} resamples of the pictures, "
        "capability by capability, the same for all models."
    )
    every = [
        table(
            "chance",
            "the models and chance",
            inputs=outcomes | {"pool": POOL},
            settings=resampling | {"rank_below_chance": settings.tables.ranking.below_chance},
            caption=f"""
            **Which models are above chance** (not in the paper): whether the 95 % interval of their overall
            accuracy on clean images, from {bootstrap.draws} resamples of the pictures, lies above chance: a
            random option, and the letter that is best for all questions. Unless
            `tables.ranking.below_chance` is set, other models have no rank. They are marked † in tables.
            """,
        ),
        table(
            "table1",
            "Table 1",
            inputs=outcomes,
            formats=TABLE_FORMATS,
            data=[PUBLISHED.format(1)],
            caption="""
            **Table 1** of the paper: benchmarks of robustness to corruptions, and this run as one more:
            questions by scenarios, capabilities, corruptions and severities. table1_published.csv has the
            paper's own beside ours.
            """,
        ),
        table(
            "table2",
            "Table 2",
            inputs=with_chance,
            settings=resampling,
            formats=TABLE_FORMATS,
            data=[PUBLISHED.format(2)],
            caption=f"""
            **Table 2** of the paper: accuracy under corruption by mid-level capability, mean over all types
            and severities. {AVERAGES} Further columns have other averages, which do not compare with it, and
            the overall accuracy on clean images. Of ranked models the best value of a column is in bold, the
            second in italics. {intervals} table2_published.csv has the paper's values beside ours.
            """,
        ),
        table(
            "table3",
            "Table 3",
            inputs=with_chance,
            settings=resampling | categories,
            formats=TABLE_FORMATS,
            data=[PUBLISHED.format(3)],
            caption=f"""
            **Table 3** of the paper: overall accuracy by category of corruption, mean over its types and all
            severities. {AVERAGES} The last column is over all types. Of ranked models the best value of a
            column is in bold, the second in italics. {intervals} table3_published.csv has the paper's values
            beside ours; its overall is the mean of the printed categories, weighted by their types.
            """,
        ),
        table(
            "severities",
            "accuracy by severity",
            inputs=with_chance,
            settings=resampling,
            formats=TABLE_FORMATS,
            caption=f"""
            **Accuracy by severity**, the numbers of Figure 4 of the paper: on clean images and at each
            severity, mean over all types, by each average. {AVERAGES} {intervals}
            severities_published.csv has what the paper's text says of four models beside ours.
            """,
        ),
        table(
            "drops",
            "the drop of accuracy",
            inputs=with_chance,
            settings=resampling | categories,
            caption=f"""
            **Drop of accuracy** (not in the paper): clean minus corrupted, in points, by mid-level capability
            and overall by category of corruption. A model near chance has little to lose. {intervals}
            """,
        ),
        table(
            "answer_counts",
            "answers without an option, and ties",
            inputs=outcomes,
            settings=models,
            caption="""
            **Answers without an option, and ties** (not in the paper): refused answers, and those in words
            that name no option, are wrong; of tied options the first counts.
            """,
        ),
        table(
            "claims",
            "the paper's claims",
            inputs=with_chance,
            settings=resampling | categories,
            data=[PUBLISHED.format(2), PUBLISHED.format(3)],
            caption=f"""
            **Claims** of section 4 of the paper, with criteria of ours, on the ranked models. A claim holds
            if the whole 95 % interval, from {bootstrap.draws} resamples of the pictures, meets its criterion,
            does not if none of it does, and cannot be told otherwise.
            """,
        ),
        table(
            "rank_swaps",
            "rank swaps",
            inputs=with_chance,
            settings=resampling,
            caption=f"""
            **Rank swaps** (not in the paper): the pairs of ranked models that overall accuracy on clean and
            on corrupted images orders differently, with bootstrap p values after Holm's correction.
            {intervals}
            """,
        ),
        table(
            "redundancy",
            "redundant types of corruption",
            inputs=with_chance,
            settings=resampling | categories,
            caption=f"""
            **Redundancy of the types of corruption** (not in the paper): the rank correlation of the ranked
            models' accuracies under each type with those under all types, and the smallest of growing subsets
            of types that keeps the ranking of these models. With fewer than five ranked models, rank
            correlations mean nothing and are left out. redundancy.csv has the correlation of each two types.
            {intervals}
            """,
        ),
    ]
    return in_order_of("models", every, WITH_MODELS)
