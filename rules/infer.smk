"""Models answer the items of the pool, or of a subset that the benchmark names (Benchmark.subsets).

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/{corrupted,benchmark}/{corruption}.parquet    unless the job generates them
    <results>/subsets/{subset}.parquet    ids of the items; none for the whole pool
    models from the Hub, from a folder, or trained by the run
OUTPUTS:
    <results>/revisions/{model}.json                        the commit of a model on the Hub, which is in its cache
    <results>/revisions/adapters/{model}.json               the same, of an adapter that is merged into it
    <results>/predictions/{subset}/{model}/{part}.parquet    one row per prediction
Of its model, a job gets (benchc/workflow/models.py; benchc/models/asking.py describes each field):
    inputs      the files of a local model (waited_for) or the commit of one on the Hub (revision_file), the pool, the
                subset's ids, and the corrupted images, unless it generates them
    recorded    model: location, family, dtype, device, ...; scoring; label_prompt; images: recipes, seed, alpha
                (benchc/workflow/images.py); digests of the stage's code, its family and scoring, and of the kernels where it
                generates images; contents of a local model's files
    unrecorded  job: cache, workers, GPUs, the server's address
A part is a set of corruptions (inference.corruptions_per_job). Predictions are cached in results/.cache/, which all
runs share, and which may be deleted at any time.
"""


rule fetch_model:
    """Download a model of the Hub to its cache, at one commit, which all jobs of the run load without a network."""
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
        # An edit of the code need not check all models again.
        **stage(
            "fetch_model",
            tracked=False,
            repo=lambda wildcards: models.entries[wildcards.model].repo,
            revision=By("model", {id_: models.requested_revision(id_) for id_ in models.entries}),
            family=lambda wildcards: models.entries[wildcards.model].family,
        ),
    message:
        "Downloading {wildcards.model}, unless it is here"
    shell:
        RUN


rule fetch_adapter:
    """Download an adapter of the Hub to its cache, at one commit, which is merged into its model."""
    output:
        update("<results>/revisions/adapters/{model}.json"),
    log:
        "<logs>/fetch_adapter/{model}.log",
    priority: 100
    localrule: True
    conda:
        "../envs/transformers.yaml"
    params:
        # No code, as for fetch_model.
        **stage(
            "fetch_model",
            tracked=False,
            repo=lambda wildcards: models.entries[wildcards.model].adapter_repo,
            revision=By(
                "model", {id_: models.requested_revision(id_, adapter=True) for id_ in models.entries}
            ),
            adapter=True,
        ),
    message:
        "Downloading the adapter of {wildcards.model}, unless it is here"
    shell:
        RUN


rule infer:
    """Predict with one model on all items of a subset, under the corruptions of one part."""
    input:
        **models.inputs(),
    output:
        "<results>/predictions/{subset}/{model}/{part}.parquet",
    log:
        "<logs>/infer/{subset}/{model}/{part}.log",
    benchmark:
        "<benchmarks>/infer/{subset}/{model}/{part}.jsonl"
    conda:
        models.environment
    threads: models.threads
    resources:
        **models.resources(),
    params:
        **stage(
            "infer",
            code=[models.code(), images.generating_code],
            contents=models.contents,
            model=models.asked,
            scoring=models.scoring,
            label_prompt=models.label_prompt,
            images=images.shown,
            job=models.job(),
        ),
    message:
        "Evaluating {wildcards.model} on the subset {wildcards.subset}, corruptions: {wildcards.part}"
    shell:
        RUN
