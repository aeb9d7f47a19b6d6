"""R-Bench: how models answer about images under 33 dimensions of corruption, and how much of an answer remains.

Its tables, figures and pages are declared in benchc/benchmarks/r_bench/outputs.py.

REQUIRED INPUTS:
    <results>/pool/items.parquet
OUTPUTS:
    <results>/pool/tasks.parquet              what each item asks for: mcq, vqa or cap
    <results>/pool/assignment.parquet         the dimensions and strengths under which each item is shown
    <results>/subsets/{mcq,vqa,cap}.parquet   the items of each task that are shown under some
"""


rule assign:
    """Assign items to tasks, and to the dimensions and strengths under which they are shown."""
    input:
        pool="<results>/pool/items.parquet",
        # An absent one is an error of the job.
        waited_for=[file for file in [settings.imported_images or ""] if Path(file).is_file()],
    output:
        task_table="<results>/pool/tasks.parquet",
        assignment=bench.assignment,
        **bench.subsets,
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
