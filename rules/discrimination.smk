"""Does the selected set tell targets apart better than random subsets of the pool? Beyond the paper.

REQUIRED INPUTS:
    <results>/selection/selected.parquet
    <results>/scores/{target}.parquet
    <results>/predictions/unselected/{target}/{batch}.parquet    made by rule infer
OUTPUTS, where diagnostics.random_subset asks for them:
    <results>/selection/unselected.parquet        items outside the benchmark that targets read as well
    <results>/scores/unselected/{model}.parquet   their reads, scored like the benchmark's
    <results>/tables/discrimination.{csv,md,tex}  spread, separable pairs and order of the targets
    <results>/figures/discrimination.{png,pdf}    the same, drawn
"""


rule draw_unselected:
    """Draw items that were not selected, in a hashed order."""
    input:
        code=code_of("scripts/bench_c/draw_unselected.py"),
        selected="<results>/selection/selected.parquet",
    output:
        "<results>/selection/unselected.parquet",
    log:
        "<logs>/draw_unselected.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        at_most=option(
            "--count",
            None if settings.diagnostics.random_subset == "all" else settings.diagnostics.random_subset,
        ),
    message:
        "Drawing items that were not selected"
    shell:
        "python -m scripts.bench_c.draw_unselected --selected {input.selected} {params.at_most}"
        " --output {output} 2>&1 | tee {log}"


use rule score as score_unselected with:
    input:
        code=code_of("scripts/bench_c/score.py"),
        pool="<results>/pool/items.parquet",
        chosen="<results>/selection/unselected.parquet",
        predictions=collect("<results>/predictions/unselected/{{model}}/{batch}.parquet", batch=BATCHES),
    output:
        "<results>/scores/unselected/{model}.parquet",
    log:
        "<logs>/score/unselected/{model}.log",
    benchmark:
        "<benchmarks>/score/unselected/{model}.jsonl"
    params:
        subset="--unselected",
    message:
        "Scoring {wildcards.model} on items that were not selected"


rule discrimination:
    """Compare the selected set with random subsets of the pool of equal size."""
    input:
        code=code_of("scripts/discrimination.py"),
        selected="<results>/selection/selected.parquet",
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
        unselected_scores=collect("<results>/scores/unselected/{model}.parquet", model=settings.targets),
    output:
        csv=report(
            "<results>/tables/discrimination.csv",
            caption="captions/discrimination.rst",
            category="Tables",
        ),
        md="<results>/tables/discrimination.md",
        tex="<results>/tables/discrimination.tex",
    log:
        "<logs>/discrimination.log",
    benchmark:
        "<benchmarks>/discrimination.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        labels=[run.models[model].label for model in settings.targets],
        draws=option("--draws", settings.tables.bootstrap.draws),
        seed=option("--seed", settings.tables.bootstrap.seed),
    message:
        "Comparing the selected set with random subsets of the pool"
    shell:
        "python -m scripts.discrimination --scores {input.scores}"
        " --unselected-scores {input.unselected_scores} --labels {params.labels:q}"
        " --selected {input.selected} {params.draws} {params.seed} --output-csv {output.csv}"
        " --output-md {output.md} --output-tex {output.tex} 2>&1 | tee {log}"


rule figure_discrimination:
    """Draw the selected set beside random subsets of the pool."""
    input:
        code=code_of("scripts/figure_discrimination.py"),
        discrimination="<results>/tables/discrimination.csv",
    output:
        png=report(
            "<results>/figures/discrimination.png",
            caption="captions/figure_discrimination.rst",
            category="Figures",
            subcategory="Composition",
            labels={"figure": "discrimination"},
        ),
        pdf="<results>/figures/discrimination.pdf",
    log:
        "<logs>/figure_discrimination.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    message:
        "Drawing the selected set beside random subsets"
    shell:
        "python -m scripts.figure_discrimination --discrimination {input.discrimination}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


# What the report holds of this; nothing where the configuration does not ask for it.
DISCRIMINATION = (
    [*rules.discrimination.output, *rules.figure_discrimination.output]
    if settings.diagnostics.random_subset is not None
    else []
)
