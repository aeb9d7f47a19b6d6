"""The tables and figures of a NaturalBench run: what each is made of, and the caption in the report."""

from collections.abc import Sequence

from benchc.benchmarks.naturalbench.blind_workflow import ITEMS, BlindSources
from benchc.benchmarks.naturalbench.curation_workflow import CAPTIONS, PAIRS, Curation
from benchc.benchmarks.naturalbench.curation_workflow import GROUPS as RELEASE
from benchc.benchmarks.naturalbench.published.encoders import published_label
from benchc.benchmarks.naturalbench.settings import Retrieval, Settings, Translate
from benchc.benchmarks.naturalbench.translation_workflow import GROUPS as TRANSLATED_GROUPS
from benchc.benchmarks.naturalbench.translation_workflow import QUESTIONS as TRANSLATED_QUESTIONS
from benchc.rendering.declaration import Output, figure, in_order_of, table

POOL = "<results>/pool/items.parquet"
GROUPS = "<results>/pool/groups.parquet"
CHANCE = "<results>/tables/chance.csv"
TAGS = "<results>/pool/tags.parquet"
# Tables and figures that have all models.
WITH_MODELS = (
    "chance",
    *(f"table{number}" for number in (1, 2, 4, 5, 6, 9, 10, 11)),
    "taus",
    "bias",
    "corruption",
    "figure_examples",
    "figure_blind",
    "blind_sources",
    "figure4",
    "figure_readings",
    "figure_corruption",
)
PUBLISHED = "benchc/benchmarks/naturalbench/published"
WITH_PUBLISHED = ["csv", "md", "tex", "published"]


def outputs(
    settings: Settings,
    have_probabilities: Sequence[str],
    curation: Curation | None,
    clean_predictions: Sequence[str],
    *,
    released: Sequence[str] = (),
    blind: BlindSources | None = None,
) -> list[Output]:
    """Return the declarations of the run's tables and figures.

    ``have_probabilities``: the models whose predictions are scored; of the others, answers are read alone.
    ``clean_predictions``: the files of the models with predictions on clean images. ``released``: the sources
    that are the set that the run makes. ``blind``: the part in which models answer other benchmarks.
    """
    every = [
        _chance(settings, clean_predictions),
        *_paper_tables(settings),
        *_facts_of_the_set(settings, curation, released),
        *_more_tables(settings),
        *_figures(settings, have_probabilities),
        *(_blind_sources(settings, blind) if blind else []),
        *(_curation(settings, curation) if curation else []),
        *(_retrieval(settings, settings.retrieval) if settings.retrieval else []),
    ]
    return in_order_of("models", every, WITH_MODELS)


def _chance(settings: Settings, clean_predictions: Sequence[str]) -> Output:
    ranking = settings.tables.ranking
    return table(
        "chance",
        "the models and chance",
        inputs=_scored(settings) | {"predictions": clean_predictions},
        settings=_resampling(settings)
        | {"rank_below_chance": ranking.below_chance, "least_label_mass": ranking.least_label_mass},
        wanted=bool(settings.models),
        caption=f"""
        **Which models are above chance** (not in the paper), for each reading: whether the 95 % interval of
        G-Acc, from {settings.tables.bootstrap.draws} resamples of the groups, lies above that of random
        answers, 6.25 (with sample τ, of random probabilities: 16.67); an answer that is always the same makes
        no group right. Unless `tables.ranking.below_chance` is set, models that are not above chance, or, but
        for decoding, whose mean label mass (the probability of the options' letters) is below
        {ranking.least_label_mass:g}, are left out of the table of rank swaps. They are marked † and ‡ in
        tables.
        """,
    )


