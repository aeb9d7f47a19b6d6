"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and what the sections below state
OUTPUTS: those of the sections below
"""

SUBSETS = {
    # The items of whole groups.
    "groups": f"results/{settings.name}/subsets/groups.parquet",
    # One item of each question, which is asked without its image.
    "questions": f"results/{settings.name}/subsets/questions.parquet",
}
BENCHMARK = None
# The models of tables and figures.
MEASURED = settings.models
CURATE = settings.curate
RETRIEVAL = settings.retrieval

# ---- Captions, embeddings, mining, pairs, retrieval ----------------------------------------------------------------
# ---- Questions, reviews, assembly ----------------------------------------------------------------------------------
# ---- Groups and tags of the pool -----------------------------------------------------------------------------------
# ---- Predictions without the images ---------------------------------------------------------------------------------

# Score labels, so that they have predictions.
SCORERS = [id_ for id_ in MEASURED if run.models[id_].scoring not in ANSWERING]


rule infer_without_images:
    """Predict with one model on each question alone, or with a grey image: the prior of post-hoc debiasing."""
    input:
        model=model_files,
        revision=revision_file,
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["questions"],
    output:
        "<results>/predictions/questions/{model}/{prior}.parquet",
    log:
        "<logs>/infer_without_images/{model}/{prior}.log",
    benchmark:
        "<benchmarks>/infer_without_images/{model}/{prior}.jsonl"
    wildcard_constraints:
        prior="no_image|grey_image",
    conda:
        lambda wildcards: f"../envs/{run.models[wildcards.model].env or 'transformers'}.yaml"
    resources:
        gpu=lambda wildcards: run.models[wildcards.model].gpus,
        mem_mb=lambda wildcards, attempt: attempt * run.models[wildcards.model].mem_mb,
        runtime=lambda wildcards, attempt: attempt * 480,
    params:
        *code_by_wildcards(lambda wildcards: SCORER_CODE[wildcards.model], SCORER_CODE.values()),
        model=model_options,
        scoring=scoring_option,
        contents=model_contents,
        connection=lambda wildcards, threads: connection(wildcards, threads, "-without-images"),
        cache="results/.cache",
        shard=lambda wildcards: f"{settings.name}-{wildcards.model}-{wildcards.prior}",
    message:
        "Evaluating {wildcards.model} on questions without their images ({wildcards.prior})"
    shell:
        "python -m scripts.infer {params.model} {params.scoring} {params.connection}"
        " --revision-file {input.revision} --threads 1 --items {input.pool} --subset {input.subset}"
        " --in-place-of-images {wildcards.prior} --cache {params.cache}"
        " --shard {params.shard} --output {output} 2>&1 | tee {log}"


# ---- Scores --------------------------------------------------------------------------------------------------------
# ---- Tables and figures --------------------------------------------------------------------------------------------

OUTPUTS = []
