"""The paper's tables beside the published values, its claims as checks, and what chance leaves of them.

REQUIRED INPUTS: <results>/scores/{model}.parquet, <results>/selection/selected.parquet
    <results>/pool/items.parquet    for the claims
OUTPUTS:
    <results>/tables/{table1,table2,table3,claims,intervals,rank_swaps}.{csv,md,tex}
    <results>/tables/table{1,2,3}_published.csv    ours and the paper's where the models coincide
    <results>/tables/cells.csv                     transitions and regimes of every target, corruption, severity
"""


rule table1:
    """Print Table 1: accuracy, RAS and their shifts for every target (eq. 11)."""
    input:
        code=code_of("scripts/table1.py"),
        published="benchc/benchmarks/bench_c/published/table1.csv",
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
        published="<results>/tables/table1_published.csv",
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
        " --output-tex {output.tex} --output-published {output.published} 2>&1 | tee {log}"


rule table2:
    """Print Table 2: how RAS and accuracy answer to one more step of severity (section 9.2)."""
    input:
        code=code_of("scripts/table2.py"),
        published="benchc/benchmarks/bench_c/published/table2.csv",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/table2.csv",
            caption="captions/table2.rst",
            category="Tables",
        ),
        md="<results>/tables/table2.md",
        tex="<results>/tables/table2.tex",
        published="<results>/tables/table2_published.csv",
    log:
        "<logs>/table2.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        labels=[run.models[model].label for model in settings.targets],
        centring=settings.tables.table2.centring,
    message:
        "Printing Table 2"
    shell:
        "python -m scripts.table2 --scores {input.scores} --labels {params.labels:q}"
        " --centring {params.centring} --output-csv {output.csv} --output-md {output.md}"
        " --output-tex {output.tex} --output-published {output.published} 2>&1 | tee {log}"


rule table3:
    """Print Table 3: where severity 1 raises accuracy; and every cell's transitions and regimes."""
    input:
        code=code_of("scripts/table3.py"),
        published="benchc/benchmarks/bench_c/published/table3.csv",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/table3.csv",
            caption="captions/table3.rst",
            category="Tables",
        ),
        md="<results>/tables/table3.md",
        tex="<results>/tables/table3.tex",
        published="<results>/tables/table3_published.csv",
        cells="<results>/tables/cells.csv",
    log:
        "<logs>/table3.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        labels=[run.models[model].label for model in settings.targets],
    message:
        "Printing Table 3"
    shell:
        "python -m scripts.table3 --scores {input.scores} --labels {params.labels:q}"
        " --output-csv {output.csv} --output-md {output.md} --output-tex {output.tex}"
        " --output-published {output.published} --output-cells {output.cells} 2>&1 | tee {log}"


rule claims:
    """Check the claims of the paper's results on this run."""
    input:
        code=code_of("scripts/claims.py"),
        published=collect("benchc/benchmarks/bench_c/published/table{number}.csv", number=[1, 2, 3]),
        pool="<results>/pool/items.parquet",
        selected="<results>/selection/selected.parquet",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/claims.csv",
            caption="captions/claims.rst",
            category="Tables",
        ),
        md="<results>/tables/claims.md",
        tex="<results>/tables/claims.tex",
    log:
        "<logs>/claims.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        labels=[run.models[model].label for model in settings.targets],
        corruptions=settings.corruptions.types,
        families=[family_of(name, settings.corruptions.suite) for name in settings.corruptions.types],
        example=run.models[settings.figures.figure4.target].label,
        corruption=settings.figures.figure4.corruption,
        severity=settings.figures.figure4.severity,
    message:
        "Checking the paper's claims"
    shell:
        "python -m scripts.claims --scores {input.scores} --labels {params.labels:q}"
        " --pool {input.pool} --selected {input.selected}"
        " --corruptions {params.corruptions} --families {params.families}"
        " --example-label {params.example:q} --example-corruption {params.corruption}"
        " --example-severity {params.severity} --output-csv {output.csv} --output-md {output.md}"
        " --output-tex {output.tex} 2>&1 | tee {log}"


rule bootstrap:
    """Give every aggregate and every rank its bootstrap interval, conditional on the selected set."""
    input:
        code=code_of("scripts/bootstrap.py"),
        selected="<results>/selection/selected.parquet",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/intervals.csv",
            caption="captions/intervals.rst",
            category="Tables",
        ),
        md="<results>/tables/intervals.md",
        tex="<results>/tables/intervals.tex",
    log:
        "<logs>/bootstrap.log",
    benchmark:
        "<benchmarks>/bootstrap.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        models=settings.targets,
        labels=[run.models[model].label for model in settings.targets],
        draws=option("--draws", settings.tables.bootstrap.draws),
        seed=option("--seed", settings.tables.bootstrap.seed),
    message:
        "Resampling the items for intervals"
    shell:
        "python -m scripts.bootstrap --scores {input.scores} --models {params.models}"
        " --labels {params.labels:q} --selected {input.selected} {params.draws} {params.seed}"
        " --output-csv {output.csv} --output-md {output.md} --output-tex {output.tex} 2>&1 | tee {log}"


rule rank_swaps:
    """Test for every pair of targets whether RAS and accuracy order it differently."""
    input:
        code=code_of("scripts/rank_swaps.py"),
        selected="<results>/selection/selected.parquet",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/rank_swaps.csv",
            caption="captions/rank_swaps.rst",
            category="Tables",
        ),
        md="<results>/tables/rank_swaps.md",
        tex="<results>/tables/rank_swaps.tex",
    log:
        "<logs>/rank_swaps.log",
    benchmark:
        "<benchmarks>/rank_swaps.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        models=settings.targets,
        labels=[run.models[model].label for model in settings.targets],
        draws=option("--draws", settings.tables.bootstrap.rank_draws),
        seed=option("--seed", settings.tables.bootstrap.seed),
    message:
        "Testing rank swaps"
    shell:
        "python -m scripts.rank_swaps --scores {input.scores} --models {params.models}"
        " --labels {params.labels:q} --selected {input.selected} {params.draws} {params.seed}"
        " --output-csv {output.csv} --output-md {output.md} --output-tex {output.tex} 2>&1 | tee {log}"
