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
        source=one_of(sources.tsv),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "download_source",
            url=lambda wildcards: sources.published[wildcards.source]["tsv"].url,
            md5=lambda wildcards: sources.published[wildcards.source]["tsv"].md5,
        ),
    message:
        "Downloading {wildcards.source}"
    shell:
        RUN


rule download_vqav2:
    """Download one of VQAv2's files, resuming an interrupted download, and check its MD5."""
    output:
        "results/downloads/{source}/{file}",
    log:
        "<logs>/download_vqav2/{source}/{file}.log",
    wildcard_constraints:
        source=one_of(sources.vqav2),
        file="questions|annotations|images",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "download_source",
            url=lambda wildcards: sources.published[wildcards.source][wildcards.file].url,
            md5=lambda wildcards: sources.published[wildcards.source][wildcards.file].md5,
        ),
    message:
        "Downloading the {wildcards.file} of {wildcards.source}"
    shell:
        RUN


rule read_source:
    """Turn a data set into items; rows that cannot become items are listed with the reason."""
    input:
        tsv=sources.tsv_of,
    output:
        parquet="<results>/sources/{source}.parquet",
        report="<results>/sources/{source}.report.csv",
    log:
        "<logs>/read_source/{source}.log",
    benchmark:
        "<benchmarks>/read_source/{source}.jsonl"
    wildcard_constraints:
        source=one_of(sources.tsv),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, input: max(1000, int(3 * input.size_mb)),
    params:
        **stage(
            "read_source",
            contents=lambda wildcards: sources.contents(wildcards.source),
            source=lambda wildcards: wildcards.source,
            reader=By("source", {id_: sources.reader(id_) for id_ in sources.tsv}),
        ),
    message:
        "Reading the items of {wildcards.source}"
    shell:
        RUN


rule read_vqav2:
    """Turn VQAv2's files into items; questions that cannot become items are listed with the reason."""
    input:
        questions=lambda wildcards: sources.file(wildcards.source, "questions"),
        annotations=lambda wildcards: sources.file(wildcards.source, "annotations"),
        images=lambda wildcards: sources.file(wildcards.source, "images"),
        waited_for=lambda wildcards: sources.image_list(wildcards.source),
    output:
        parquet="<results>/sources/{source}.parquet",
        report="<results>/sources/{source}.report.csv",
    log:
        "<logs>/read_vqav2/{source}.log",
    benchmark:
        "<benchmarks>/read_vqav2/{source}.jsonl"
    wildcard_constraints:
        source=one_of(sources.vqav2),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: attempt * sources.memory(wildcards.source),
    params:
        **stage(
            "read_vqav2",
            contents=lambda wildcards: sources.contents(wildcards.source),
            source=lambda wildcards: wildcards.source,
            take_images=lambda wildcards: sources.taken_images(wildcards.source),
        ),
    message:
        "Reading the items of {wildcards.source}"
    shell:
        RUN
