"""The paper's figures: each a pure function of tables, as png and pdf.

REQUIRED INPUTS: <results>/scores/*, <results>/selection/selected.parquet, <results>/pool/items.parquet
    <results>/predictions/selected/{target}/*, <results>/{corrupted,benchmark}/{corruption}.parquet
OUTPUTS: <results>/figures/figure{1a,3,4,5,6,7,8,9,10}.{png,pdf}
"""


rule figure1a:
    """The share of candidates and of the benchmark's items in each range of kappa."""
    input:
        code=code_of("scripts/figure1a.py"),
        selected="<results>/selection/selected.parquet",
    output:
        png=report(
            "<results>/figures/figure1a.png",
            caption="captions/figure1a.rst",
            category="Figures",
            subcategory="Composition",
            labels={"figure": "1a"},
        ),
        pdf="<results>/figures/figure1a.pdf",
    log:
        "<logs>/figure1a.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    message:
        "Drawing figure 1a"
    shell:
        "python -m scripts.figure1a --selected {input.selected}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure3:
    """One read of each regime by one target, and the probabilities of its options."""
    input:
        code=code_of("scripts/figure3.py"),
        pool="<results>/pool/items.parquet",
        scores=f"<results>/scores/{settings.figures.figure3.target}.parquet",
        predictions=collect(
            "<results>/predictions/selected/{model}/{batch}.parquet",
            model=settings.figures.figure3.target,
            batch=BATCHES,
        ),
    output:
        png=report(
            "<results>/figures/figure3.png",
            caption="captions/figure3.rst",
            category="Figures",
            subcategory="Robustness",
            labels={"figure": "3"},
        ),
        pdf="<results>/figures/figure3.pdf",
    log:
        "<logs>/figure3.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    params:
        label=run.models[settings.figures.figure3.target].label,
    message:
        "Drawing figure 3"
    shell:
        "python -m scripts.figure3 --scores {input.scores} --predictions {input.predictions} --pool {input.pool}"
        " --label {params.label:q} --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure4:
    """One target under one corruption in the plane of uncertainty and calibration shift."""
    input:
        code=code_of("scripts/figure4.py"),
        scores=f"<results>/scores/{settings.figures.figure4.target}.parquet",
    output:
        png=report(
            "<results>/figures/figure4.png",
            caption="captions/figure4.rst",
            category="Figures",
            subcategory="Robustness",
            labels={"figure": "4"},
        ),
        pdf="<results>/figures/figure4.pdf",
    log:
        "<logs>/figure4.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    params:
        label=run.models[settings.figures.figure4.target].label,
        corruption=settings.figures.figure4.corruption,
        severity=settings.figures.figure4.severity,
    message:
        "Drawing figure 4"
    shell:
        "python -m scripts.figure4 --scores {input.scores} --label {params.label:q} --corruption {params.corruption}"
        " --severity {params.severity}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure5:
    """One item, clean and under some corruptions, as one target reads it."""
    input:
        code=code_of("scripts/figure5.py"),
        pool="<results>/pool/items.parquet",
        scores=f"<results>/scores/{settings.figures.figure5.target}.parquet",
        predictions=collect(
            "<results>/predictions/selected/{model}/{batch}.parquet",
            model=settings.figures.figure5.target,
            batch=BATCHES,
        ),
        images=collect(
            "<results>/{images}/{corruption}.parquet",
            images=images_of("selected"),
            corruption=settings.corruptions.types,
        ),
    output:
        png=report(
            "<results>/figures/figure5.png",
            caption="captions/figure5.rst",
            category="Figures",
            subcategory="Robustness",
            labels={"figure": "5"},
        ),
        pdf="<results>/figures/figure5.pdf",
    log:
        "<logs>/figure5.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    params:
        label=run.models[settings.figures.figure5.target].label,
        item=option("--item", settings.figures.figure5.item),
        reads=(
            "--reads " + " ".join(settings.figures.figure5.reads) if settings.figures.figure5.reads else ""
        ),
    message:
        "Drawing figure 5"
    shell:
        "python -m scripts.figure5 --scores {input.scores} --predictions {input.predictions} --pool {input.pool}"
        " --images {input.images} --label {params.label:q} {params.item} {params.reads}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure6:
    """RAS of every target under every corruption, on items it answered rightly and wrongly when clean."""
    input:
        code=code_of("scripts/figure6.py"),
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        png=report(
            "<results>/figures/figure6.png",
            caption="captions/figure6.rst",
            category="Figures",
            subcategory="Robustness",
            labels={"figure": "6"},
        ),
        pdf="<results>/figures/figure6.pdf",
    log:
        "<logs>/figure6.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    params:
        labels=[run.models[model].label for model in settings.targets],
        corruptions=settings.corruptions.types,
        families=[family_of(name, settings.corruptions.suite) for name in settings.corruptions.types],
    message:
        "Drawing figure 6"
    shell:
        "python -m scripts.figure6 --scores {input.scores} --labels {params.labels:q}"
        " --corruptions {params.corruptions} --families {params.families}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure7:
    """What each source contributes, and how kappa is distributed in the pool and in the benchmark."""
    input:
        code=code_of("scripts/figure7.py"),
        sources=collect("<results>/sources/{source}.parquet", source=run.sources),
        pool="<results>/pool/items.parquet",
        selected="<results>/selection/selected.parquet",
    output:
        png=report(
            "<results>/figures/figure7.png",
            caption="captions/figure7.rst",
            category="Figures",
            subcategory="Composition",
            labels={"figure": "7"},
        ),
        pdf="<results>/figures/figure7.pdf",
    log:
        "<logs>/figure7.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    params:
        labels=[source.label for source in run.sources.values()],
    message:
        "Drawing figure 7"
    shell:
        "python -m scripts.figure7 --sources {input.sources} --source-labels {params.labels:q}"
        " --pool {input.pool} --selected {input.selected}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure8:
    """Candidates and kept items of every task type."""
    input:
        code=code_of("scripts/figure8.py"),
        pool="<results>/pool/items.parquet",
        selected="<results>/selection/selected.parquet",
    output:
        png=report(
            "<results>/figures/figure8.png",
            caption="captions/figure8.rst",
            category="Figures",
            subcategory="Composition",
            labels={"figure": "8"},
        ),
        pdf="<results>/figures/figure8.pdf",
    log:
        "<logs>/figure8.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    message:
        "Drawing figure 8"
    shell:
        "python -m scripts.figure8 --pool {input.pool} --selected {input.selected}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure9:
    """Items of low, medium and high kappa, with their pictures."""
    input:
        code=code_of("scripts/figure9.py"),
        pool="<results>/pool/items.parquet",
        selected="<results>/selection/selected.parquet",
    output:
        png=report(
            "<results>/figures/figure9.png",
            caption="captions/figure9.rst",
            category="Figures",
            subcategory="Composition",
            labels={"figure": "9"},
        ),
        pdf="<results>/figures/figure9.pdf",
    log:
        "<logs>/figure9.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    message:
        "Drawing figure 9"
    shell:
        "python -m scripts.figure9 --pool {input.pool} --selected {input.selected}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"


rule figure10:
    """RAS by corruption and severity, boxes over targets."""
    input:
        code=code_of("scripts/figure10.py"),
        scores=collect("<results>/scores/{model}.parquet", model=settings.targets),
    output:
        png=report(
            "<results>/figures/figure10.png",
            caption="captions/figure10.rst",
            category="Figures",
            subcategory="Robustness",
            labels={"figure": "10"},
        ),
        pdf="<results>/figures/figure10.pdf",
    log:
        "<logs>/figure10.log",
    localrule: True
    conda:
        "../envs/figures.yaml"
    params:
        labels=[run.models[model].label for model in settings.targets],
        corruptions=settings.corruptions.types,
        families=[family_of(name, settings.corruptions.suite) for name in settings.corruptions.types],
    message:
        "Drawing figure 10"
    shell:
        "python -m scripts.figure10 --scores {input.scores} --labels {params.labels:q}"
        " --corruptions {params.corruptions} --families {params.families}"
        " --png {output.png} --pdf {output.pdf} 2>&1 | tee {log}"
