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
        f"{len(ABSENT)} files of answers_from do not exist yet (docs/vqa-robustness.md): {', '.join(ABSENT)}."
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
        **Table A.1.** Errors of each model at each level (0 is clean) under each corruption: the share of wrong
        answers, in [0, 1], low is better. The lowest and the highest error of a row are marked. The paper's own
        rows are sorted by error; ours are not. For the paper's models, table_a1_published.csv has its values and
        the differences. Reproduces the paper's Table A.1.
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
        **Table A.2.** Accuracy by corruption and class of question, in [0, 1]: the mean over models and levels 1
        to 5 of the share of right answers within the class. The classes are the paper's seven, by the question
        types of VQAv2; a run on other sources has the categories of its items. table_a2_published.csv has the
        paper's values. Reproduces the paper's Table A.2.
        """,
    ),
    table(
        "severity_metrics",
        "metrics of severity",
        inputs={"errors": ERRORS},
        settings={"levels": settings.vre.levels},
        caption="""
        **How errors grow with the level**, by model and corruption, unscaled. With E0 the clean error and E1 to E5
        those at the levels: First-Drop (E1 − E0) / E0; Range (max − min) / min; Error Rate, the slope of the
        least-squares line; Average Error; Average Difference, the mean of E1 − E0 to E5 − E0. *Falls* counts the
        levels at which the error is lower than at the level before: curves are not sorted, as the paper's are.
        """,
    ),
    table(
        "vre_model",
        "VRE by model",
        inputs={"grades": GRADES, "pool": POOL, "scale_of": SCALE},
        settings=GRADED | WEIGHTED | RESAMPLING,
        caption=f"""
        **Visual robustness error of each model**: the weighted mean of the five metrics of severity, each scaled
        to [0, 1] over all models and corruptions and averaged over corruptions. Low is robust; rank 1 is the most
        robust. It depends on the models of the run unless `vre.scale_of` names a table of errors whose minima and
        maxima are taken. Intervals (not in the paper): 95 % percentiles of {RESAMPLING['draws']} resamples of the
        images, all questions about an image together, the same for all models; the metrics are scaled anew in
        each. *Stability* is the share of resamples in which the model has the same rank.
        """,
    ),
    table(
        "vre_corruption",
        "VRE by corruption",
        inputs={"grades": GRADES, "pool": POOL, "scale_of": SCALE},
        settings=GRADED | WEIGHTED | RESAMPLING,
        caption=f"""
        **Visual robustness error of each corruption**: as by model, but averaged over models. High is harmful;
        rank 1 is the most harmless. 95 % intervals and stability of ranks (not in the paper) from
        {RESAMPLING['draws']} resamples of the images.
        """,
    ),
    table(
        "weightings",
        "VRE under six weightings",
        inputs={"errors": ERRORS, "scale_of": SCALE},
        settings={"levels": settings.vre.levels},
        caption="""
        **VRE and rank of each model under six weightings**: equal weights, and 0.6 for one metric with 0.1 for each
        other, as in the paper's study. Low is robust.
        """,
    ),
    table(
        "relative_drops",
        "relative drops of accuracy",
        inputs={"errors": ERRORS},
        caption="""
        **Mean accuracy and its relative drop** by model, over all corruptions and levels 0 to 5, and by corruption,
        over all models and levels 0 to 5. The relative drop is the share of the clean accuracy that is lost; that
        of a corruption is relative to the mean clean accuracy of the models.
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
        **The corruptions by class** (figure A.1 of the paper): one image of the pool, clean and under each
        corruption at level 4.
        """,
    ),
    figure(
        "figure_classes",
        "the figure of question classes",
        inputs={"pool": POOL},
        subcategory="Questions",
        caption="""
        **Questions by type** (figure A.3 of the paper): the share of each type, or category, in the pool. Blue: types
        that are in a class of Table A.2.
        """,
    ),
    figure(
        "figure_a2",
        "figure A.2",
        inputs={"errors": ERRORS},
        subcategory="Errors",
        caption="""
        **Error by level** (figure A.2 of the paper): the share of wrong answers of each model under each corruption,
        clean and at levels 1 to 5.
        """,
    ),
    figure(
        "figure_heatmap",
        "the heat map of relative drops",
        inputs={"errors": ERRORS},
        settings={"groups": MEASURED_GROUPS},
        subcategory="Errors",
        caption="""
        **Relative drop of accuracy** by model and corruption: the share of the clean accuracy that is lost in the
        mean over the levels 0 to 5.
        """,
    ),
    figure(
        "figure_bars",
        "the figure of mean errors",
        inputs={"errors": ERRORS},
        settings={"groups": MEASURED_GROUPS},
        subcategory="Errors",
        caption="""
        **Mean error by corruption**, over models and levels 1 to 5, grouped by class. Lines are one standard deviation
        over models, points are models, and the dashed line is the mean clean error.
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
        **The five scaled metrics** of each model, averaged over corruptions (first panel), and of each corruption,
        averaged over models, by class. 0 is the most robust, 1 the least.
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
        **VRE under weights of your own** (not in the paper): five sliders set the weights, and the page computes VRE
        and ranks anew. It also states in which share of all weightings each model is the most robust.
        """,
    ),
]
