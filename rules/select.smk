"""Which items discriminate between models and differ in meaning: the benchmark.

REQUIRED INPUTS: <results>/predictions/pool/{selector}/{batch}.parquet, <results>/pool/items.parquet
OUTPUTS:
    <results>/selection/kappa.parquet         how much the selectors' predictions waver on each item
    <results>/selection/embeddings.parquet    each item's image and text
    <results>/selection/selected.parquet      the order of picking, scores, and which items are kept
    <results>/tables/selection_stability.{csv,md,tex}    what other choices would have selected
"""


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
        "<results>/selection/selected.parquet",
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
        " --score {params.score} --output {output} 2>&1 | tee {log}"


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
