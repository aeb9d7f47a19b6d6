"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and what the sections below state
OUTPUTS: those of the sections below
"""

from functools import partial

from benchc.models.registry import ANSWERING

SUBSETS = {
    # The items of whole groups.
    "groups": f"results/{settings.name}/subsets/groups.parquet",
    # One item of each question, which is asked without its image.
    "questions": f"results/{settings.name}/subsets/questions.parquet",
}
BENCHMARK = "groups"
# The models of tables and figures.
MEASURED = settings.models
CURATE = settings.curate
RETRIEVAL = settings.retrieval

# ---- Captions, embeddings, mining, pairs, retrieval ----------------------------------------------------------------
# ---- Questions, reviews, assembly ----------------------------------------------------------------------------------
# ---- Groups and tags of the pool -----------------------------------------------------------------------------------

GROUP_SOURCES = sorted(run.sources)
OPEN_SOURCES = [id_ for id_ in GROUP_SOURCES if id_ in VQAV2_SOURCES]
if OPEN_SOURCES:
    raise WorkflowError(f"Remove {OPEN_SOURCES[0]} from sources: VQAv2 has open questions, not groups.")
TAG_FILES = [str(local(settings.groups.tags))] if settings.groups.tags else []
if TAG_FILES and not Path(TAG_FILES[0]).is_file():
    raise WorkflowError(f"groups.tags: there is no file {TAG_FILES[0]}; correct the path, or give null.")


rule read_groups:
    """Tell the groups of the pool, and read their tags; groups that are not whole are listed with the reason."""
    input:
        pool="<results>/pool/items.parquet",
        files=[file_of(id_, "tsv") for id_ in GROUP_SOURCES],
        tags=TAG_FILES,
    output:
        groups="<results>/pool/groups.parquet",
        tags="<results>/pool/tags.parquet",
        subset=SUBSETS["groups"],
        questions=SUBSETS["questions"],
        report="<results>/pool/groups.report.csv",
    log:
        "<logs>/read_groups.log",
    benchmark:
        "<benchmarks>/read_groups.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        *code_of("scripts/naturalbench/read_groups.py"),
        contents=[
            *(line for id_ in GROUP_SOURCES for line in own_contents(id_, ["tsv"])),
            *contents_of(TAG_FILES),
        ],
        files=[option("--tsv", f"{id_}={file_of(id_, 'tsv')}") for id_ in GROUP_SOURCES],
        # Functions, since Snakemake expands braces in strings as wildcards.
        labels=lambda wildcards: [
            option("--label", f"{id_}={run.sources[id_].label}") for id_ in GROUP_SOURCES
        ],
        limit=option("--limit", settings.groups.limit),
        tags=" ".join(option("--tags", file) for file in TAG_FILES),
    message:
        "Reading the groups of the pool"
    shell:
        "python -m scripts.naturalbench.read_groups --items {input.pool} {params.files} {params.labels}"
        " {params.limit} {params.tags} --groups {output.groups} --tags-output {output.tags}"
        " --subset {output.subset} --questions {output.questions} --report {output.report} 2>&1 | tee {log}"


# ---- Scores --------------------------------------------------------------------------------------------------------
# Of the models that have none, answers are read alone.
HAVE_PROBABILITIES = [id_ for id_ in MEASURED if run.models[id_].scoring not in ANSWERING]
READ_PROBABILITIES = any(reading != "decoding" for reading in settings.readings)


rule score_groups:
    """Read a model's answers and probabilities: which questions, images and groups are right."""
    input:
        pool="<results>/pool/items.parquet",
        groups="<results>/pool/groups.parquet",
        predictions=lambda wildcards: (
            collect("<results>/predictions/groups/{model}/{part}.parquet", model=wildcards.model, part=PARTS)
            if READ_PROBABILITIES and wildcards.model in HAVE_PROBABILITIES
            else []
        ),
        answers=(
            collect("<results>/answers/groups/{{model}}/{part}.parquet", part=PARTS)
            if "decoding" in settings.readings
            else []
        ),
        prior=lambda wildcards: (
            f"<results>/predictions/questions/{wildcards.model}/{settings.prior}.parquet"
            if "post_hoc" in settings.readings and wildcards.model in HAVE_PROBABILITIES
            else []
        ),
    output:
        "<results>/scores/{model}.parquet",
    log:
        "<logs>/score_groups/{model}.log",
    benchmark:
        "<benchmarks>/score_groups/{model}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/naturalbench/score_groups.py"),
        prior=option("--prior-kind", settings.prior),
        readings=settings.readings,
        extraction=option("--extraction", settings.decoding.extraction),
        corruptions=sorted(settings.corruptions.types),
        severities=settings.corruptions.severities,
    message:
        "Scoring the groups of {wildcards.model}"
    shell:
        "python -m scripts.naturalbench.score_groups --items {input.pool} --groups {input.groups}"
        " --predictions {input.predictions} --answers {input.answers} --prior {input.prior} {params.prior}"
        " --readings {params.readings} {params.extraction} --corruptions {params.corruptions}"
        " --severities {params.severities} --output {output} 2>&1 | tee {log}"


