"""The paper's figures: each a pure function of tables, as png and pdf.

REQUIRED INPUTS: <results>/scores/*, <results>/selection/selected.parquet, <results>/pool/items.parquet
OUTPUTS: <results>/figures/figure{1a,4,6,7,8}.{png,pdf}
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