def _paper_tables(settings: Settings) -> list[Output]:
    brackets, reading = _brackets(settings), settings.table_reading
    return [
        table(
            "table1",
            "Table 1",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_reading(settings) | _resampling(settings),
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table1.csv"],
            wanted=bool(settings.models),
            caption=f"""
            **Table 1** of the paper. Accuracies of each model in per cent, by the reading {reading}: Acc of
            answers, Q-Acc of questions (right on both images), I-Acc of images (both questions right) and
            G-Acc of groups (four right answers), and the difference Δ of G-Acc from that of people, 92.1.
            {brackets} The first rows are people, as published, and chance. table1_published.csv has the
            paper's values of the models that are certainly the same beside ours; differences have a meaning
            only on the paper's groups.
            """,
        ),
        table(
            "table2",
            "Table 2",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_resampling(settings),
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table2.csv"],
            wanted={"deterministic", "sample"} <= {*settings.readings} and bool(settings.models),
            caption=f"""
            **Table 2** of the paper. Q-Acc, I-Acc and G-Acc in per cent, original (the more probable
            answer, τ = 0) and debiased (the best τ of each question, image or group). Debiased accuracies
            need the pairing of questions and images, which no model is told; they measure whether the right
            combinations are more probable than the wrong ones. {brackets}
            """,
        ),
        table(
            "table4",
            "Table 4",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_reading(settings) | _resampling(settings),
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table4.csv"],
            wanted=bool(settings.models),
            caption=f"""
            **Table 4** of the paper's supplement. G-Acc in per cent by subset and type of question (YN: yes
            or no, MCQ: A or B), and over all groups, by the reading {reading}. {brackets}
            """,
        ),
        *([_translated(settings, settings.translate)] if settings.translate else []),
        table(
            "table6",
            "Table 6",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_reading(settings) | _resampling(settings),
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table6.csv"],
            wanted=bool(settings.models)
            and settings.curate is not None
            and settings.curate.mine.random_pairs > 0,
            caption=f"""
            **Table 6** of the paper's supplement. G-Acc in per cent on groups from mined pairs, which
            encoders mismatch, and from pairs drawn at random among the other samples and not mismatched, by
            the reading {reading}. {brackets}
            """,
        ),
        *(
            table(
                f"table{number}",
                f"Table {number}",
                inputs=_scored(settings) | {"tags": TAGS, "chance": CHANCE},
                settings=_reading(settings) | _resampling(settings),
                formats=WITH_PUBLISHED,
                data=[f"{PUBLISHED}/table9_10.csv"],
                wanted=bool(settings.models) and settings.groups.tags is not None,
                caption=f"""
                **Table {number}** of the paper's supplement. G-Acc (above) and Q-Acc (below) in per cent by
                skills of {kinds}, by the reading {reading}. A group or a question needs a skill if one of
                its samples does. The paper's table is headed Q-Acc, but its values are G-Acc: no cell of
                GPT-4o is above 44.2, while its Q-Acc is 64.4. Intervals are in the csv file.
                """,
            )
            for number, kinds in ((9, "objects and attributes"), (10, "relations and reasoning"))
        ),
        table(
            "table11",
            "Table 11",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_resampling(settings),
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table11.csv"],
            wanted=bool(settings.models),
            caption=f"""
            **Table 11** of the paper's supplement. Accuracies in per cent by all readings: decoding, a
            generated answer; deterministic, the more probable answer (τ = 0); post-hoc, the
            answer that the image makes more probable than the question alone does (eq. 5); global τ, the
            one for which most groups are right; sample τ, the best of each question, image or group. The
            paper chooses the global τ from the groups that it is measured on; cross-fitted τ (not in the
            paper) is chosen from the other half of the groups, and global τ by type is one for each type of
            question. {brackets}
            """,
        ),
    ]


def _facts_of_the_set(settings: Settings, curation: Curation | None, released: Sequence[str]) -> list[Output]:
    reviews_pairs = curation is not None and curation.curate.review.pairs
    encoders = [settings.encoders[id_].label for id_ in (curation.curate.mine.encoders if curation else ())]
    return [
        table(
            "table3",
            "Table 3",
            inputs={
                "groups": [GROUPS] if settings.models else [],
                "captions": [CAPTIONS] if curation else [],
                "pairs": [PAIRS] if curation else [],
                "kept_pairs": [curation.used_pairs] if curation and reviews_pairs else [],
                "questions": curation.questions if curation else [],
                "kept": curation.kept if curation else [],
            },
            settings={
                "subsets": curation.subsets if curation else {},
                "types": curation.curate.writer.types if curation else [],
                "vlms": ", ".join([*encoders, *([curation.curate.writer.model] if curation else [])]),
                "released": [*released] if curation else [],
            },
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table3.csv"],
            subcategory="Groups",
            wanted=bool(settings.models) or curation is not None,
            caption="""
            **Table 3** of the paper. Statistics of the groups that the run reads or makes, by source, type of
            questions and language: groups, VQA samples (four of each group), and of what the run makes the
            encoders and the language model, mismatched pairs, and pairs that people kept. Pairs are those of
            a source, and must not be added over its types. table3_published.csv has the paper's values of the
            same source, type and language beside ours.
            """,
        ),
        table(
            "table8",
            "Table 8",
            inputs={"groups": GROUPS, "tags": TAGS, "pool": POOL},
            settings={"seed": settings.seed},
            subcategory="Groups",
            wanted=bool(settings.models),
            caption="""
            **Table 8** of the paper's supplement. The skills, each with its definition in short. Samples and
            groups: how many of the run have a tag of it, a dash without a file of tags. Example: the question
            of a sample with the skill, drawn at random by a hash of the run's seed.
            """,
        ),
    ]