# ---- Tables and figures --------------------------------------------------------------------------------------------
PUBLISHED = "benchc/benchmarks/naturalbench/published"
SCORED = {
    "scores": collect("<results>/scores/{model}.parquet", model=MEASURED),
    "models": "<results>/models.json",
    "groups": "<results>/pool/groups.parquet",
}
RESAMPLING = {"draws": settings.tables.bootstrap.draws, "seed": settings.tables.bootstrap.seed}
# The reading of tables that have one.
READING = {
    "reading": next(
        (reading for reading in ("decoding", "deterministic") if reading in settings.readings),
        settings.readings[0],
    )
}
POOL = "<results>/pool/items.parquet"
# Answers without the image, of each question's item about image 0; a grey image is no such pass.
BLIND = [
    f"<results>/predictions/questions/{id_}/no_image.parquet"
    for id_ in HAVE_PROBABILITIES
    if "post_hoc" in settings.readings and settings.prior == "no_image"
]
BLIND_PASS = "" if BLIND else "This run asks no model without the image (post_hoc of readings, and prior)."
TABLE_WITH_PUBLISHED = ["csv", "md", "tex", "published"]
BRACKETS = f"""
In brackets: 95 % percentile intervals from {RESAMPLING['draws']} resamples of the groups, the same for all
models and readings.
"""

