"""From published data sets to items in one format.

REQUIRED INPUTS: the sources' files, downloaded, generated or local
OUTPUTS:
    results/downloads/{source}.tsv           a data set as published
    results/downloads/{source}/{file}        a file as published of a data set of several
    results/generated/{converted}.tsv        a data set of several files in VLMEvalKit's format
    <results>/sources/{source}.parquet       its items
    <results>/sources/{source}.report.csv    rows that did not become items, each with the reason
    <results>/sources/{source}.summary.csv   rows kept and refused, options, categories, sizes of images
    <results>/sources/{source}.images.csv    the images of the items: size, hash of the pixels
"""

from benchc.config.source_files import DOWNLOADS
from benchc.workflow.sources import converted_from, own_contents


rule download_source:
    """Download a file of a data set from its address or a mirror, and check its MD5.

    An interrupted download is resumed. A file of the published name in the folder BENCHC_DATA is taken instead.
    """
    output:
        f"{DOWNLOADS}/{{file}}",
    log:
        "<logs>/download_source/{file}.log",
    wildcard_constraints:
        file=one_of(sources.downloads),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "download_source",
            tracked=False,
            # What the file is, whoever serves it: its MD5, or its address where that is not known.
            contents=lambda wildcards: sources.download_is(wildcards.file),
            url=unrecorded(lambda wildcards: sources.downloads[wildcards.file].url),
            md5=unrecorded(lambda wildcards: sources.downloads[wildcards.file].md5),
            mirrors=unrecorded(lambda wildcards: sources.downloads[wildcards.file].mirrors or None),
            size=unrecorded(lambda wildcards: sources.downloads[wildcards.file].size),
        ),
    message:
        "Downloading {wildcards.file}"
    shell:
        RUN


rule convert_source:
    """Convert a data set of several files to a TSV in VLMEvalKit's format."""
    input:
        waited_for=lambda wildcards: converted_from(sources.conversions[wildcards.converted]),
    output:
        "results/generated/{converted}.tsv",
    log:
        "<logs>/convert_source/{converted}.log",
    benchmark:
        "<benchmarks>/convert_source/{converted}.jsonl"
    wildcard_constraints:
        converted=one_of(sources.converted),
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=lambda wildcards, input: reading_minutes(input),
    params:
        **stage(
            "convert_source",
            contents=lambda wildcards: own_contents(
                converted_from(sources.conversions[wildcards.converted])
            ),
            format=lambda wildcards: sources.conversions[wildcards.converted].format,
            files=By("converted", {name: found.files for name, found in sources.conversions.items()}),
            take_images=lambda wildcards: sources.conversions[wildcards.converted].take_images,
        ),
    message:
        "Converting {wildcards.converted}"
    shell:
        RUN


rule read_source:
    """Turn a data set into items; rows that cannot become items are listed with the reason."""
    input:
        tsv=sources.tsv_of,
        waited_for=sources.shards,
    output:
        parquet="<results>/sources/{source}.parquet",
        report="<results>/sources/{source}.report.csv",
        summary="<results>/sources/{source}.summary.csv",
        images="<results>/sources/{source}.images.csv",
    log:
        "<logs>/read_source/{source}.log",
    benchmark:
        "<benchmarks>/read_source/{source}.jsonl"
    conda:
        "../envs/core.yaml"
    # Both decode images. A small source that the run generates does not wait for two cores.
    threads: lambda wildcards: 1 if wildcards.source in sources.generated.values() else 2
    resources:
        mem_mb=1500,
        runtime=lambda wildcards, input: reading_minutes([input.tsv, *sources.shards(wildcards)]),
    params:
        **stage(
            "read_source",
            contents=lambda wildcards: sources.contents(wildcards.source),
            source=lambda wildcards: wildcards.source,
            reader=By("source", sources.readers),
            published=unrecorded(lambda wildcards: sources.published[wildcards.source]),
            max_rejected=unrecorded(lambda wildcards: sources.max_rejected[wildcards.source]),
        ),
    message:
        "Reading the items of {wildcards.source}"
    shell:
        RUN