def _translated(settings: Settings, translate: Translate) -> Output:
    return table(
        "table5",
        "Table 5",
        inputs=_scored(settings)
        | {
            "translated_scores": [f"<results>/translated/scores/{id_}.parquet" for id_ in settings.models],
            "translated_groups": TRANSLATED_GROUPS,
            "translations": TRANSLATED_QUESTIONS,
            "chance": CHANCE,
        },
        settings=_reading(settings) | _resampling(settings) | {"translator": translate.model},
        formats=WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table5.csv"],
        caption=f"""
        **Table 5** of the paper's supplement. G-Acc in per cent on groups in other languages than English,
        asked as they are and translated into English by {translate.model}, and the paired difference Δ, by
        the reading {settings.table_reading}. All models of the run are shown; the paper has those that claim
        to know several languages. A group of which a question was not translated is in neither column.
        {_brackets(settings)}
        table5_published.csv has the paper's values of the same models beside ours; differences have a
        meaning only on the paper's groups.
        """,
    )


def _more_tables(settings: Settings) -> list[Output]:
    brackets, reading = _brackets(settings), settings.table_reading
    return [
        table(
            "taus",
            "thresholds",
            inputs=_scored(settings) | {"chance": CHANCE},
            wanted=bool(settings.models) and "global" in settings.readings,
            caption="""
            **Thresholds τ** of the global readings (not in the paper), in [-1, 1], with the interval of
            those that are as good and the number of groups that are right for them.
            """,
        ),
        table(
            "bias",
            "bias",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_resampling(settings),
            wanted=bool(settings.models),
            caption=f"""
            **Bias to an answer** (not in the paper). Share of Yes among the answers to yes-or-no questions,
            of B among the answers A or B, and of replies without an answer, in per cent; half of the right
            answers are Yes, and half are B. {brackets}
            """,
        ),
        table(
            "rank_swaps",
            "rank swaps",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_reading(settings)
            | {"draws": settings.tables.bootstrap.rank_draws, "seed": settings.tables.bootstrap.seed},
            wanted=len(settings.models) > 1,
            caption=f"""
            **Does G-Acc rank the models differently from Acc?** (not in the paper). Pairs of models whose
            paired differences in Acc and in G-Acc have opposite signs, by the reading {reading}. p is twice
            the larger of the two one-sided bootstrap p values, since both signs must be established, with
            Holm's correction over all pairs; from {settings.tables.bootstrap.rank_draws} resamples of the
            groups, the same for all models. (The smallest p of B resamples is 2 / (B + 1), so many pairs
            need many resamples.) The csv file has all pairs.
            """,
        ),
        table(
            "corruption",
            "accuracies under corruption",
            inputs=_scored(settings) | {"chance": CHANCE},
            settings=_reading(settings) | _resampling(settings) | {"corruptions": settings.corruptions.types},
            wanted=bool(settings.models) and bool(settings.corruptions.types),
            caption=f"""
            **Accuracies under corruption** (not in the paper). Acc and G-Acc in per cent, means over the
            severities, and their differences from clean images, by the reading {reading}. {brackets}
            Differences are paired by group. The csv file has all severities and readings.
            """,
        ),
    ]


