"""Bench-C: select items on which selectors are inconsistent under corruption; measure how targets degrade on them.

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/predictions/{pool,selected,unselected}/{model}/{part}.parquet    written by rule infer
    <results>/{corrupted,benchmark}/{corruption}.parquet    for option_order
OUTPUTS:
    <results>/selection/kappa.parquet         the selectors' inconsistency on each item
    <results>/selection/{text,image}_encoder.json    the commit of an encoder on the Hub, which is in its cache
    <results>/selection/embeddings.parquet    image and text embeddings of each item
    <results>/selection/selected.parquet      the order of picking, scores, and which items are selected
    <results>/subsets/selected.parquet        ids of the selected items: the benchmark
    <results>/subsets/unselected.parquet      ids of unselected items on which targets are also evaluated
    <results>/scores/{model}.parquet          entropy, calibration error, RAS, transition and regime per prediction
    <results>/scores/unselected/{model}.parquet   the same for unselected items
    <results>/orders/{model}.parquet          predictions of a sample in every other circular order of the options
"""


rule kappa:
    """Measure the inconsistency of the selectors' predictions under corruption (eq. 4 and 5)."""
    input:
        pool="<results>/pool/items.parquet",
        predictions=collect(
            "<results>/predictions/pool/{model}/{part}.parquet",
            model=settings.selectors,
            part=images.batches,
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
        **stage(
            "bench_c.kappa",
            selectors=settings.selectors,
            corruptions=sorted(settings.corruptions.types),
            severities=settings.corruptions.severities,
        ),
    message:
        "Computing kappa"
    shell:
        RUN


rule fetch_text_encoder:
    """Download the text encoder from the Hub to its cache, at one commit."""
    output:
        update("<results>/selection/text_encoder.json"),
    log:
        "<logs>/fetch_text_encoder.log",
    priority: 100
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        # No code, as for fetch_model.
        **stage("fetch_model", tracked=False, repo=bench.text_encoder_repo),
    message:
        "Downloading the text encoder, unless it is here"
    shell:
        RUN


rule fetch_image_encoder:
    """Download the weights of open_clip's tag from the Hub to its cache, at one commit."""
    output:
        update("<results>/selection/image_encoder.json"),
    log:
        "<logs>/fetch_image_encoder.log",
    priority: 100
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        # No code, as for fetch_model.
        **stage(
            "fetch_image_encoder",
            tracked=False,
            image_encoder=settings.selection.image_encoder.name,
            pretrained=settings.selection.image_encoder.pretrained,
        ),
    message:
        "Downloading the image encoder, unless it is here"
    shell:
        RUN


rule embed:
    """Embed each item's images (CLIP) and its question and options (SBERT)."""
    input:
        waited_for=bench.encoder_files,
        text_revision_file=bench.text_encoder_file,
        image_revision_file=bench.image_encoder_file,
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
        gpu=settings.encoder_gpus,
        mem_mb=lambda wildcards, input: max(4000, 4 * megabytes(input)),
        # A job that reaches its time limit continues from the cache when it is retried.
        runtime=lambda wildcards, input: embedding_minutes(rows(input.pool), bench.image_device),
    params:
        **stage(
            "bench_c.embed",
            image_encoder=bench.image_encoder,
            pretrained=settings.selection.image_encoder.pretrained,
            image_device=bench.image_device,
            image_batch=settings.selection.image_encoder.batch,
            text_encoder=settings.selection.text_encoder.name,
            text_device=bench.text_device,
            text_batch=settings.selection.text_encoder.batch,
            alpha=settings.corruptions.alpha,
            threads=unrecorded(lambda threads: threads),
        ),
    message:
        "Embedding the pool's images and texts"
    shell:
        RUN


rule select:
    """Pick items greedily by kappa and diversity (eq. 3) and keep those that score above the mean."""
    input:
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
        **stage(
            "bench_c.select",
            alpha_kappa=settings.selection.alpha_kappa,
            alpha_diversity=settings.selection.alpha_diversity,
            score=settings.selection.score,
        ),
    message:
        "Selecting the benchmark's items"
    shell:
        RUN


rule score:
    """Compare every corrupted prediction of a target with the clean one (eq. 6 to 10)."""
    input:
        pool="<results>/pool/items.parquet",
        subset=bench.subsets["selected"],
        predictions=collect("<results>/predictions/selected/{{model}}/{part}.parquet", part=images.batches),
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
        **stage(
            "bench_c.score",
            corruptions=sorted(settings.corruptions.types),
            severities=settings.corruptions.severities,
            allow_missing=settings.scores.allow_missing,
        ),
    message:
        "Scoring {wildcards.model}"
    shell:
        RUN


rule sample_unselected:
    """Sample items that were not selected, in a hashed order."""
    input:
        selected="<results>/selection/selected.parquet",
    output:
        "<results>/subsets/unselected.parquet",
    log:
        "<logs>/sample_unselected.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage("bench_c.sample_unselected", at_most=bench.random_subset),
    message:
        "Sampling items that were not selected"
    shell:
        RUN


use rule score as score_unselected with:
    input:
        pool="<results>/pool/items.parquet",
        subset=bench.subsets["unselected"],
        predictions=collect("<results>/predictions/unselected/{{model}}/{part}.parquet", part=images.batches),
    output:
        "<results>/scores/unselected/{model}.parquet",
    log:
        "<logs>/score/unselected/{model}.log",
    benchmark:
        "<benchmarks>/score/unselected/{model}.jsonl"
    localrule: True
    message:
        "Scoring {wildcards.model} on items that were not selected"


rule infer_orders:
    """Predict with one target on a sample of the benchmark, with the options in every other circular order."""
    input:
        **models.inputs(subset=False, images=False),
        subset=bench.subsets["selected"],
        corrupted=images.files("selected", sorted(images.recipes)),
    output:
        "<results>/orders/{model}.parquet",
    log:
        "<logs>/infer_orders/{model}.log",
    benchmark:
        "<benchmarks>/infer_orders/{model}.jsonl"
    conda:
        models.environment
    threads: 1
    resources:
        # At most four options, on clean and corrupted images.
        **models.resources(
            lambda input: 4 * len(images.recipes) * min(settings.diagnostics.option_order, items(input))
        ),
    params:
        **stage(
            "bench_c.infer_orders",
            code=[models.code()],
            contents=models.contents,
            model=models.asked,
            scoring=models.scoring,
            sample=settings.diagnostics.option_order,
            severity=max(settings.corruptions.severities),
            job=models.job("orders"),
        ),
    message:
        "Evaluating {wildcards.model} with the options in other circular orders"
    shell:
        RUN
