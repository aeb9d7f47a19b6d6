"""MLLM-IC: how accurately models answer under corruptions, by capability.

Its tables, figures and pages are declared in benchc/benchmarks/mllm_ic/outputs.py.

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/predictions/questions/{model}/{part}.parquet    written by rule infer
    <results>/judgements/questions/{model}.parquet            of models that answer in words, written by rule judge_options
OUTPUTS:
    <results>/subsets/questions.parquet          the questions that are asked
    <results>/pool/capabilities.parquet          their capabilities, circular copies and pictures
    <results>/pool/capabilities.report.csv       categories that are mapped, excluded and unmapped, with counts
    <results>/outcomes/{asked}.parquet           the outcome of each question in each scenario, of a model of the run or
                                                 one that another program has asked
    <results>/scores/{asked}.parquet             counts by scenario and capability
    <results>/gallery.parquet                    an image of the pool under each corruption at each severity
    <results>/tables/ic_cube.parquet             accuracies of all models by scenario and capability, with intervals
    <results>/samples.parquet                    questions and small pictures that the cube explorer shows
    <results>/hierarchy/{features,tsne}.parquet  the mean feature of pictures in each scenario, and a map of them
"""

from benchc.benchmarks.mllm_ic.corruption_tree import levels_of


rule choose_questions:
    """Choose the questions that are asked: those of categories that are not excluded."""
    input:
        pool="<results>/pool/items.parquet",
    output:
        "<results>/subsets/questions.parquet",
    log:
        "<logs>/choose_questions.log",
    # Before jobs that would be in vain where a category stops the run.
    priority: 101
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        # Without a mini set, the same whatever the capabilities are.
        **stage(
            "mllm_ic.choose_questions",
            groups=bench.groups,
            unmapped=settings.capabilities.unmapped,
            **bench.choosing(),
        ),
    message:
        "Choosing the questions"
    shell:
        RUN


rule capabilities:
    """Give each question its capability, and report what becomes of each category."""
    input:
        pool="<results>/pool/items.parquet",
        categories=bench.categories,
    output:
        table="<results>/pool/capabilities.parquet",
        report="<results>/pool/capabilities.report.csv",
    log:
        "<logs>/capabilities.log",
    # Early, since the report tells why choose_questions stops.
    priority: 100
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "mllm_ic.capabilities",
            contents=contents_of([bench.categories]),
            published=bench.published,
            **bench.choosing(),
        ),
    message:
        "Finding the capabilities of the questions"
    shell:
        RUN


rule outcomes:
    """Find the outcome of each question in each scenario for one model."""
    input:
        pool="<results>/pool/items.parquet",
        subset="<results>/subsets/questions.parquet",
        predictions=lambda wildcards: bench.asked(wildcards.asked, images.batches)["predictions"],
        judgements=lambda wildcards: bench.asked(wildcards.asked, images.batches)["judgements"],
        # An absent one is an error of the job, since the other program needs the pool first.
        waited_for=lambda wildcards: [
            file for file in [bench.imported.get(wildcards.asked, "")] if Path(file).is_file()
        ],
    output:
        "<results>/outcomes/{asked}.parquet",
    log:
        "<logs>/outcomes/{asked}.log",
    benchmark:
        "<benchmarks>/outcomes/{asked}.jsonl"
    wildcard_constraints:
        asked=one_of(bench.labels),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "mllm_ic.outcomes",
            contents=lambda wildcards: contents_of([bench.imported.get(wildcards.asked, "")]),
            answers_from=lambda wildcards: (
                bench.imported[wildcards.asked] if wildcards.asked in settings.answers_from else None
            ),
            predictions_from=lambda wildcards: (
                bench.imported[wildcards.asked] if wildcards.asked in settings.predictions_from else None
            ),
            label=lambda wildcards: wildcards.asked,
            corruptions=settings.corruptions.types,
            severities=settings.corruptions.severities,
        ),
    message:
        "Finding the outcomes of {wildcards.asked}"
    shell:
        RUN


rule score_capabilities:
    """Count the outcomes of one model by scenario and capability."""
    input:
        outcomes="<results>/outcomes/{asked}.parquet",
        capabilities="<results>/pool/capabilities.parquet",
    output:
        "<results>/scores/{asked}.parquet",
    log:
        "<logs>/score_capabilities/{asked}.log",
    wildcard_constraints:
        asked=one_of(bench.labels),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage("mllm_ic.score_capabilities"),
    message:
        "Scoring {wildcards.asked}"
    shell:
        RUN


