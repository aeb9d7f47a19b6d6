"""VQA-robustness: how the errors of models on open questions grow with the level of each corruption (VRE).

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/pool/references.parquet                 the reference answers
    <results>/answers/pool/{model}/{part}.parquet     written by rule answer
    <results>/grades/pool/{model}.parquet             written by rule judge_short_answers
OUTPUTS:
    <results>/grades/pool/{imported}.parquet          the same for answers that another program made
    <results>/tables/errors.csv                       the errors that all metrics are computed from
"""

from benchc.pluralize import pluralize

# Models are asked about all items of the pool.
SUBSETS = {"pool": None}
BENCHMARK = None
# The models of tables and figures that this run asks.
MEASURED = settings.models
# Those that another program has asked.
IMPORTED = settings.answers_from
IMPORTED_FILES = {id_: local(model.file) for id_, model in IMPORTED.items()}
ABSENT = [f"{id_} ({file})" for id_, file in IMPORTED_FILES.items() if not Path(file).is_file()]
if ABSENT:
    logger.warning(
        f"{pluralize(len(ABSENT), 'file')} of answers_from not here yet (docs/vqa-robustness.md): "
        f"{', '.join(ABSENT)}."
    )


rule import_answers:
    """Grade the answers of one model that another program has asked."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        # An absent one is an error of the job, since the other program needs the pool first.
        answers=lambda wildcards: [
            file for file in [IMPORTED_FILES[wildcards.imported]] if Path(file).is_file()
        ],
    output:
        "<results>/grades/pool/{imported}.parquet",
    log:
        "<logs>/import_answers/{imported}.log",
    wildcard_constraints:
        imported="|".join(IMPORTED) or "(?!)",
    # Early, since the file may be absent.
    priority: 100
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/judge_short_answers.py"),
        file=lambda wildcards: option("--answers-csv", IMPORTED_FILES[wildcards.imported]),
        contents=lambda wildcards: contents_of([IMPORTED_FILES[wildcards.imported]]),
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
    message:
        "Grading the answers of {wildcards.imported}"
    shell:
        "python -m scripts.judge_short_answers --items {input.pool} --references {input.references}"
        " {params.file} --label {wildcards.imported} --corruptions {params.corruptions}"
        " --severities {params.severities} --output {output} 2>&1 | tee {log}"


POOL = "<results>/pool/items.parquet"
ERRORS = "<results>/tables/errors.csv"
GRADES = collect("<results>/grades/pool/{model}.parquet", model=[*MEASURED, *IMPORTED])
LABELS = {
    **{id_: run.models[id_].label for id_ in MEASURED},
    **{id_: model.label for id_, model in IMPORTED.items()},
}
SHARED_LABELS = [label for label in LABELS.values() if [*LABELS.values()].count(label) > 1]
if SHARED_LABELS:
    raise WorkflowError(
        f"Two models have the label {SHARED_LABELS[0]!r}; change it in answers_from or in the model catalogue."
    )

PUBLISHED = "benchc/benchmarks/vqa_robustness/published"
GROUPS = {name: group_of(name, SUITE) for name in settings.corruptions.types}
MEASURED_GROUPS = {name: GROUPS[name] for name in settings.measured}
OTHERS = [name for name in settings.corruptions.types if name not in settings.measured]
IMAGES = collect("<results>/corrupted/{corruption}.parquet", corruption=sorted(settings.measured))
# Errors by which the metrics are scaled; none: those of the run itself.
SCALE = [str(local(settings.vre.scale_of))] if settings.vre.scale_of else []
# Snakemake would call finished outputs up to date.
if SCALE and not Path(SCALE[0]).is_file():
    raise WorkflowError(f"vre.scale_of: there is no file {SCALE[0]}; correct the path, or give null.")
GRADED = {"labels": LABELS, "corruptions": settings.measured, "grade": settings.grade}
WEIGHTED = {"weights": settings.vre.weights, "levels": settings.vre.levels}
RESAMPLING = {"draws": settings.tables.bootstrap.draws, "seed": settings.tables.bootstrap.seed}

OUTPUTS = [
    table(
        "errors",
        "errors",
        inputs={"grades": GRADES},
        settings=GRADED,
        formats=["csv"],
        caption="""
        **Errors** by model, corruption and level: the share of wrong answers, in [0, 1], with the number of
        answers, and of those that are empty or cut off, which are wrong unless they equal the reference answer.
        Level 0 is clean, equal for all corruptions. Everything else is computed from these; `benchc vre` does it
        for such a table from elsewhere.
        """,
    ),
    table(
        "other_errors",
        "errors outside VRE",
        inputs={"grades": GRADES},
        settings=GRADED | {"corruptions": OTHERS},
        formats=["csv"],
        wanted=bool(OTHERS),
        caption="""
        **Errors** under the corruptions that VRE is not computed over (`vre.corruptions`). Those with one level
        in the paper have the same images at all levels.
        """,
    ),
    table(
        "table_a1",
        "Table A.1",
        inputs={"errors": ERRORS},
        formats=["csv", "md", "tex", "published"],
        data=[f"{PUBLISHED}/table_a1.csv"],
        caption="""
        **Table A.1** of the paper's supplement. Error of each model at each level (rows) of each corruption
        (columns), in [0, 1], lower is better; level 0 is clean. Of each row from level 1 on, the lowest
        error is in bold and the highest in italics. Curves are as measured; those of the paper were sorted.
        table_a1_published.csv has the published values of the same models beside ours.
        """,
    ),
    table(
        "table_a2",
        "Table A.2",
        inputs={"grades": GRADES, "pool": POOL},
        settings=GRADED,
        formats=["csv", "md", "tex", "published"],
        data=[f"{PUBLISHED}/table_a2.csv"],
        caption="""
        **Table A.2** of the paper's supplement. Accuracy by class of questions and corruption, in [0, 1],
        higher is better: the mean over models and the levels 1 to 5 of the share of right answers among the
        questions of the class. The classes are VQAv2's question types that the paper shows ("Is/are the" is
        two of them); questions of other types have none. Where no category of the pool is one of these
        types, the pool's categories are the classes. table_a2_published.csv has the paper's values, a mean
        over its six models, beside ours.
        """,
    ),
    table(
        "severity_metrics",
        "metrics of severity",
        inputs={"errors": ERRORS},
        settings={"levels": settings.vre.levels},
        caption=f"""
        **Metrics of severity** of each model under each corruption; lower is more robust. With E0 the clean
        error and E1 to E5 those at the levels: First-Drop (E1 - E0) / E0, Range (max - min) / min, Error
        Rate (the slope of the least-squares line, per level), Average Error, and Average Difference (the
        mean of E1 - E0 to E5 - E0). Range, Error Rate and Average Error are over the levels
        {settings.vre.levels}. *Falls* counts the steps from one level to the next, of five, at which the
        error falls; curves are not sorted.
        """,
    ),
    table(
        "vre_model",
        "VRE by model",
        inputs={"grades": GRADES, "pool": POOL, "scale_of": SCALE},
        settings=GRADED | WEIGHTED | RESAMPLING,
        caption=f"""
        **Visual robustness error of each model**; lower is more robust, and rank 1 is the most robust. VRE
        is the weighted mean of the five metrics of severity, each scaled to [0, 1] by its minimum and
        maximum over all models and corruptions (or those of a frozen scale), and averaged over corruptions.
        In brackets: 95 % percentile intervals from {RESAMPLING['draws']} resamples of the images, whose
        questions are drawn together, the same for all models, corruptions and levels; a joint scale is
        computed anew in each. Stability is the share of resamples in which the rank is the same. Range and
        the scale are made of extremes, which resampling makes more extreme, so that an interval may lie
        mostly above its value.
        """,
    ),
    table(
        "vre_corruption",
        "VRE by corruption",
        inputs={"grades": GRADES, "pool": POOL, "scale_of": SCALE},
        settings=GRADED | WEIGHTED | RESAMPLING,
        caption=f"""
        **Visual robustness error under each corruption**; rank 1 is the corruption to which the models are
        most robust. As by model, with the mean over the models that have VRE instead of over corruptions;
        95 % percentile intervals from {RESAMPLING['draws']} resamples of the images.
        """,
    ),
    table(
        "weightings",
        "VRE under six weightings",
        inputs={"errors": ERRORS, "scale_of": SCALE},
        settings={"levels": settings.vre.levels},
        caption="""
        **VRE and ranks under six weightings** (the paper's study of weights): equal weights, and 0.6 for
        one metric with 0.1 for each other. Lower is more robust; ranks in brackets, 1 is the most robust.
        """,
    ),
    table(
        "relative_drops",
        "relative drops of accuracy",
        inputs={"errors": ERRORS},
        caption="""
        **Accuracy and relative drop.** Of each model, the mean accuracy A over corruptions and the levels 0
        to 5, and the relative drop (A0 - A) / A0 from its clean accuracy A0; of each corruption, the mean
        over models and the same levels, and the drop from the models' mean clean accuracy. A drop of 0.1
        means that a tenth of the clean accuracy is lost; a negative one is a gain.
        """,
    ),
    table(
        "class_accuracy",
        "accuracy by class of question",
        inputs={"grades": GRADES, "pool": POOL},
        settings=GRADED,
        formats=["csv"],
        caption="""
        **Accuracy by class of question**, model, corruption and level, with the number of questions (not in the
        paper).
        """,
    ),
    figure(
        "figure_a1",
        "figure A.1",
        inputs={"pool": POOL, "images": IMAGES},
        settings={"groups": MEASURED_GROUPS},
        subcategory="Corruptions",
        wanted=settings.corruptions.corrupted == "files",
        caption="""
        **The corruptions by class** (figure A.1 of the paper's supplement). One image of the pool, clean
        and under each corruption of the run at level 4;
        models see the same pixels. An image that a corruption made smaller is shown in the size of the
        others.
        """,
    ),
    figure(
        "figure_classes",
        "the figure of question classes",
        inputs={"pool": POOL},
        subcategory="Questions",
        caption="""
        **Kinds of questions** (figure A.3 of the paper's supplement). Share of each category of the pool's
        questions, with the number of questions at the end of its bar; the categories of VQAv2 are its
        question types. Blue bars are in a class of Table A.2.
        """,
    ),
    figure(
        "figure_a2",
        "figure A.2",
        inputs={"errors": ERRORS},
        subcategory="Errors",
        caption="""
        **Error by level** (figure A.2 of the paper's supplement). One panel per model, one curve per
        corruption; level 0 is clean. Lower is better. Curves are not sorted, so they may fall.
        """,
    ),
    figure(
        "figure_heatmap",
        "the heat map of relative drops",
        inputs={"errors": ERRORS},
        settings={"groups": MEASURED_GROUPS},
        subcategory="Errors",
        caption="""
        **Relative drop in accuracy** of each model (rows) under each corruption (columns), in per cent of
        the clean accuracy A0: 100 (A0 - A) / A0 with the mean accuracy A over the levels 0 to 5. Darker is
        a larger drop; gains are negative and white. A row without clean accuracy is empty.
        """,
    ),
    figure(
        "figure_bars",
        "the figure of mean errors",
        inputs={"errors": ERRORS},
        settings={"groups": MEASURED_GROUPS},
        subcategory="Errors",
        caption="""
        **Mean error under each corruption**, over models and the levels 1 to 5; lower is better. Lines are
        one standard deviation over models (with n - 1) in both directions, points the models, and the
        dashed line is the mean error on clean images.
        """,
    ),
    figure(
        "figure_weightings",
        "the figure of weightings",
        inputs={"errors": ERRORS, "scale_of": SCALE},
        settings={"levels": settings.vre.levels},
        subcategory="VRE",
        caption="""
        **VRE under six weightings**: equal weights, and 0.6 for one metric with 0.1 for each other. Models are sorted
        by VRE with equal weights; low is robust.
        """,
    ),
    figure(
        "figure_radar",
        "the radar figure",
        inputs={"errors": ERRORS, "scale_of": SCALE},
        settings={"groups": MEASURED_GROUPS, "levels": settings.vre.levels},
        subcategory="VRE",
        caption="""
        **The metrics that VRE weights**, scaled to [0, 1] over all models and corruptions; near the centre
        is robust. (a) models, means over corruptions; the other panels have the corruptions of one class,
        means over the models that have VRE.
        """,
    ),
    figure(
        "figure_accuracy",
        "the figure of accuracy and VRE",
        inputs={"errors": ERRORS, "scale_of": SCALE},
        settings=WEIGHTED,
        subcategory="VRE",
        caption="""
        **Accuracy and VRE**: the mean accuracy of each model over all corruptions and levels 0 to 5, against its VRE.
        """,
    ),
    page(
        "weights",
        "the page of weights",
        inputs={"errors": ERRORS, "scale_of": SCALE},
        settings=WEIGHTED,
        data=["benchc/benchmarks/vqa_robustness/pages/weights.html"],
        caption="""
        **Weights of VRE.** Five sliders weight the scaled metrics of severity; VRE and ranks by model and
        by corruption are computed anew in the browser, without a network. Below: the share of all weights
        with which each model has the lowest VRE, from random weights with a uniform distribution over the
        simplex.
        """,
    ),
]
