"""From published data sets to items in one format.

REQUIRED INPUTS: the sources' TSV files, downloaded, generated or local
OUTPUTS:
    results/downloads/{source}.tsv           a data set as published
    <results>/sources/{source}.parquet       its items
    <results>/sources/{source}.report.csv    rows that did not become items, each with the reason
"""


rule download_source:
    """Download a data set, resuming an interrupted download, and check its MD5."""
    output:
        "results/downloads/{source}.tsv",
    log:
        "<logs>/download_source/{source}.log",
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
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, input: max(1000, int(3 * input.size_mb)),
    params:
        *code_of("scripts/read_source.py"),
        contents=source_contents,
        reader=lambda wildcards: reader_options(wildcards.source),
    message:
        "Reading the items of {wildcards.source}"
    shell:
        "python -m scripts.read_source --source {wildcards.source} --tsv {input.tsv:q} {params.reader}"
        " --output {output.parquet} --report {output.report} 2>&1 | tee {log}"
