"""The candidate pool: items of all sources, balanced by task type.

REQUIRED INPUTS: <results>/sources/{source}.parquet, and for references the sources' files
OUTPUTS:
    <results>/pool/items.parquet         the candidates, sorted by source and index
    <results>/pool/report.csv            items available and taken by task type
    <results>/pool/references.parquet    the reference answers of the candidates, for benchmarks that need them
"""

# By source, the file with the answers to its open-ended questions.
ANSWER_FILES = {id_: "annotations" if id_ in VQAV2_SOURCES else "tsv" for id_ in sorted(run.sources)}


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
        mem_mb=2000,
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


rule references:
    """Read the reference answers of the pool's items."""
    input:
        pool="<results>/pool/items.parquet",
        files=[file_of(id_, name) for id_, name in ANSWER_FILES.items()],
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
        *code_of("scripts/read_references.py"),
        contents=[line for id_, name in ANSWER_FILES.items() for line in own_contents(id_, [name])],
        files=[
            option("--tsv" if name == "tsv" else "--annotations", f"{id_}={file_of(id_, name)}")
            for id_, name in ANSWER_FILES.items()
        ],
    message:
        "Reading the reference answers of the pool"
    shell:
        "python -m scripts.read_references --items {input.pool} {params.files} --output {output} 2>&1 | tee {log}"
