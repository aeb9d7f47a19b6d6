"""What another order of the options changes, beside entropy, on a sample of the benchmark. Beyond the paper.

REQUIRED INPUTS:
    <results>/pool/items.parquet, <results>/selection/selected.parquet
    <results>/{corrupted,benchmark}/{corruption}.parquet
    <results>/predictions/selected/{target}/{batch}.parquet    the given order
    the targets, from the Hub, from a folder, or trained by the run
OUTPUTS, where diagnostics.option_order asks for them:
    <results>/orders/{model}.parquet              reads of the sample in every other circular order
    <results>/tables/option_order.{csv,md,tex}    changed predictions, the order part of uncertainty, accuracy
    <results>/figures/option_order.{png,pdf}      the same, drawn
"""


rule infer_orders:
    """Ask one target about a sample of the benchmark in every other circular order of the options."""
    input:
        code=lambda wildcards: ORDERS_CODE[wildcards.model],
        model=model_files,
        pool="<results>/pool/items.parquet",
        selected="<results>/selection/selected.parquet",
        corrupted=collect(
            "<results>/{images}/{corruption}.parquet",
            images=IMAGES["selected"],
            corruption=RECIPES,
        ),
    output:
        "<results>/orders/{model}.parquet",
    log:
        "<logs>/infer_orders/{model}.log",
    benchmark:
        "<benchmarks>/infer_orders/{model}.jsonl"
    conda:
        lambda wildcards: f"../envs/{run.models[wildcards.model].env or 'transformers'}.yaml"
    # As for infer: the threads decide the last bits of a logit.
    threads: 1
    resources:
        gpu=lambda wildcards: run.models[wildcards.model].gpus,
        mem_mb=lambda wildcards, attempt: attempt * run.models[wildcards.model].mem_mb,
        runtime=lambda wildcards: 1440 if run.models[wildcards.model].gpus else 60,
    params:
        model=model_options,
        sample=option("--sample", settings.diagnostics.option_order),
        severity=option("--severity", max(settings.corruptions.severities)),
        store=f"results/{settings.name}/.reads",
    message:
        "{wildcards.model} reads a sample with the options in other orders"
    shell:
        "python -m scripts.bench_c.infer_orders {params.model} --gpus {resources.gpu} --threads {threads}"
        " --items {input.pool} --selected {input.selected} {params.sample} {params.severity}"
        " --corrupted {input.corrupted} --store {params.store}"
        " --writer {wildcards.model}-orders --output {output} 2>&1 | tee {log}"


rule option_order:
    """Measure what another order of the options changes in predictions and in uncertainty."""
    input:
        code=code_of("scripts/option_order.py"),
        pool="<results>/pool/items.parquet",
        orders=collect("<results>/orders/{model}.parquet", model=settings.targets),
        predictions=collect(
            "<results>/predictions/selected/{model}/{batch}.parquet",
            model=settings.targets,
            batch=BATCHES,
        ),
    output:
        csv=report(
            "<results>/tables/option_order.csv",
            caption="captions/option_order.rst",
            category="Tables",
        ),
        md="<results>/tables/option_order.md",
        tex="<results>/tables/option_order.tex",
    log:
        "<logs>/option_order.log",
    benchmark:
        "<benchmarks>/option_order.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        models=settings.targets,
        labels=[run.models[model].label for model in settings.targets],
        draws=option("--draws", settings.tables.bootstrap.draws),
        seed=option("--seed", settings.tables.bootstrap.seed),
        allow_missing="--allow-missing" if settings.scores.allow_missing else "",
    message:
        "Measuring what another order of the options changes"
    shell:
        "python -m scripts.option_order --predictions {input.predictions} --orders {input.orders}"
        " --models {params.models} --labels {params.labels:q} --pool {input.pool}"
        " {params.draws} {params.seed} {params.allow_missing} --output-csv {output.csv}"
        " --output-md {output.md} --output-tex {output.tex} 2>&1 | tee {log}"


rule figure_option_order:
    """Draw what another order of the options changes."""
    input:
        code=code_of("scripts/figure_option_order.py"),
        option_order="<results>/tables/option_order.csv",
    output:
        png=report(
            "<results>/figures/option_order.png",
            caption="captions/figure_option_order.rst",
            category="Figures",
            subcategory="Robustness",
            labels={"figure": "option order"},
        ),
        pdf="<results>/figures/option_order.pdf",
    log:
        "<logs>/figure_option_order.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    message:
        "Drawing what another order of the options changes"
    shell:
        "python -m scripts.figure_option_order --option-order {input.option_order}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


# What the report holds of this; nothing where the configuration does not ask for it.
OPTION_ORDER = (
    [rules.option_order.output, rules.figure_option_order.output]
    if settings.diagnostics.option_order is not None
    else []
)