OUTPUTS = [
    table(
        "table1",
        "Table 1",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table1.csv"],
        wanted=bool(MEASURED),
        caption=f"""
        **Table 1** of the paper. Accuracies of each model in per cent, by the reading {READING['reading']}: Acc
        of answers, Q-Acc of questions (right on both images), I-Acc of images (both questions right) and G-Acc
        of groups (four right answers), and the difference Δ of G-Acc from that of people, 92.1. {BRACKETS}
        The first rows are people, as published, and chance. table1_published.csv has the paper's values of the
        models that are certainly the same beside ours; differences have a meaning only on the paper's groups.
        """,
    ),
    table(
        "table2",
        "Table 2",
        inputs=SCORED,
        settings=RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table2.csv"],
        wanted={"deterministic", "sample"} <= {*settings.readings} and bool(MEASURED),
        caption=f"""
        **Table 2** of the paper. Q-Acc, I-Acc and G-Acc in per cent, original (the more probable answer, τ = 0)
        and debiased (the best τ of each question, image or group). Debiased accuracies need the pairing of
        questions and images, which no model is told; they measure whether the right combinations are more
        probable than the wrong ones. {BRACKETS}
        """,
    ),
    table(
        "table4",
        "Table 4",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table4.csv"],
        wanted=bool(MEASURED),
        caption=f"""
        **Table 4** of the paper's supplement. G-Acc in per cent by subset and type of question (YN: yes or no,
        MCQ: A or B), and over all groups, by the reading {READING['reading']}. {BRACKETS}
        """,
    ),
    table(
        "table6",
        "Table 6",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table6.csv"],
        wanted=bool(MEASURED) and CURATE is not None and CURATE.mine.random_pairs > 0,
        caption=f"""
        **Table 6** of the paper's supplement. G-Acc in per cent on groups from mined pairs, which encoders
        mismatch, and from pairs drawn at random, by the reading {READING['reading']}. {BRACKETS}
        """,
    ),
    *(
        table(
            f"table{number}",
            f"Table {number}",
            inputs=SCORED | {"tags": "<results>/pool/tags.parquet"},
            settings=READING | RESAMPLING,
            formats=TABLE_WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table9_10.csv"],
            wanted=bool(MEASURED) and settings.groups.tags is not None,
            caption=f"""
            **Table {number}** of the paper's supplement. G-Acc (above) and Q-Acc (below) in per cent by skills
            of {kinds}, by the reading {READING['reading']}. A group or a question needs a skill if one of its
            samples does. The paper's table is headed Q-Acc, but its values are G-Acc: no cell of GPT-4o is above
            44.2, while its Q-Acc is 64.4. Intervals are in the csv file.
            """,
        )
        for number, kinds in ((9, "objects and attributes"), (10, "relations and reasoning"))
    ),
    table(
        "table11",
        "Table 11",
        inputs=SCORED,
        settings=RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table11.csv"],
        wanted=bool(MEASURED),
        caption=f"""
        **Table 11** of the paper's supplement. Accuracies in per cent by all readings: decoding, a generated
        answer; deterministic, the more probable answer (VQAScore, τ = 0); post-hoc, the answer that the image
        makes more probable than the question alone does (eq. 5); global τ, the one for which most groups are
        right; sample τ, the best of each question, image or group. The paper chooses the global τ from the
        groups that it is measured on; cross-fitted τ (not in the paper) is chosen from the other half of the
        groups, and global τ by type is one for each type of question. {BRACKETS}
        """,
    ),
    table(
        "taus",
        "thresholds",
        inputs=SCORED,
        wanted=bool(MEASURED) and "global" in settings.readings,
        caption="""
        **Thresholds τ** of the global readings (not in the paper), in [-1, 1], with the interval of those that
        are as good and the number of groups that are right for them.
        """,
    ),
    table(
        "bias",
        "bias",
        inputs=SCORED,
        settings=RESAMPLING,
        wanted=bool(MEASURED),
        caption=f"""
        **Bias to an answer** (not in the paper). Share of Yes among the answers to yes-or-no questions, of B
        among the answers A or B, and of replies without an answer, in per cent; half of the right answers are
        Yes, and half are B. {BRACKETS}
        """,
    ),
    table(
        "rank_swaps",
        "rank swaps",
        inputs=SCORED,
        settings=READING
        | {"draws": settings.tables.bootstrap.rank_draws, "seed": settings.tables.bootstrap.seed},
        wanted=len(MEASURED) > 1,
        caption=f"""
        **Does G-Acc rank the models differently from Acc?** (not in the paper). Pairs of models whose paired
        differences in Acc and in G-Acc have opposite signs, by the reading {READING['reading']}. p is twice the
        larger of the two one-sided bootstrap p values, since both signs must be established, with Holm's
        correction over all pairs; from {settings.tables.bootstrap.rank_draws} resamples of the groups, the
        same for all models. (The smallest p of B resamples is 2 / (B + 1), so many pairs need many resamples.)
        The csv file has all pairs.
        """,
    ),
    table(
        "corruption",
        "accuracies under corruption",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        wanted=bool(MEASURED) and bool(settings.corruptions.types),
        caption=f"""
        **Accuracies under corruption** (not in the paper). Acc and G-Acc in per cent, means over the severities,
        and their differences from clean images, by the reading {READING['reading']}. {BRACKETS} Differences are
        paired by group. The csv file has all severities and readings.
        """,
    ),
    figure(
        "figure_examples",
        "the figure of examples",
        inputs=SCORED | {"pool": POOL, "tags": "<results>/pool/tags.parquet"},
        settings={"number": 4},
        subcategory="Groups",
        wanted=bool(MEASURED),
        caption="""
        **Examples** (figures 1, 7 and 8 of the paper). Four groups, those first that some models solve and others
        do not: both images, each question with the right answer below each image, and the answers of the first
        eight models, which are generated or else the more probable ones; below the group's name, its skills if
        it has tags. A model solves a group if all four answers have a tick mark.
        """,
    ),
    figure(
        "figure_taxonomy",
        "the figure of skills",
        inputs={"groups": "<results>/pool/groups.parquet", "tags": "<results>/pool/tags.parquet"},
        subcategory="Groups",
        wanted=settings.groups.tags is not None,
        caption="""
        **Skills** (figure 6 of the paper), by class. Number of questions and of groups that need each skill:
        of which an item has its tag. An item may have several tags.
        """,
    ),
    figure(
        "figure_blind",
        "the figure of blind answers",
        inputs=SCORED | {"pool": POOL, "blind": BLIND},
        settings=RESAMPLING,
        subcategory="Accuracy",
        wanted=bool(MEASURED),
        caption=f"""
        **With and without the image** (as figures 3 to 5 of the paper). (a) Acc and (b) G-Acc of each model in
        per cent, with 95 % intervals from {RESAMPLING['draws']} resamples of the groups: by likelihood (τ = 0)
        where the model has it, else of generated answers. Without the image, a model gives both images of a
        question the same answer, as a constant answer does: half of the answers are right, and no group.
        {BLIND_PASS}
        """,
    ),
    figure(
        "figure_readings",
        "the figure of readings",
        inputs=SCORED,
        settings=RESAMPLING,
        subcategory="Accuracy",
        wanted=bool(MEASURED),
        caption=f"""
        **G-Acc by reading** (Table 11), in per cent, with 95 % intervals from {RESAMPLING['draws']} resamples of
        the groups; more than 16 models have one line each, without intervals. The dashed line is chance, 1/16,
        for four independent answers; with the best τ of each group chance is 1/6, since a group is right if its
        two right answers "Yes" are the two most probable of four.
        """,
    ),
    figure(
        "figure_corruption",
        "the figure of corruption",
        inputs=SCORED,
        settings=RESAMPLING
        | {"corruptions": settings.corruptions.types, "severities": settings.corruptions.severities},
        subcategory="Accuracy",
        wanted=bool(MEASURED) and bool(settings.corruptions.types),
        caption=f"""
        **G-Acc by severity** (not in the paper), in per cent, of generated answers or else by likelihood; 0 is
        clean. Panels with up to four curves show 95 % intervals from {RESAMPLING['draws']} resamples of the
        groups. The dashed line is chance.
        """,
    ),
]
