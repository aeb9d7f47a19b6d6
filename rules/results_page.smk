"""The results page: all tables, figures and pages of a run, and the samples behind their numbers.

REQUIRED INPUTS: those of the benchmark's declaration (benchc/benchmarks/<name>/results_page.py)
OUTPUTS:
    <results>/index.html             the page, which opens from disk
    <results>/page/chosen.parquet    the items that it shows
    <results>/page/samples.js        numbers of all samples, by which they are filtered and sorted
    <results>/page/items/            a script for each sample: its texts, probabilities and replies
    <results>/page/images/           strips: an image under a corruption at all severities, below the clean one
"""

page = run.results_page

if page.samples:
    shown_images = images.show([*images.recipes])
    image_files = images.files(page.subset, [*images.recipes])

    rule choose_page_items:
        """Choose the items that the results page shows."""
        input:
            pool="<results>/pool/items.parquet",
            ids=page.ids,
            groups=page.sample_of or [],
        output:
            "<results>/page/chosen.parquet",
        log:
            "<logs>/choose_page_items.log",
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage("choose_page_items", samples=settings.results_page.samples, seed=settings.seed),
        message:
            "Choosing the samples of the results page"
        shell:
            RUN

    rule page_images:
        """Write the images of the results page."""
        input:
            chosen="<results>/page/chosen.parquet",
            pool="<results>/pool/items.parquet",
            assignment=bench.assignment or [],
            corrupted=image_files,
        output:
            directory("<results>/page/images"),
        log:
            "<logs>/page_images.log",
        benchmark:
            "<benchmarks>/page_images.jsonl"
        conda:
            "../envs/images.yaml"
        threads: 2
        resources:
            mem_mb=3000,
            # A strip shows a sample under a corruption at all severities.
            runtime=lambda wildcards, input, threads: minutes(
                images.mean_seconds * run.page_strips(rows(input.chosen)) / threads
            ),
        params:
            **stage(
                "page_images",
                code=[] if image_files else [images.all_kernels],
                images=shown_images,
                groups=unrecorded(images.groups),
                corruptions=run.page_corruptions,
                longest_side=settings.results_page.longest_side,
                shown=settings.results_page.images,
                withheld=run.withheld_from_page,
                threads=unrecorded(lambda threads: threads),
            ),
        message:
            "Writing the images of the results page"
        shell:
            RUN

    rule page_samples:
        """Write the questions and answers that the results page shows."""
        input:
            **output_inputs(page.samples),
        output:
            js="<results>/page/samples.js",
            folder=directory("<results>/page/items"),
        log:
            "<logs>/page_samples.log",
        benchmark:
            "<benchmarks>/page_samples.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **output_params(page.samples, run.package),
        message:
            "Writing the samples of the results page"
        shell:
            RUN


rule results_page:
    """Write the results page from the files of the run."""
    input:
        rules.report.input,
        [rules.page_samples.output, rules.page_images.output] if page.samples else [],
    output:
        "<results>/index.html",
    log:
        "<logs>/results_page.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "results_page",
            contents=page_contents(),
            name=settings.name,
            declared=recorded_page(page),
            outputs=recorded_outputs(run.outputs),
        ),
    message:
        "Writing the results page"
    shell:
        RUN
