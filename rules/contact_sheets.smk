"""Contact sheets: one image of the pool under the run's corruptions.

REQUIRED INPUTS: <results>/pool/items.parquet
OUTPUTS: <results>/figures/contact_sheet_{page}.{png,pdf}    up to eleven corruptions a page
"""


rule contact_sheet:
    """Render one image of the pool under one page of the run's corruptions, at every severity."""
    input:
        pool="<results>/pool/items.parquet",
    output:
        report(
            "<results>/figures/contact_sheet_{page}.png",
            caption="captions/contact_sheet.rst",
            category="Figures",
            subcategory="Corruptions",
            labels={"figure": "contact sheet {page}"},
        ),
        "<results>/figures/contact_sheet_{page}.pdf",
    log:
        "<logs>/contact_sheet_{page}.log",
    wildcard_constraints:
        page=one_of(images.sheets),
    localrule: True
    conda:
        "../envs/images.yaml"
    params:
        **stage(
            "contact_sheet",
            code=[images.sheet_code],
            # Parameters of the user's corruptions are not in the suite's code. The stage registers them itself.
            contents=images.sheet_own_recipes,
            suite=settings.corruptions.suite,
            own_files=[local(file) for file in settings.corruptions.own_files],
            engine=settings.corruptions.engine,
            scale_with_image=settings.corruptions.scale_with_image,
            corruptions=images.sheet_types,
            severities=settings.corruptions.severities,
            seed=settings.seed,
            alpha=settings.corruptions.alpha,
            page=lambda wildcards: int(wildcards.page),
            output_prefix=unrecorded(
                lambda wildcards, output: output[0].removesuffix(f"_{wildcards.page}.png")
            ),
        ),
    message:
        "Rendering contact sheet {wildcards.page}"
    shell:
        RUN
