"""Corrupted images of the whole pool, or of the benchmark's items only.

REQUIRED INPUTS: <results>/pool/items.parquet
    <results>/subsets/{subset}.parquet    for the benchmark: the ids of its items (Benchmark.stored_subset)
    <results>/pool/assignment.parquet     where a benchmark has one: the corruptions and severities of each item
OUTPUTS: lossless images of one corruption at all severities; `clean` has severity 0
    <results>/corrupted/{corruption}.parquet    images of the pool, where corruptions.corrupted is files
    <results>/benchmark/{corruption}.parquet    images of the benchmark, where it is on_the_fly
"""


rule corrupt:
    """Apply one corruption at all severities to the images of the pool or of the benchmark."""
    input:
        pool="<results>/pool/items.parquet",
        subset=lambda wildcards: (
            bench.subsets[bench.stored_subset] or [] if wildcards.images == "benchmark" else []
        ),
        assignment=bench.assignment or [],
    output:
        "<results>/{images}/{corruption}.parquet",
    log:
        "<logs>/corrupt/{images}/{corruption}.log",
    benchmark:
        "<benchmarks>/corrupt/{images}/{corruption}.jsonl"
    wildcard_constraints:
        corruption=one_of(name for name in images.recipes if name not in images.imported),
    conda:
        "../envs/images.yaml"
    # Images are independent of each other.
    threads: lambda wildcards, input: corrupt_threads(images.seconds(wildcards, input))
    resources:
        mem_mb=lambda wildcards, threads: 1000 + 1000 * threads,
        runtime=lambda wildcards, input, threads: minutes(images.seconds(wildcards, input) / threads),
    params:
        **stage(
            "corrupt",
            code=[By("corruption", images.kernel_code)],
            recipe=By("corruption", images.recipes),
            seed=settings.seed,
            alpha=settings.corruptions.alpha,
            threads=unrecorded(lambda threads: threads),
        ),
    message:
        "Writing the images {wildcards.images}/{wildcards.corruption}.parquet"
    shell:
        RUN


if images.imported:

    rule import_images:
        """Import the images of one corruption that another program made, or that were photographed."""
        input:
            pool="<results>/pool/items.parquet",
            assignment=bench.assignment or [],
            # An absent one is an error of the job.
            waited_for=[file for file in [settings.imported_images] if Path(file).is_file()],
        output:
            "<results>/corrupted/{corruption}.parquet",
        log:
            "<logs>/import_images/{corruption}.log",
        benchmark:
            "<benchmarks>/import_images/{corruption}.jsonl"
        wildcard_constraints:
            corruption=one_of(images.imported),
        localrule: True
        conda:
            "../envs/images.yaml"
        params:
            **stage(
                "import_images",
                contents=contents_of([settings.imported_images]),
                images=settings.imported_images,
                recipe=By("corruption", images.recipes),
                photographed=images.photographed,
                alpha=settings.corruptions.alpha,
            ),
        message:
            "Importing the images corrupted/{wildcards.corruption}.parquet"
        shell:
            RUN
