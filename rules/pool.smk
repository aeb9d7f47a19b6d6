"""The candidate pool: items of all sources, balanced by task type.

REQUIRED INPUTS: <results>/sources/{source}.parquet
OUTPUTS:
    <results>/pool/items.parquet    the candidates, sorted by source and index
    <results>/pool/report.csv       items available and taken by task type
"""


rule pool:
    """Take at most per_task items of each task type, in the order of a hash of their ids."""
    input:
        sources=collect("<results>/sources/{source}.parquet", source=sorted(run.sources)),
    output:
        parquet="<results>/pool/items.parquet",
        report="<results>/pool/report.csv",
    log:
        "<logs>/pool.log",
    benchmark:
        "<benchmarks>/pool.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, input: max(1000, int(4 * input.size_mb)),
    params:
        *code_of("scripts/pool.py"),
        per_task=option("--per-task", settings.pool.per_task),
        total=option("--total", settings.pool.total),
        task_columns=[f"{id_}={source.task_column}" for id_, source in sorted(run.sources.items())],
    message:
        "Pooling the items of all sources"
    shell:
        "python -m scripts.pool --items {input.sources} --task-columns {params.task_columns}"
        " {params.per_task} {params.total}"
        " --output {output.parquet} --report {output.report} 2>&1 | tee {log}"
