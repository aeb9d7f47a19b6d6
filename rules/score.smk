"""How the targets' predictions degrade: scores of every read, and Table 1.

REQUIRED INPUTS: <results>/predictions/selected/{target}/{batch}.parquet, <results>/selection/selected.parquet
OUTPUTS:
    <results>/scores/{model}.parquet          entropy, calibration error, RAS, transition and regime of a read
    <results>/tables/table1.{csv,md,tex}      the targets compared
"""


rule score:
    """Compare every corrupted read of a target with its clean read (eq. 6 to 10)."""
    input:
        code=code_of("scripts/score.py"),
        pool="<results>/pool/items.parquet",
        selected="<results>/selection/selected.parquet",
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
    message:
        "Scoring {wildcards.model}"
    shell:
        "python -m scripts.score --predictions {input.predictions} --pool {input.pool}"
        " --selected {input.selected} --output {output} 2>&1 | tee {log}"


rule table1:
    """Print Table 1: accuracy, RAS and their shifts for every target (eq. 11)."""
    input:
        code=code_of("scripts/table1.py"),
        selected="<results>/selection/selected.parquet",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/table1.csv",
            caption="captions/table1.rst",
            category="Tables",
        ),
        md="<results>/tables/table1.md",
        tex="<results>/tables/table1.tex",
    log:
        "<logs>/table1.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        models=settings.targets,
        labels=[run.models[model].label for model in settings.targets],
        years=[run.models[model].year or "unknown" for model in settings.targets],
        parameters=[run.models[model].parameters_b or "unknown" for model in settings.targets],
    message:
        "Printing Table 1"
    shell:
        "python -m scripts.table1 --scores {input.scores} --models {params.models}"
        " --labels {params.labels:q} --years {params.years} --parameters {params.parameters}"
        " --selected {input.selected} --output-csv {output.csv} --output-md {output.md}"
        " --output-tex {output.tex} 2>&1 | tee {log}"
