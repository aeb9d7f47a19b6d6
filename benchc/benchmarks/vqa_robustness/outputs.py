"""The tables, figures and pages of a run of VQA-robustness."""

from collections.abc import Collection, Mapping

from benchc.benchmarks.vqa_robustness.settings import Settings
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import group_of
from benchc.rendering.declaration import Output, figure, in_order_of, page, table
from benchc.workflow.images import Images, kernel_code
from benchc.workflow.judges import judged
from benchc.workflow.run import Run

POOL = "<results>/pool/items.parquet"
REFERENCES = "<results>/pool/references.parquet"
ERRORS = "<results>/tables/errors.csv"
CHANCE = "<results>/tables/chance.csv"
INTERVALS = "<results>/tables/vre_intervals.csv"
# Tables and figures that have all models.
WITH_MODELS = (
    "chance",
    "errors",
    "other_errors",
    "table_a1",
    "severity_metrics",
    "vre_model",
    "weightings",
    "relative_drops",
    "class_accuracy",
    "mispredictions",
    "colour_questions",
    "figure_a4",
    "figure_a2",
    "figure_heatmap",
    "figure_radar",
    "figure_accuracy",
)
PUBLISHED = "benchc/benchmarks/vqa_robustness/published"


def outputs(run: Run, settings: Settings, labels: Mapping[str, str], scale: Collection[str]) -> list[Output]:
    """Return the declarations.

    ``labels``: of all models by id, in the order of figures; ``scale``: the file with the errors by which the
    metrics are scaled, or none for those of the run itself.
    """
    grades = judged("judge_short_answers", "pool", labels)
    images = run.images
    groups = {name: images.groups[name] for name in settings.measured}
    others = [name for name in settings.corruptions.types if name not in settings.measured]
    taxonomy = _taxonomy(images)
    bootstrap = settings.tables.bootstrap
    answered = {"grades": grades, "pool": POOL, "references": REFERENCES}
    judged_by = {"labels": labels, "grade": settings.grade}
    graded = judged_by | {"corruptions": settings.measured}
    grey = settings.greyscale
    weighted = {"weights": settings.vre.weights, "levels": settings.vre.levels}
    resampling = {"draws": bootstrap.draws, "seed": bootstrap.seed}
    pixels = {"seed": settings.seed, "alpha": settings.corruptions.alpha}
    every = [
        table(
            "chance",
            "the models and chance",
            inputs={"grades": grades, "pool": POOL, "references": REFERENCES},
            settings=graded | resampling | {"rank_below_chance": settings.tables.ranking.below_chance},
            caption=f"""
            **Which models are above chance** (not in the paper): whether the 95 % interval of their accuracy
            on clean images, from {bootstrap.draws} resamples of the images, lies above the accuracy of the
            best answer to all questions, by the same grade. VRE of a model that does not look at the images
            measures nothing: an answer that never changes has First-Drop, Range, Error Rate and Average
            Difference of 0. Unless `tables.ranking.below_chance` is set, models that are not above chance
            have no rank. They are marked † in tables.
            """,
        ),
        table(
            "errors",
            "errors",
            inputs={"grades": grades},
            settings=graded,
            formats=["csv"],
            caption="""
            **Errors** by model, corruption and level: the share of wrong answers, in [0, 1], with the number
            of answers, and of those that are empty or cut off, which are wrong unless they equal the
            reference answer. Level 0 is clean, equal for all corruptions. Everything else is computed from
            these; `benchc vre` does it for such a table from elsewhere.
            """,
        ),
        table(
            "other_errors",
            "errors outside VRE",
            inputs={"grades": grades},
            settings=graded | {"corruptions": others},
            formats=["csv"],
            wanted=bool(others),
            caption="""
            **Errors** under the corruptions that VRE is not computed over (`vre.corruptions`). Those with one
            level in the paper have the same images at all levels.
            """,
        ),
        table(
            "table_a1",
            "Table A.1",
            inputs={"chance": CHANCE, "errors": ERRORS},
            formats=["csv", "md", "tex", "published"],
            data=[f"{PUBLISHED}/table_a1.csv"],
            caption="""
            **Table A.1** of the paper's supplement. Error of each model at each level (rows) of each
            corruption (columns), in [0, 1], lower is better; level 0 is clean. Of each row from level 1 on,
            the lowest error is in bold and the highest in italics. Curves are as measured; those of the paper
            were sorted. table_a1_published.csv has the published values of the same models beside ours.
            """,
        ),
        table(
            "table_a2",
            "Table A.2",
            inputs={"grades": grades, "pool": POOL, "references": REFERENCES},
            settings=graded,
            formats=["csv", "md", "tex", "published"],
            data=[f"{PUBLISHED}/table_a2.csv"],
            caption="""
            **Table A.2** of the paper's supplement. Accuracy by class of questions and corruption, in [0, 1],
            higher is better: the mean over models and the levels 1 to 5 of the share of right answers among
            the questions of the class. The classes are VQAv2's question types that the paper shows ("Is/are
            the" is two of them); questions of other types have none. Where no category of the pool is one of
            these types, the pool's categories are the classes. The first row is chance: the best answer to
            all questions of the class. table_a2_published.csv has the paper's values, a mean over its six
            models, beside ours.
            """,
        ),
        table(
            "table_a3",
            "Table A.3",
            inputs=answered,
            settings=graded | resampling,
            caption=f"""
            **Table A.3** of the paper's supplement: kinds of misprediction, with examples. Mispredictions are
            answers that are right on the clean image and wrong under a corruption. Rules on the words of
            question, reference and answer tell their kind (docs/vqa-robustness.md); the paper's are by eye,
            and have no rule and no counts. *Other* is what no rule fits, such as a count that is too high. In
            brackets: 95 % percentile intervals from {bootstrap.draws} resamples of the images. Examples are
            not chosen by eye: they are the first with different questions in the order of a hash.
            """,
        ),
        table(
            "mispredictions",
            "kinds of misprediction by model",
            inputs=answered,
            settings=graded | resampling,
            caption=f"""
            **Kinds of misprediction by model**: the share of each kind of Table A.3 among the answers of the
            model that are right on the clean image and wrong under a corruption, with 95 % percentile
            intervals from {bootstrap.draws} resamples of the images.
            """,
        ),
        table(
            "severity_metrics",
            "metrics of severity",
            inputs={"errors": ERRORS},
            settings={"levels": settings.vre.levels},
            caption=f"""
            **Metrics of severity** of each model under each corruption; lower is more robust. With E0 the
            clean error and E1 to E5 those at the levels: First-Drop (E1 - E0) / E0, Range (max - min) / min,
            Error Rate (the slope of the least-squares line, per level), Average Error, and Average Difference
            (the mean of E1 - E0 to E5 - E0). Range, Error Rate and Average Error are over the levels
            {settings.vre.levels}. *Falls* counts the steps from one level to the next, of five, at which the
            error falls; curves are not sorted.
            """,
        ),
        table(
            "vre_intervals",
            "intervals of VRE",
            inputs={"chance": CHANCE, "grades": grades, "pool": POOL, "scale_of": scale},
            settings=graded | weighted | resampling,
            formats=["csv"],
            caption="""
            **Intervals of VRE** by model and by corruption, of VRE of models under the six weightings, and of
            their mean accuracy, from resamples of the images: the ends of the 95 % percentile interval, and
            the stability of the rank. The tables and figures of VRE show them.
            """,
        ),
        table(
            "vre_model",
            "VRE by model",
            inputs={"chance": CHANCE, "errors": ERRORS, "intervals": INTERVALS, "scale_of": scale},
            settings=weighted,
            caption=f"""
            **Visual robustness error of each model**; lower is more robust, and rank 1 is the most robust.
            VRE is the weighted mean of the five metrics of severity, each scaled to [0, 1] by its minimum and
            maximum over all models and corruptions (or those of a frozen scale), and averaged over
            corruptions. In brackets: 95 % percentile intervals from {bootstrap.draws} resamples of the
            images, whose questions are drawn together, the same for all models, corruptions and levels; a
            joint scale is computed anew in each. Stability is the share of resamples in which the rank is the
            same. Range and the scale are made of extremes, which resampling makes more extreme, so that an
            interval may lie mostly above its value.
            """,
        ),
        table(
            "vre_corruption",
            "VRE by corruption",
            inputs={"chance": CHANCE, "errors": ERRORS, "intervals": INTERVALS, "scale_of": scale},
            settings=weighted,
            caption=f"""
            **Visual robustness error under each corruption**; rank 1 is the corruption to which the models
            are most robust. As by model, with the mean over the models that have VRE instead of over
            corruptions; 95 % percentile intervals from {bootstrap.draws} resamples of the images.
            """,
        ),
        table(
            "weightings",
            "VRE under six weightings",
            inputs={"chance": CHANCE, "errors": ERRORS, "scale_of": scale},
            settings={"levels": settings.vre.levels},
            caption="""
            **VRE and ranks under six weightings** (the paper's study of weights): equal weights, and 0.6 for
            one metric with 0.1 for each other. Lower is more robust; ranks in brackets, 1 is the most robust.
            """,
        ),
        table(
            "relative_drops",
            "relative drops of accuracy",
            inputs={"chance": CHANCE, "errors": ERRORS},
            caption="""
            **Accuracy and relative drop.** Of each model, the mean accuracy A over corruptions and the levels
            0 to 5, and the relative drop (A0 - A) / A0 from its clean accuracy A0; of each corruption, the
            mean over models and the same levels, and the drop from the models' mean clean accuracy. A drop of
            0.1 means that a tenth of the clean accuracy is lost; a negative one is a gain.
            """,
        ),
        table(
            "class_accuracy",
            "accuracy by class of question",
            inputs={"grades": grades, "pool": POOL},
            settings=graded,
            formats=["csv"],
            caption="""
            **Accuracy by class of question**, model, corruption and level, with the number of questions (not
            in the paper).
            """,
        ),
        table(
            "colour_questions",
            "accuracy on questions about colours",
            inputs=answered,
            settings=judged_by | resampling | ({"corruption": grey} if grey else {}),
            wanted=grey is not None,
            caption=f"""
            **Accuracy on questions about colours** and on all others, clean and on greyscale images, as in
            figure A.4. A question is about a colour if it has the word and its reference answer is in words.
            *Names a hue*: of the answers to these on greyscale images, the share with the name of a colour of
            CSS other than black, white and greys. In brackets: 95 % percentile intervals from
            {bootstrap.draws} resamples of the images.
            """,
        ),
        figure(
            "figure_a1",
            "figure A.1",
            inputs={"pool": POOL},
            settings={
                "groups": {name: group_of(name, images.suite) for name in taxonomy},
                "recipes": {name: recipe.content() for name, recipe in taxonomy.items()},
                "measured": settings.measured,
                **pixels,
            },
            code=[line for recipe in taxonomy.values() for line in kernel_code(recipe)],
            subcategory="Corruptions",
            caption="""
            **The corruptions by class** (figure A.1 of the paper's supplement). One image of the pool, clean
            and under each corruption of the suite at level 4, with the pixels that models get. VRE is not
            computed over a corruption with a star (*). Other definitions of one of these are left out unless
            the run uses them. An image that a corruption made smaller is shown in the size of the others.
            """,
        ),
        figure(
            "figure_classes",
            "the figure of question classes",
            inputs={"pool": POOL},
            subcategory="Questions",
            caption="""
            **Kinds of questions** (figure A.3 of the paper's supplement). Share of each category of the
            pool's questions, with the number of questions at the end of its bar; the categories of VQAv2 are
            its question types. Blue bars are in a class of Table A.2.
            """,
        ),
        figure(
            "figure_a2",
            "figure A.2",
            inputs={"errors": ERRORS},
            subcategory="Errors",
            caption="""
            **Error by level** (figure A.2 of the paper's supplement, whose panels are models). One panel per
            corruption with a curve for each model or, where there are more models than corruptions, the
            other way round; level 0 is clean. Lower is better. Curves are not sorted, so they may fall.
            """,
        ),
        figure(
            "figure_a4",
            "figure A.4",
            inputs=answered,
            settings=judged_by
            | resampling
            | ({"recipe": images.recipe(grey).content()} if grey else {})
            | {"image_seed": settings.seed, "alpha": settings.corruptions.alpha},
            code=kernel_code(images.recipe(grey)) if grey else [],
            subcategory="Questions",
            wanted=grey is not None,
            caption="""
            **Questions about colours on greyscale images** (figure A.4 of the paper's supplement). Above:
            accuracy on questions that ask for a colour and on all others, clean and on greyscale images, and
            the share of answers to the former that name a hue where the image has none: a colour of CSS other
            than black, white and greys. Lines are 95 % percentile intervals from resamples of the images.
            Below: questions to which an answer names a hue, the first with different texts in the order of a
            hash, and the answers of up to six models.
            """,
        ),
        figure(
            "figure_heatmap",
            "the heat map of relative drops",
            inputs={"errors": ERRORS},
            settings={"groups": groups},
            subcategory="Errors",
            caption="""
            **Relative drop in accuracy** of each model (rows) under each corruption (columns), in per cent of
            the clean accuracy A0: 100 (A0 - A) / A0 with the mean accuracy A over the levels 0 to 5. Darker
            is a larger drop; gains are negative and white. A row without clean accuracy is empty.
            """,
        ),
        figure(
            "figure_bars",
            "the figure of mean errors",
            inputs={"errors": ERRORS},
            settings={"groups": groups},
            subcategory="Errors",
            caption="""
            **Mean error under each corruption**, over models and the levels 1 to 5; lower is better. Lines
            are one standard deviation over models (with n - 1) in both directions, points the models, and the
            dashed line is the mean error on clean images.
            """,
        ),
        figure(
            "figure_weightings",
            "the figure of weightings",
            inputs={"chance": CHANCE, "errors": ERRORS, "intervals": INTERVALS, "scale_of": scale},
            settings={"levels": settings.vre.levels},
            subcategory="VRE",
            caption=f"""
            **VRE under six weightings**: equal weights, and 0.6 for one metric with 0.1 for each other, with
            95 % percentile intervals from {bootstrap.draws} resamples of the images; more than 16 models have
            one line each, from the lowest to the highest value, without intervals.
            Here models are sorted by VRE with equal weights, not as in the tables; low is robust.
            A † marks models that are not above chance (table `chance`).
            """,
        ),
        figure(
            "figure_radar",
            "the radar figure",
            inputs={"chance": CHANCE, "errors": ERRORS, "scale_of": scale},
            settings={"groups": groups, "levels": settings.vre.levels},
            subcategory="VRE",
            caption="""
            **The metrics that VRE weights**, scaled to [0, 1] over all models that have VRE, and all
            corruptions, or by the table `vre.scale_of` (values may then be outside); near the centre is
            robust. (a) models, means over corruptions; the other panels have the corruptions of one class,
            means over the models that have VRE. A † marks models that are not above chance (table `chance`).
            """,
        ),
        figure(
            "figure_accuracy",
            "the figure of accuracy and VRE",
            inputs={"chance": CHANCE, "errors": ERRORS, "intervals": INTERVALS, "scale_of": scale},
            settings=weighted,
            subcategory="VRE",
            caption=f"""
            **Accuracy and VRE**: the mean accuracy of each model over all corruptions and levels 0 to 5,
            against its VRE, with 95 % percentile intervals of both from {bootstrap.draws} resamples of the
            images. As VRE is made of extremes, its interval may lie mostly above its value.
            A † marks models that are not above chance (table `chance`).
            """,
        ),
        page(
            "weights",
            "the page of weights",
            inputs={"chance": CHANCE, "errors": ERRORS, "scale_of": scale},
            settings=weighted,
            data=["benchc/benchmarks/vqa_robustness/pages/weights.html"],
            caption="""
            **Weights of VRE.** Five sliders weight the scaled metrics of severity; VRE and ranks by model and
            by corruption are computed anew in the browser, without a network. Below: the share of all weights
            with which each ranked model has the lowest VRE of these, from random weights with a uniform
            distribution over the simplex.
            """,
        ),
    ]
    return in_order_of("models", every, WITH_MODELS)


def _taxonomy(images: Images) -> dict[str, Recipe]:
    """Return the recipes of the suite's corruptions, in its order; of other definitions, those of the run."""
    types = [
        type_.name
        for type_ in images.suite.types()
        if type_.name in images.chosen.types
        or (type_.alternative_to is None and images.chosen.engine == "benchc")
    ]
    return {name: images.recipe(name) for name in types}
