"""Contact sheets: one image of the pool under the run's corruptions.

REQUIRED INPUTS: <results>/pool/items.parquet
OUTPUTS: <results>/figures/contact_sheet_{page}.{png,pdf}    up to eleven corruptions a page
"""

from benchc.corruptions.registry import all_corruptions_of
from benchc.rendering.contact_pages import pages_of

# In the suite's order, which is that of the sheets.
SHEET_TYPES = [name for name in all_corruptions_of(SUITE) if name in settings.corruptions.types]
SHEETS = {
    str(number): [SHEET_TYPES[row] for row in page]
    for number, page in enumerate(pages_of([group_of(name, SUITE) for name in SHEET_TYPES]), start=1)
}
SHEET_CODE = {
    page: sorted(
        {*code_of("scripts/contact_sheet.py"), *(line for name in names for line in KERNEL_CODE[name])}
    )
    for page, names in SHEETS.items()
}
OWN_TYPES = {
    page: [name for name in names if own_file(recipe_of(name, SUITE).kernel)]
    for page, names in SHEETS.items()
}


rule contact_sheet:
    """Render one image of the pool under one page of the run's corruptions, at every severity."""
    input:
        pool="<results>/pool/items.parquet",
    output:
        png=report(
            "<results>/figures/contact_sheet_{page}.png",
            caption="captions/contact_sheet.rst",
            category="Figures",
            subcategory="Corruptions",
            labels={"figure": "contact sheet {page}"},
        ),
        pdf="<results>/figures/contact_sheet_{page}.pdf",
    log:
        "<logs>/contact_sheet_{page}.log",
    wildcard_constraints:
        page="|".join(SHEETS),
    localrule: True
    conda:
        "../envs/images.yaml"
    params:
        *code_by_wildcards(lambda wildcards: SHEET_CODE[wildcards.page], SHEET_CODE.values()),
        # Parameters of the user's corruptions are not in the suite's code. The script registers them itself.
        own_recipes=lambda wildcards: [
            option("--recipe", RECIPES[name]) for name in OWN_TYPES[wildcards.page]
        ],
        suite=settings.corruptions.suite,
        own_files=[shlex.quote(str(local(file))) for file in settings.corruptions.own_files],
        engine=settings.corruptions.engine,
        corruptions=SHEET_TYPES,
        severities=settings.corruptions.severities,
        seed=option("--seed", settings.seed),
        alpha=option("--alpha", settings.corruptions.alpha),
        pages=len(SHEETS),
        prefix=lambda wildcards, output: output.png.removesuffix(f"_{wildcards.page}.png"),
    message:
        "Rendering contact sheet {wildcards.page}"
    shell:
        "python -m scripts.contact_sheet --items {input.pool} --suite {params.suite} --own-files {params.own_files}"
        " --engine {params.engine}"
        " --corruptions {params.corruptions} --severities {params.severities} {params.seed} {params.alpha}"
        " --page {wildcards.page} --output-prefix {params.prefix} 2>&1 | tee {log}"
