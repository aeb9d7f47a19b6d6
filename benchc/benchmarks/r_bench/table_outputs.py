"""The tables of a run of R-Bench."""

from collections.abc import Mapping

from benchc.benchmarks.r_bench.settings import Settings
from benchc.rendering.declaration import Output, in_order_of, table
from benchc.workflow.run import Run

POOL = "<results>/pool/items.parquet"
REFERENCES = "<results>/pool/references.parquet"
TASKS = "<results>/pool/tasks.parquet"
ASSIGNMENT = "<results>/pool/assignment.parquet"
CHANCE = "<results>/tables/chance.csv"
SCORES = "<results>/scores/{}.parquet"
JUDGEMENTS = "<results>/judge_scores/{}.parquet"
PEOPLE = "<results>/people/scores.parquet"
PUBLISHED = "benchc/benchmarks/r_bench/published/{}.csv"
ALL_FORMATS = ("csv", "md", "tex", "published")
# Tables that have all models.
WITH_MODELS = ("chance", "table3_absolute", "table3_relative", "table4", "retention", "judge_agreement")


def table_outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of figures."""
    published = [PUBLISHED.format(name) for name in ("table3_absolute", "table3_relative", "table4")]
    scores = [SCORES.format(id_) for id_ in labels]
    judged = [JUDGEMENTS.format(id_) for id_ in labels if id_ not in settings.judgements_from]
    same_replies = [
        [one.replies_of, id_] for id_, one in settings.judgements_from.items() if one.replies_of is not None
    ]
    bootstrap = settings.tables.bootstrap
    resampling = {"draws": bootstrap.draws, "seed": bootstrap.seed}
    scored = {"scores": scores, "chance": CHANCE}
    pairs = {"assignment": ASSIGNMENT, "tasks": TASKS}
    intervals = (
        f"In brackets: 95 % percentile intervals from {bootstrap.draws} resamples of the items, the same for "
        "all models; replies to distorted and reference images are drawn together."
    )
    every = [
        table(
            "chance",
            "the models and chance",
            inputs={"scores": scores, "pool": POOL, "references": REFERENCES},
            settings={"labels": labels, "rank_below_chance": settings.tables.ranking.below_chance}
            | resampling,
            caption=f"""
            **Which models are above chance** (not in the paper): whether the 95 % interval of their score on
            reference images, from {bootstrap.draws} resamples of the items, lies above chance. In MCQ this is
            a random option and the best letter, in VQA the best answer to all questions by equal words.
            Captions have none, as the score of a caption to all images depends on the judge. Unless
            `tables.ranking.below_chance` is set, models that are above chance in neither task have no rank.
            They are marked † in tables.
            """,
        ),
        table(
            "table2",
            "Table 2",
            inputs=pairs | {"features": "<results>/image_features.parquet"},
            settings={"dimensions": settings.corruptions.types},
            caption="""
            **Table 2** of the paper. The dimensions of corruption of this run by step, with their low-level
            group, and how many pairs of a reference and a distorted image there are by task and by strength;
            of how many both images are equal.
            Stand-ins for what the authors photographed have a star (*).
            """,
        ),
        *(
            table(
                f"table3_{half}",
                f"Table 3, {half}",
                inputs=scored,
                settings={"labels": labels} | resampling,
                formats=ALL_FORMATS,
                data=[PUBLISHED.format(f"table3_{half}")],
                caption=f"""
                **Table 3** of the paper, its {place} half. {formula} By task and strength, in [0, 1], higher
                is better. Overall is the mean over all pairs. The best score of a column is in bold, the
                second in italics. {intervals} table3_{half}_published.csv has the paper's values, of its
                pairs and judge, beside ours; exchanged strengths (docs/decisions.md) are in place.
                """,
            )
            for half, place, formula in (
                (
                    "absolute",
                    "upper",
                    "Absolute robustness R_a: the mean score of replies to distorted images (equation 1).",
                ),
                (
                    "relative",
                    "lower",
                    "Relative robustness R_r: the mean of the score of the reply to the reference image, "
                    "times that of the reply to the distorted image against it (equation 2).",
                ),
            )
        ),
        table(
            "table4",
            "Table 4",
            inputs=scored | {"people": [PEOPLE] if settings.people else []},
            settings={"labels": labels} | resampling,
            formats=ALL_FORMATS,
            data=[PUBLISHED.format("table4")],
            caption=f"""
            **Table 4** of the paper, for all models: absolute robustness R_a by task, strength, step and
            group, after that of people, as published and, where their answers are given (`people`), of this
            run: the mean over people without the best and the worst. 95 % percentile intervals from
            {bootstrap.draws} resamples of the items are in the csv file. table4_published.csv has the
            paper's values of GPT-4o, of its pairs and judge, beside ours.
            """,
        ),
        table(
            "rank",
            "the ranking",
            inputs=scored,
            settings={"labels": labels} | resampling,
            formats=ALL_FORMATS,
            data=published[:2],
            caption=f"""
            **Ranking** by the mean of absolute and relative robustness over all pairs, 1 is the most robust.
            Stability is the share of resamples in which the rank is the same. {intervals} rank_published.csv
            has the same computed from the paper's Table 3 beside ours.
            """,
        ),
        table(
            "means",
            "all means",
            inputs={"scores": scores},
            settings={"labels": labels} | resampling,
            formats=["csv"],
            caption="""
            **Means** of each model over all pairs, and by task, strength, cell of Table 3, step, group and
            dimension: R_a (absolute), R_r (relative) and the score on reference images (ref), with 95 %
            percentile intervals.
            """,
        ),
        table(
            "composition",
            "the composition",
            inputs=pairs | {"pool": POOL},
            settings={"by": "l2_category" if settings.pairs == "released" else "source"},
            caption="""
            **Composition** of the benchmark: its items, and the pairs of a reference and a distorted image by
            source, task and strength.
            """,
        ),
        table(
            "claims",
            "the paper's claims",
            inputs=scored,
            settings={"labels": labels},
            data=published,
            caption="""
            **Claims** of section 4.3 of the paper, with criteria of ours, what the paper's own tables show of
            them, and the verdict on the ranked models of this run.
            """,
        ),
        table(
            "effect",
            "the effect of each dimension",
            inputs=scored,
            settings={"labels": labels} | resampling,
            caption=f"""
            **Effect of each dimension** (not in the paper): the score of the reply to the reference image
            minus that of the reply to the distorted one, of the same items, as a mean over the ranked models,
            or over all if none is. R_a mixes the ability of a model with its robustness; this is the loss
            alone. {intervals}
            effect.csv has each model.
            """,
        ),
        table(
            "retention",
            "retention and worst case",
            inputs=scored,
            settings={"labels": labels} | resampling,
            caption="""
            **Retention and worst case** (not in the paper): the share of its score on reference images that
            each model keeps on distorted ones, over all pairs and in the dimension where it keeps least, and
            the lowest R_a of a dimension.
            """,
        ),
        table(
            "judge_agreement",
            "the agreement of judges",
            inputs={"judgements": judged, "scores": scores},
            settings={"labels": labels, "same_replies": same_replies} | resampling,
            caption="""
            **Reliability of the judges** (not in the paper): agreement and kappa of repeated judgements of
            one reply, of the judge and the letter of a reply, and of two judges of the same replies
            (`judgements_from.*.replies_of`), with the share of judgements that have no score.
            """,
        ),
        table(
            "judge_ranks",
            "ranks by other readings of the judge",
            inputs={"judgements": judged, "chance": CHANCE},
            settings={"labels": labels},
            caption="""
            **How many ranks depend on the judge** (not in the paper): scores and ranks by each repeat alone,
            and by the letters of MCQ in place of a judge.
            """,
        ),
    ]
    return in_order_of("models", every, WITH_MODELS)
