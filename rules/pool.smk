"""The candidate pool: items of all sources, balanced by task type.

REQUIRED INPUTS: <results>/sources/{source}.parquet, and for references the sources' files
OUTPUTS:
    <results>/pool/items.parquet         the candidates, sorted by source and index
    <results>/pool/report.csv            items available and taken by task type
    <results>/pool/duplicates.csv        items of different sources whose images have the same pixels
    <results>/pool/references.parquet    the reference answers of the candidates, for benchmarks that need them
"""


rule pool:
    """Take at most per_task items of each task type, in the order of a hash of their ids."""
    input:
        sources=collect("<results>/sources/{source}.parquet", source=sources.all),
        images=collect("<results>/sources/{source}.images.csv", source=sources.all),
    output:
        parquet="<results>/pool/items.parquet",
        report="<results>/pool/report.csv",
        duplicates="<results>/pool/duplicates.csv",
    log:
        "<logs>/pool.log",
    benchmark:
        "<benchmarks>/pool.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=lambda wildcards, input: reading_minutes(input.sources),
    params:
        **stage(
            "pool",
            per_task=settings.pool.per_task,
            total=settings.pool.total,
            task_columns={id_: sources.entries[id_].task_column for id_ in sources.all},
        ),
    message:
        "Pooling the items of all sources"
    shell:
        RUN


rule references:
    """Read the reference answers of the pool's items."""
    input:
        pool="<results>/pool/items.parquet",
        waited_for=[file["path"] for file in sources.answers.values()],
    output:
        "<results>/pool/references.parquet",
    log:
        "<logs>/references.log",
    benchmark:
        "<benchmarks>/references.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage("references", contents=sources.contents(*sources.all), files=sources.answers),
    message:
        "Reading the reference answers of the pool"
    shell:
        RUN
