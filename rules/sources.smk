"""From published data sets to items in one format.

REQUIRED INPUTS: the sources' files, downloaded, generated or local
OUTPUTS:
    results/downloads/{source}.tsv           a data set as published
    results/downloads/{source}/{file}        a file of VQAv2 as published: questions, annotations or images
    <results>/sources/{source}.parquet       its items
    <results>/sources/{source}.report.csv    rows that did not become items, each with the reason
"""


rule download_source:
    """Download a data set, resuming an interrupted download, and check its MD5."""
    output:
        "results/downloads/{source}.tsv",
    log:
        "<logs>/download_source/{source}.log",
    wildcard_constraints:
        source="|".join(TSV_SOURCES) or NO_WILDCARD,
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/download_source.py"),
        url=lambda wildcards: run.sources[wildcards.source].url,
        md5=lambda wildcards: option("--md5", run.sources[wildcards.source].md5),
    message:
        "Downloading {wildcards.source}"
    shell:
        "python -m scripts.download_source --url {params.url:q} {params.md5} --output {output} 2>&1 | tee {log}"


rule download_vqav2:
    """Download one of VQAv2's files, resuming an interrupted download, and check its MD5."""
    output:
        "results/downloads/{source}/{file}",
    log:
        "<logs>/download_vqav2/{source}/{file}.log",
    wildcard_constraints:
        source="|".join(VQAV2_SOURCES) or NO_WILDCARD,
        file="|".join(VQAV2_FILES),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/download_source.py"),
        url=lambda wildcards: SOURCE_FILES[wildcards.source][wildcards.file].url,
        md5=lambda wildcards: option("--md5", SOURCE_FILES[wildcards.source][wildcards.file].md5),
    message:
        "Downloading the {wildcards.file} of {wildcards.source}"
    shell:
        "python -m scripts.download_source --url {params.url:q} {params.md5} --output {output} 2>&1 | tee {log}"


rule read_source:
    """Turn a data set into items; rows that cannot become items are listed with the reason."""
    input:
        tsv=tsv_of,
    output:
        parquet="<results>/sources/{source}.parquet",
        report="<results>/sources/{source}.report.csv",
    log:
        "<logs>/read_source/{source}.log",
    benchmark:
        "<benchmarks>/read_source/{source}.jsonl"
    wildcard_constraints:
        source="|".join(TSV_SOURCES) or NO_WILDCARD,
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, input: max(1000, int(3 * input.size_mb)),
    params:
        *code_of("scripts/read_source.py"),
        contents=lambda wildcards: source_contents(wildcards.source),
        reader=lambda wildcards: reader_options(wildcards.source),
    message:
        "Reading the items of {wildcards.source}"
    shell:
        "python -m scripts.read_source --source {wildcards.source} --tsv {input.tsv:q} {params.reader}"
        " --output {output.parquet} --report {output.report} 2>&1 | tee {log}"


rule read_vqav2:
    """Turn VQAv2's files into items; questions that cannot become items are listed with the reason."""
    input:
        questions=lambda wildcards: file_of(wildcards.source, "questions"),
        annotations=lambda wildcards: file_of(wildcards.source, "annotations"),
        images=lambda wildcards: file_of(wildcards.source, "images"),
        listed=lambda wildcards: image_list_of(wildcards.source),
    output:
        parquet="<results>/sources/{source}.parquet",
        report="<results>/sources/{source}.report.csv",
    log:
        "<logs>/read_vqav2/{source}.log",
    benchmark:
        "<benchmarks>/read_vqav2/{source}.jsonl"
    wildcard_constraints:
        source="|".join(VQAV2_SOURCES) or NO_WILDCARD,
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * vqav2_memory(wildcards.source),
    params:
        *code_of("scripts/read_vqav2.py"),
        contents=lambda wildcards: source_contents(wildcards.source),
        take=lambda wildcards: option("--take-images", run.sources[wildcards.source].vqav2.take_images),
    message:
        "Reading the items of {wildcards.source}"
    shell:
        "python -m scripts.read_vqav2 --source {wildcards.source} --questions {input.questions:q}"
        " --annotations {input.annotations:q} --images {input.images:q} {params.take}"
        " --output {output.parquet} --report {output.report} 2>&1 | tee {log}"