def _figures(settings: Settings, have_probabilities: Sequence[str]) -> list[Output]:
    draws = settings.tables.bootstrap.draws
    # Answers without the image, of each question's item about image 0; a grey image is no such pass.
    blind = [
        f"<results>/predictions/questions/{id_}/no_image.parquet"
        for id_ in have_probabilities
        if "post_hoc" in settings.readings and settings.prior == "no_image"
    ]
    blind_pass = (
        "" if blind else "This run asks no model without the image (post_hoc of readings, and prior)."
    )
    return [
        figure(
            "figure_examples",
            "the figure of examples",
            inputs=_scored(settings) | {"pool": POOL, "tags": TAGS},
            settings={"number": 4, "seed": settings.seed},
            subcategory="Groups",
            wanted=bool(settings.models),
            caption="""
            **Examples** (figures 1, 7 and 8 of the paper). Four groups that were drawn at random, by a hash
            of the run's seed and their names, in turn of the types of questions: both images, each question
            with the right answer below each image, and the answers of the first eight models, which are
            generated or, where most replies have none, the more probable ones; below the group's name, its
            skills if it has tags. A model solves a group if all four answers have a tick mark. The last lines
            say how the answers are read, and how many groups chance and these models solve.
            """,
        ),
        figure(
            "figure_taxonomy",
            "the figure of skills",
            inputs={"groups": GROUPS, "tags": TAGS},
            subcategory="Groups",
            wanted=settings.groups.tags is not None,
            caption="""
            **Skills** (figure 6 of the paper), by class. Number of questions and of groups that need each
            skill: of which an item has its tag. An item may have several tags.
            """,
        ),
        figure(
            "figure_blind",
            "the figure of blind answers",
            inputs=_scored(settings) | {"pool": POOL, "blind": blind},
            settings=_resampling(settings),
            subcategory="Accuracy",
            wanted=bool(settings.models),
            caption=f"""
            **With and without the image** (as figures 3 to 5 of the paper). (a) Acc and (b) G-Acc of each
            model in per cent, with 95 % intervals from {draws} resamples of the groups, deterministic (τ =
            0) where the model has probabilities, else by decoding. Without the image, a model gives both
            images of a question the same answer, as a constant answer does: by construction half of the
            answers are right, and no group. {blind_pass}
            """,
        ),
        figure(
            "figure_readings",
            "the figure of readings",
            inputs=_scored(settings),
            settings=_resampling(settings),
            subcategory="Accuracy",
            wanted=bool(settings.models),
            caption=f"""
            **G-Acc by reading** (Table 11), in per cent, with 95 % intervals from {draws} resamples of the
            groups; more than 16 models have one line each, without intervals. The dashed line is chance,
            1/16, for four independent answers; with the best τ of each group chance is 1/6, since a group
            is right if its two right answers "Yes" are the two most probable of four.
            """,
        ),
        figure(
            "figure_corruption",
            "the figure of corruption",
            inputs=_scored(settings),
            settings=_resampling(settings)
            | {"corruptions": settings.corruptions.types, "severities": settings.corruptions.severities},
            subcategory="Accuracy",
            wanted=bool(settings.models) and bool(settings.corruptions.types),
            caption=f"""
            **G-Acc by severity** (not in the paper), in per cent, by decoding or else deterministic, as the
            legend says; 0 is clean. Panels with up to four curves show 95 % intervals from {draws} resamples
            of the groups. The dashed line is chance.
            """,
        ),
    ]


def _blind_sources(settings: Settings, blind: BlindSources) -> list[Output]:
    draws = settings.tables.bootstrap.draws
    inputs = {"pool": ITEMS, "models": "<results>/models.json", "seen": blind.seen, "unseen": blind.unseen}
    asked = """
            Models are asked by the usual prompt of questions with options, as they are, without fine-tuning;
            the more probable option is the answer.
    """
    return [
        table(
            "blind_sources",
            "other benchmarks without images",
            inputs=inputs,
            settings={"labels": blind.labels} | _resampling(settings),
            subcategory="Other benchmarks",
            caption=f"""
            **Other benchmarks with and without their images** (as Figure 4 of the paper). Accuracy in per
            cent and the paired difference, beside the expected value of random answers and the best answer
            that is always the same. In brackets: 95 % percentile intervals from {draws} resamples of the
            items of each benchmark, the same for all models. {asked}
            """,
        ),
        figure(
            "figure4",
            "Figure 4",
            inputs=inputs,
            settings={"labels": blind.labels} | _resampling(settings),
            subcategory="Other benchmarks",
            caption=f"""
            **Figure 4** of the paper, without its fine-tuned models. Accuracy on other benchmarks with the
            images and without, in per cent, with 95 % percentile intervals from {draws} resamples of the
            items of each. Lines: the expected value of random answers, and the best answer that is always the
            same. On the run's own groups, figure_blind shows the same models. {asked}
            """,
        ),
        figure(
            "figure3",
            "Figure 3",
            inputs=inputs,
            settings={"labels": blind.labels, "seed": settings.seed, "share": settings.blind.share},
            subcategory="Other benchmarks",
            caption="""
            **Figure 3** of the paper. Questions of other benchmarks that models answer rightly without the
            image, drawn at random by a hash of the run's seed, in turn of the benchmarks. The images are
            drawn here, and were not shown. The last lines say how many such questions there are, and how many
            there would be on average if each model guessed at random.
            """,
        ),
    ]


