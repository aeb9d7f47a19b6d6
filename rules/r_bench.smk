"""R-Bench: how models answer about images under 33 dimensions of corruption, and how much of an answer remains.

Its tables, figures and pages are declared in benchc/benchmarks/r_bench/outputs.py.

REQUIRED INPUTS:
    <results>/pool/items.parquet
OUTPUTS:
    <results>/pool/tasks.parquet              what each item asks for: mcq, vqa or cap
    <results>/pool/assignment.parquet         the dimensions and strengths under which each item is shown
    <results>/subsets/{mcq,vqa,cap}.parquet   the items of each task that are shown under some
    <results>/image_features.parquet          low-level features of reference and distorted images
    <results>/pairs.parquet, gallery.parquet  the pairs of images that figures and the pair explorer show
"""

# Of the images that models see; none where jobs generate them.
SHOWN_FILES = images.files("mcq", [*images.recipes])
SHOWN = images.show([*images.recipes])
KERNELS = By(
    lambda wildcards: None, {None: sorted({line for code in images.kernel_code.values() for line in code})}
)


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
    params:
        **stage("r_bench.image_features", code=[] if SHOWN_FILES else [KERNELS], images=SHOWN),
    message:
        "Measuring low-level features of the images"
    shell:
        RUN


rule choose_pairs:
    """Choose the pairs of images that figures and the pair explorer show."""
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
    params:
        **stage(
            "r_bench.choose_pairs",
            code=[KERNELS],
            images=SHOWN,
            one_image=settings.pairs == "generated",
            number=settings.tables.pairs,
            seed=settings.seed,
        ),
    message:
        "Choosing the pairs of images that are shown"
    shell:
        RUN
