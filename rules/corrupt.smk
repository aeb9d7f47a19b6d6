"""Every image of the pool under every corruption.

REQUIRED INPUTS: <results>/pool/items.parquet
OUTPUTS: <results>/corrupted/{corruption}.parquet    all severities of one corruption, lossless;
    `clean` is severity 0 and passes through the same code
"""


rule corrupt:
    """Apply one corruption at all severities to the images of the pool."""
    input:
        code=lambda wildcards: KERNEL_CODE[wildcards.corruption],
        pool="<results>/pool/items.parquet",
    output:
        "<results>/corrupted/{corruption}.parquet",
    log:
        "<logs>/corrupt/{corruption}.log",
    benchmark:
        "<benchmarks>/corrupt/{corruption}.jsonl"
    conda:
        "../envs/images.yaml"
    # The work of an item is independent of the others': a cluster's profile gives more threads.
    threads: 1
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(2000, int(60 * input.size_mb)),
    params:
        suite=settings.corruptions.suite,
        severities=settings.corruptions.severities,
        seed=settings.seed,
    message:
        "Corrupting the pool's images: {wildcards.corruption}"
    shell:
        "python -m scripts.corrupt --items {input.pool} --corruption {wildcards.corruption}"
        " --severities {params.severities} --suite {params.suite} --seed {params.seed}"
        " --threads {threads} --output {output} 2>&1 | tee {log}"