rule cube:
    """Compute the accuracies of all models by scenario and capability, with intervals over pictures."""
    input:
        outcomes=[f"<results>/outcomes/{id_}.parquet" for id_ in bench.labels],
        capabilities="<results>/pool/capabilities.parquet",
    output:
        "<results>/tables/ic_cube.parquet",
    log:
        "<logs>/cube.log",
    benchmark:
        "<benchmarks>/cube.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "mllm_ic.cube",
            labels=bench.labels,
            corruption_categories=images.groups,
            levels=levels_of(images.suite),
            draws=settings.tables.bootstrap.draws,
            seed=settings.tables.bootstrap.seed,
        ),
    message:
        "Computing the cube of accuracies"
    shell:
        RUN


# Of the images that models see; none where jobs generate them.
SHOWN_FILES = images.files("questions", [*images.recipes])
SHOWN = images.show([*images.recipes])


rule gallery:
    """Show one image of the pool under each corruption at each severity."""
    input:
        pool="<results>/pool/items.parquet",
    output:
        "<results>/gallery.parquet",
    log:
        "<logs>/gallery.log",
    benchmark:
        "<benchmarks>/gallery.jsonl"
    conda:
        "../envs/images.yaml"
    resources:
        runtime=minutes(images.seconds_of(images.recipes, 1)),
    params:
        **stage("mllm_ic.gallery", code=[images.all_kernels], images=SHOWN),
    message:
        "Showing an image under all corruptions"
    shell:
        RUN


rule choose_samples:
    """Choose the questions and pictures behind the cells of the cube explorer."""
    input:
        pool="<results>/pool/items.parquet",
        capabilities="<results>/pool/capabilities.parquet",
        corrupted=SHOWN_FILES,
    output:
        "<results>/samples.parquet",
    log:
        "<logs>/choose_samples.log",
    benchmark:
        "<benchmarks>/choose_samples.jsonl"
    conda:
        "../envs/images.yaml"
    resources:
        # At most four questions of each of the 34 capabilities.
        runtime=lambda wildcards, input: minutes(
            images.seconds_of(images.recipes, min(136, rows(input.pool)))
        ),
    params:
        **stage(
            "mllm_ic.choose_samples",
            code=[] if SHOWN_FILES else [images.all_kernels],
            images=SHOWN,
            seed=settings.seed,
        ),
    message:
        "Choosing the samples of the cube explorer"
    shell:
        RUN


if settings.hierarchy:
    # CIFAR-10's pictures are corrupted in the job.
    POOL_FILES = SHOWN_FILES if settings.hierarchy.images is None else []

    rule hierarchy_features:
        """Compute the mean feature of pictures in each scenario."""
        input:
            pool="<results>/pool/items.parquet",
            corrupted=POOL_FILES,
            # Figure 3 says so where CIFAR-10 or its network is absent.
            waited_for=bench.hierarchy_inputs,
        output:
            "<results>/hierarchy/features.parquet",
        log:
            "<logs>/hierarchy_features.log",
        benchmark:
            "<benchmarks>/hierarchy_features.jsonl"
        conda:
            "../envs/encoders.yaml"
        threads: 2
        resources:
            mem_mb=3000,
            # A network sees each picture that is corrupted. Those of CIFAR-10 have 32 x 32 pixels.
            runtime=lambda wildcards, input: minutes(
                images.seconds_of(images.recipes, settings.hierarchy.count) / 25
                if settings.hierarchy.images
                else 2 * images.seconds_of(images.recipes, min(settings.hierarchy.count, rows(input.pool)))
            ),
        params:
            **stage(
                "mllm_ic.hierarchy_features",
                contents=contents_of([] if bench.trained_encoder else bench.hierarchy_inputs),
                code=[] if POOL_FILES else [images.all_kernels],
                images=SHOWN,
                **bench.hierarchy(),
            ),
        message:
            "Computing the features of Figure 3"
        shell:
            RUN

    rule hierarchy_tsne:
        """Map the scenarios by their features into a plane."""
        input:
            features="<results>/hierarchy/features.parquet",
        output:
            "<results>/hierarchy/tsne.parquet",
        log:
            "<logs>/hierarchy_tsne.log",
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "mllm_ic.hierarchy_tsne",
                corruption_categories=images.groups,
                levels=levels_of(images.suite),
                perplexity=settings.hierarchy.perplexity,
                seed=settings.hierarchy.seed,
            ),
        message:
            "Mapping the scenarios of Figure 3"
        shell:
            RUN
