"""Bench-C: the items on which selectors' predictions waver, and how the targets' predictions degrade on them.

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/predictions/{pool,selected,unselected}/{model}/{batch}.parquet    made by rule infer
    <results>/{corrupted,benchmark}/{corruption}.parquet    for option_order
OUTPUTS:
    <results>/selection/kappa.parquet         how much the selectors' predictions waver on each item
    <results>/selection/embeddings.parquet    each item's image and text
    <results>/selection/selected.parquet      the order of picking, scores, and which items are kept
    <results>/subsets/selected.parquet        the ids of the items that are kept
    <results>/subsets/unselected.parquet      the ids of items outside the benchmark that targets read as well
    <results>/scores/{model}.parquet          entropy, calibration error, RAS, transition and regime of a read
    <results>/scores/unselected/{model}.parquet   the same of reads of unselected items
    <results>/orders/{model}.parquet          reads of a sample in every other circular order of the options
"""

# The subsets of items that models are asked about, each a file of ids, or None for the whole pool.
SUBSETS = {
    "pool": None,
    "selected": f"results/{settings.name}/subsets/selected.parquet",
    "unselected": f"results/{settings.name}/subsets/unselected.parquet",
}
# The one whose images are written where the jobs that read the others make theirs themselves.
BENCHMARK = "selected"


rule kappa:
    """Measure the inconsistency of the selectors' predictions under corruption (eq. 4 and 5)."""
    input:
        code=code_of("scripts/bench_c/kappa.py"),
        pool="<results>/pool/items.parquet",
        predictions=collect(
            "<results>/predictions/pool/{model}/{batch}.parquet",
            model=settings.selectors,
            batch=BATCHES,
        ),
    output:
        "<results>/selection/kappa.parquet",
    log:
        "<logs>/kappa.log",
    benchmark:
        "<benchmarks>/kappa.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        selectors=settings.selectors,
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
    message:
        "Computing kappa"
    shell:
        "python -m scripts.bench_c.kappa --predictions {input.predictions} --pool {input.pool}"
        " --selectors {params.selectors} --corruptions {params.corruptions}"
        " --severities {params.severities} --output {output} 2>&1 | tee {log}"


rule embed:
    """Embed each item's images (CLIP) and its question and options (SBERT)."""
    input:
        code=code_of("scripts/bench_c/embed.py"),
        encoder=(ENCODER_FILES if settings.selection.image_encoder.name == "trained" else []),
        pool="<results>/pool/items.parquet",
    output:
        "<results>/selection/embeddings.parquet",
    log:
        "<logs>/embed.log",
    benchmark:
        "<benchmarks>/embed.jsonl"
    conda:
        "../envs/encoders.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(4000, int(4 * input.size_mb)),
    params:
        image_encoder=encoder_options(),
        text_encoder=option("--text-encoder", settings.selection.text_encoder),
        alpha=option("--alpha", settings.corruptions.alpha),
    message:
        "Embedding the pool's images and texts"
    shell:
        "python -m scripts.bench_c.embed --items {input.pool} {params.image_encoder}"
        " {params.text_encoder} {params.alpha} --threads {threads} --output {output} 2>&1 | tee {log}"


rule select:
    """Pick items greedily by kappa and diversity (eq. 3) and keep those that score above the mean."""
    input:
        code=code_of("scripts/bench_c/select.py"),
        kappa="<results>/selection/kappa.parquet",
        embeddings="<results>/selection/embeddings.parquet",
    output:
        table="<results>/selection/selected.parquet",
        subset="<results>/subsets/selected.parquet",
    log:
        "<logs>/select.log",
    benchmark:
        "<benchmarks>/select.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        alpha_kappa=option("--alpha-kappa", settings.selection.alpha_kappa),
        alpha_diversity=option("--alpha-diversity", settings.selection.alpha_diversity),
        score=settings.selection.score,
    message:
        "Selecting the benchmark's items"
    shell:
        "python -m scripts.bench_c.select --kappa {input.kappa} --embeddings {input.embeddings}"
        " {params.alpha_kappa} {params.alpha_diversity}"
        " --score {params.score} --output {output.table} --output-subset {output.subset} 2>&1 | tee {log}"


rule selection_diagnostics:
    """Measure how stable the selected set is under other choices."""
    input:
        code=code_of("scripts/selection_diagnostics.py"),
        pool="<results>/pool/items.parquet",
        embeddings="<results>/selection/embeddings.parquet",
        predictions=collect(
            "<results>/predictions/pool/{model}/{batch}.parquet",
            model=settings.selectors,
            batch=BATCHES,
        ),
    output:
        csv=report(
            "<results>/tables/selection_stability.csv",
            caption="captions/selection_stability.rst",
            category="Tables",
        ),
        md="<results>/tables/selection_stability.md",
        tex="<results>/tables/selection_stability.tex",
    log:
        "<logs>/selection_diagnostics.log",
    benchmark:
        "<benchmarks>/selection_diagnostics.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        selectors=settings.selectors,
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
        alpha_kappa=option("--alpha-kappa", settings.selection.alpha_kappa),
        alpha_diversity=option("--alpha-diversity", settings.selection.alpha_diversity),
        score=settings.selection.score,
    message:
        "Measuring how stable the selected set is"
    shell:
        "python -m scripts.selection_diagnostics --predictions {input.predictions} --pool {input.pool}"
        " --embeddings {input.embeddings} --selectors {params.selectors}"
        " --corruptions {params.corruptions} --severities {params.severities}"
        " {params.alpha_kappa} {params.alpha_diversity} --score {params.score}"
        " --output-csv {output.csv} --output-md {output.md} --output-tex {output.tex} 2>&1 | tee {log}"


rule score:
    """Compare every corrupted read of a target with its clean read (eq. 6 to 10)."""
    input:
        code=code_of("scripts/bench_c/score.py"),
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["selected"],
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
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
        allow_missing="--allow-missing" if settings.scores.allow_missing else "",
    message:
        "Scoring {wildcards.model}"
    shell:
        "python -m scripts.bench_c.score --predictions {input.predictions} --pool {input.pool}"
        " --subset {input.subset} --corruptions {params.corruptions}"
        " --severities {params.severities} {params.allow_missing} --output {output} 2>&1 | tee {log}"


rule draw_unselected:
    """Draw items that were not selected, in a hashed order."""
    input:
        code=code_of("scripts/bench_c/draw_unselected.py"),
        selected="<results>/selection/selected.parquet",
    output:
        "<results>/subsets/unselected.parquet",
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
        subset=SUBSETS["unselected"],
        predictions=collect("<results>/predictions/unselected/{{model}}/{batch}.parquet", batch=BATCHES),
    output:
        "<results>/scores/unselected/{model}.parquet",
    log:
        "<logs>/score/unselected/{model}.log",
    benchmark:
        "<benchmarks>/score/unselected/{model}.jsonl"
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


rule infer_orders:
    """Ask one target about a sample of the benchmark in every other circular order of the options."""
    input:
        code=lambda wildcards: ORDERS_CODE[wildcards.model],
        model=model_files,
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["selected"],
        corrupted=collect(
            "<results>/{images}/{corruption}.parquet",
            images=images_of("selected"),
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
        " --items {input.pool} --subset {input.subset} {params.sample} {params.severity}"
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
