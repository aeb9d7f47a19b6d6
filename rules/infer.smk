"""Models answer the items of the pool, or of a subset that the benchmark names (SUBSETS in its rules).

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/{corrupted,benchmark}/{corruption}.parquet    unless the job generates them
    <results>/subsets/{subset}.parquet    ids of the items; none for the whole pool
    models from the Hub, from a folder, or trained by the run
OUTPUTS:
    <results>/revisions/{model}.json                        the commit of a model on the Hub, which is in its cache
    <results>/predictions/{subset}/{model}/{part}.parquet    one row per prediction
A part is a set of corruptions (inference.corruptions_per_job). Predictions are cached in results/.cache/, which all
runs share, and which may be deleted at any time.
"""


rule fetch_model:
    """Download a model of the Hub to its cache, at one commit, which all jobs of the run load without a network."""

    # No code among the params: an edit need not check all models again.
    output:
        # Not deleted before the job, since a branch keeps the commit that was looked up first.
        update("<results>/revisions/{model}.json"),
    log:
        "<logs>/fetch_model/{model}.log",
    # First, since a wrong id should stop the run before anything is computed.
    priority: 100
    localrule: True
    conda:
        "../envs/transformers.yaml"
    params:
        repo=lambda wildcards: option("--repo", run.models[wildcards.model].repo),
        revision=lambda wildcards: REQUESTED[wildcards.model],
        family=lambda wildcards: option("--family", run.models[wildcards.model].family),
    message:
        "Downloading {wildcards.model}, unless it is here"
    shell:
        "python -m scripts.fetch_model {params.repo} {params.revision} {params.family} --output {output} 2>&1 | tee {log}"


rule infer:
    """Predict with one model on all items of a subset, under the corruptions of one part."""
    input:
        # Of a local or trained model; a model on the Hub is identified by its commit, and in the Hub's cache.
        model=model_files,
        revision=revision_file,
        pool="<results>/pool/items.parquet",
        # Empty for the whole pool.
        subset=lambda wildcards: SUBSETS[wildcards.subset] or [],
        corrupted=lambda wildcards: (
            collect(
                "<results>/{images}/{corruption}.parquet",
                images=image_folder(wildcards.subset),
                corruption=PARTS[wildcards.part],
            )
            if image_folder(wildcards.subset)
            else []
        ),
    output:
        "<results>/predictions/{subset}/{model}/{part}.parquet",
    log:
        "<logs>/infer/{subset}/{model}/{part}.log",
    benchmark:
        "<benchmarks>/infer/{subset}/{model}/{part}.jsonl"
    conda:
        lambda wildcards: f"../envs/{run.models[wildcards.model].env or 'transformers'}.yaml"
    # The model has one thread (--threads), whose number decides the last bits of a logit; the others prepare images.
    threads: inference_threads
    resources:
        gpu=lambda wildcards: run.models[wildcards.model].gpus,
        mem_mb=lambda wildcards, attempt: attempt * run.models[wildcards.model].mem_mb,
        # A job that reaches its limit continues from the cache when it is retried.
        runtime=lambda wildcards, attempt: attempt * 480,
    params:
        # Only of this model's family and scoring, so that an edit of another family reruns nothing here.
        *code_by_wildcards(lambda wildcards: SCORER_CODE[wildcards.model], SCORER_CODE.values()),
        # An edit of a kernel changes the images only of jobs that generate them.
        *code_by_wildcards(
            lambda wildcards: [] if image_folder(wildcards.subset) else PART_CODE[wildcards.part],
            PART_CODE.values(),
        ),
        model=model_options,
        scoring=scoring_option,
        contents=model_contents,
        connection=connection,
        recipes=recipe_options,
        cache="results/.cache",
        shard=lambda wildcards: f"{settings.name}-{wildcards.model}-{wildcards.subset}-{wildcards.part}",
    message:
        "Evaluating {wildcards.model} on the subset {wildcards.subset}, corruptions: {wildcards.part}"
    shell:
        "python -m scripts.infer {params.model} {params.scoring} {params.connection}"
        " --revision-file {input.revision} --threads 1 --items {input.pool} --subset {input.subset}"
        " --corrupted {input.corrupted} {params.recipes} --cache {params.cache}"
        " --shard {params.shard} --output {output} 2>&1 | tee {log}"