def _curation(settings: Settings, curation: Curation) -> list[Output]:
    draws = settings.tables.bootstrap.draws
    return [
        table(
            "curation",
            "steps of curation",
            inputs={
                "mismatches": "<results>/curate/mismatches.parquet",
                "pairs": PAIRS,
                "kept_pairs": [curation.used_pairs] if curation.curate.review.pairs else [],
                "questions": curation.questions,
                "kept": curation.kept,
            },
            subcategory="Curation",
            caption="""
            **Steps of curation**: how many samples, mismatches (before the most of a sample are chosen),
            pairs, questions and groups there are. A group is a pair and a type of questions, both of which
            all annotators answered as expected on both images.
            """,
        ),
        table(
            "drop_reasons",
            "dropped questions",
            inputs={"kept": curation.kept},
            settings=_resampling(settings),
            subcategory="Curation",
            caption=f"""
            **Questions by round and type**: how many were asked for, the share that all annotators answered
            as expected on both images, with a 95 % percentile interval from {draws} resamples of the pairs,
            and why the others were dropped: the reply was not usable; annotators disagreed; they agreed
            that the question cannot be answered; they agreed on another answer.
            """,
        ),
        table(
            "agreement",
            "agreement of annotators",
            inputs={"reviewed": curation.reviewed},
            settings=_resampling(settings),
            subcategory="Curation",
            caption=f"""
            **Agreement of annotators** by round of review: the share of rows to which all give the same
            answer, kappa (Cohen's for two annotators, Fleiss' for more), and the share of answers that keep
            the question or pair. In brackets: 95 % percentile intervals from {draws} resamples of the
            pairs; none where all resamples give one value.
            """,
        ),
        table(
            "overlap",
            "overlap with older releases",
            inputs={"release": RELEASE, "older": curation.older_releases},
            subcategory="Curation",
            wanted=bool(curation.older_releases),
            caption="""
            **Overlap with older releases**: images that are equal pixel for pixel, questions with the same
            words and options, and groups with the same images and questions. A copy of an image that was
            scaled or compressed again is not found.
            """,
        ),
    ]


def _retrieval(settings: Settings, retrieval: Retrieval) -> list[Output]:
    encoders = {id_: settings.encoders[id_] for id_ in retrieval.encoders}
    return [
        table(
            "table7",
            "Table 7",
            inputs={
                "embeddings": [f"<results>/retrieval/embeddings/{id_}.parquet" for id_ in retrieval.encoders],
                "pairs": "<results>/retrieval/pairs.parquet",
            },
            settings={
                "labels": {id_: encoder.label for id_, encoder in encoders.items()},
                "published_labels": {
                    id_: label
                    for id_, encoder in encoders.items()
                    if (label := published_label(encoder.library, encoder.name, encoder.pretrained))
                },
                **_resampling(settings),
            },
            formats=WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table7.csv"],
            caption="""
            **Table 7.** Image-text retrieval on pairs of captioned images, in per cent. Text score: both
            images are more similar to their own caption than to the other; image score: both captions are
            more similar to their own image; group score: both. A tie is wrong. Intervals are 95 %
            percentile intervals over pairs, and the first row is the expectation of a random ranking.
            table7_published.csv has the paper's values of the same weights beside ours.
            """,
        ),
    ]


def _scored(settings: Settings) -> dict[str, str | list[str]]:
    """Return the inputs of a table of the models' scores."""
    return {
        "scores": [f"<results>/scores/{id_}.parquet" for id_ in settings.models],
        "models": "<results>/models.json",
        "groups": GROUPS,
    }


def _resampling(settings: Settings) -> dict[str, int]:
    return {"draws": settings.tables.bootstrap.draws, "seed": settings.tables.bootstrap.seed}


def _reading(settings: Settings) -> dict[str, str]:
    return {"reading": settings.table_reading}


def _brackets(settings: Settings) -> str:
    return f"""
In brackets: 95 % percentile intervals from {settings.tables.bootstrap.draws} resamples of the groups, the
same for all models and readings. Groups are those from mined pairs, but for Table 6.
"""
