"""R-Bench: how models answer about distorted images; free answers are graded by a judge.

Its tables, figures and pages are declared in benchc/benchmarks/r_bench/outputs.py.

REQUIRED INPUTS:
    <results>/pool/{items,references}.parquet
    <results>/answers/{mcq,vqa,cap}/{model}/{part}.parquet    written by rule answer
OUTPUTS:
    <results>/pool/tasks.parquet              what each item asks for: mcq, vqa or cap
    <results>/pool/assignment.parquet         the dimensions and strengths under which each item is shown
    <results>/subsets/{mcq,vqa,cap}.parquet   the items of each task that are shown under some
    <results>/judge_scores/{model}.parquet    the judgements of a model's replies, also of models that another
                                              program has asked or judged
    <results>/scores/{model}.parquet          the scores of its items
    <results>/people/scores.parquet           the scores of people
    <results>/image_features.parquet          low-level features of reference and distorted images
    <results>/pairs.parquet, gallery.parquet  the pairs of images that figures show
"""

from benchc.benchmarks.r_bench.tasks import TASKS

# Of the images that models see; none where jobs generate them.
SHOWN_FILES = images.files("mcq", [*images.recipes])
SHOWN = images.show([*images.recipes])


rule assign:
    """Assign items to tasks, and to the dimensions and strengths under which they are shown."""
    input:
        pool="<results>/pool/items.parquet",
        # An absent one is an error of the job.
        waited_for=[file for file in [settings.imported_images or ""] if Path(file).is_file()],
    output:
        **bench.subsets,
        task_table="<results>/pool/tasks.parquet",
        assignment=bench.assignment,
    log:
        "<logs>/assign.log",
    benchmark:
        "<benchmarks>/assign.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "r_bench.assign",
            contents=contents_of([settings.imported_images or ""]),
            released=settings.imported_images,
            tasks=settings.tasks,
            corruptions=settings.corruptions.types,
            severities=settings.corruptions.severities,
            per_task=settings.assignment.per_task,
            per_item=settings.assignment.per_item,
            cross=settings.assignment.cross,
        ),
    message:
        "Assigning items to tasks and dimensions"
    shell:
        RUN


rule judge:
    """Judge the replies of one model."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        tasks="<results>/pool/tasks.parquet",
        assignment="<results>/pool/assignment.parquet",
        answers=collect(
            "<results>/answers/{subset}/{{model}}/{part}.parquet", subset=TASKS, part=images.batches
        ),
        waited_for=bench.human_scores,
    output:
        "<results>/judge_scores/{model}.parquet",
    log:
        "<logs>/judge/{model}.log",
    benchmark:
        "<benchmarks>/judge/{model}.jsonl"
    wildcard_constraints:
        model=one_of(bench.measured),
    # It may need a network, which nodes of a cluster may lack.
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        **stage(
            "r_bench.judge",
            contents=lambda wildcards: bench.contents([]),
            label=lambda wildcards: wildcards.model,
            **bench.judging(),
        ),
    message:
        "Judging the replies of {wildcards.model}"
    shell:
        RUN


rule import_answers:
    """Judge the replies of one model that another program has asked."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        tasks="<results>/pool/tasks.parquet",
        assignment="<results>/pool/assignment.parquet",
        # An absent one is an error of the job, since the other program needs the pool first.
        waited_for=lambda wildcards: [
            file
            for file in [bench.imported[wildcards.imported], *bench.human_scores]
            if Path(file).is_file()
        ],
    output:
        "<results>/judge_scores/{imported}.parquet",
    log:
        "<logs>/import_answers/{imported}.log",
    wildcard_constraints:
        imported=one_of(bench.imported),
    # Early, since the file may be absent.
    priority: 100
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        **stage(
            "r_bench.judge",
            contents=lambda wildcards: bench.contents([bench.imported[wildcards.imported]]),
            answers=[],
            imported=lambda wildcards: bench.imported[wildcards.imported],
            label=lambda wildcards: wildcards.imported,
            **bench.judging(),
        ),
    message:
        "Judging the replies of {wildcards.imported}"
    shell:
        RUN


