"""How the targets' predictions degrade.

REQUIRED INPUTS: <results>/predictions/selected/{target}/{batch}.parquet, <results>/selection/selected.parquet
OUTPUTS:
    <results>/scores/{model}.parquet    entropy, calibration error, RAS, transition and regime of a read
"""


rule score:
    """Compare every corrupted read of a target with its clean read (eq. 6 to 10)."""
    input:
        code=code_of("scripts/bench_c/score.py"),
        pool="<results>/pool/items.parquet",
        chosen="<results>/selection/selected.parquet",
        predictions=collect("<results>/predictions/selected/{{model}}/{batch}.parquet", batch=BATCHES),
    output:
        "<results>/scores/{model}.parquet",
    log:
        "<logs>/score/{model}.log",
    benchmark:
        "<benchmarks>/score/{model}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        subset="--selected",
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
        allow_missing="--allow-missing" if settings.scores.allow_missing else "",
    message:
        "Scoring {wildcards.model}"
    shell:
        "python -m scripts.bench_c.score --predictions {input.predictions} --pool {input.pool}"
        " {params.subset} {input.chosen} --corruptions {params.corruptions}"
        " --severities {params.severities} {params.allow_missing} --output {output} 2>&1 | tee {log}"