rule import_judgements:
    """Read the judgements of one model by another program."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        tasks="<results>/pool/tasks.parquet",
        assignment="<results>/pool/assignment.parquet",
        dis=lambda wildcards: bench.released[wildcards.released]["dis"],
        ref=lambda wildcards: bench.released[wildcards.released]["ref"],
        com=lambda wildcards: bench.released[wildcards.released]["com"],
    output:
        "<results>/judge_scores/{released}.parquet",
    log:
        "<logs>/import_judgements/{released}.log",
    wildcard_constraints:
        released=one_of(bench.released),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "r_bench.import_judgements",
            contents=lambda wildcards: contents_of(bench.released[wildcards.released].values()),
            label=lambda wildcards: wildcards.released,
            corruptions=settings.corruptions.types,
            severities=settings.corruptions.severities,
        ),
    message:
        "Reading the judgements of {wildcards.released}"
    shell:
        RUN


rule judge_people:
    """Judge the answers of people."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        tasks="<results>/pool/tasks.parquet",
        assignment="<results>/pool/assignment.parquet",
        people=bench.people,
        waited_for=bench.human_scores,
    output:
        "<results>/people/scores.parquet",
    log:
        "<logs>/judge_people.log",
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        **stage(
            "r_bench.judge_people",
            contents=lambda wildcards: bench.contents(bench.people),
            **bench.judging(),
        ),
    message:
        "Judging the answers of people"
    shell:
        RUN


rule score:
    """Score the items of one model by its judgements."""
    input:
        judge_scores="<results>/judge_scores/{model}.parquet",
    output:
        "<results>/scores/{model}.parquet",
    log:
        "<logs>/score/{model}.log",
    benchmark:
        "<benchmarks>/score/{model}.jsonl"
    wildcard_constraints:
        model=one_of(bench.labels),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage("r_bench.score"),
    message:
        "Scoring {wildcards.model}"
    shell:
        RUN


rule image_features:
    """Measure low-level features of reference and distorted images."""
    input:
        pool="<results>/pool/items.parquet",
        assignment=bench.assignment,
        corrupted=SHOWN_FILES,
    output:
        "<results>/image_features.parquet",
    log:
        "<logs>/image_features.log",
    benchmark:
        "<benchmarks>/image_features.jsonl"
    conda:
        "../envs/images.yaml"
    resources:
        # Features of both images take about as long as a corruption.
        runtime=lambda wildcards, input: minutes(2 * images.mean_seconds * rows(input.assignment)),
    params:
        **stage("r_bench.image_features", code=[] if SHOWN_FILES else [images.all_kernels], images=SHOWN),
    message:
        "Measuring low-level features of the images"
    shell:
        RUN


rule choose_pairs:
    """Choose the pairs of images that figures show."""
    input:
        pool="<results>/pool/items.parquet",
        tasks="<results>/pool/tasks.parquet",
        assignment=bench.assignment,
        corrupted=SHOWN_FILES,
    output:
        pairs="<results>/pairs.parquet",
        gallery="<results>/gallery.parquet",
    log:
        "<logs>/choose_pairs.log",
    benchmark:
        "<benchmarks>/choose_pairs.jsonl"
    conda:
        "../envs/images.yaml"
    resources:
        runtime=minutes(images.seconds_of(images.recipes, 1) + images.mean_seconds * settings.tables.pairs),
    params:
        **stage(
            "r_bench.choose_pairs",
            code=[images.all_kernels],
            images=SHOWN,
            one_image=settings.pairs == "generated",
            number=settings.tables.pairs,
            seed=settings.seed,
        ),
    message:
        "Choosing the pairs of images that are shown"
    shell:
        RUN
