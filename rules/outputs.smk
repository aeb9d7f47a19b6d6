"""Tables, figures and pages, one rule for each that the benchmark declares, and their report.

REQUIRED INPUTS: those of the declarations (benchc/benchmarks/<name>/outputs.py)
OUTPUTS:
    <results>/models.json                    label, year and parameters of the evaluated models
    <results>/tables/{name}.{csv,md,tex}     and {name}_published.csv, compared with a paper's values
    <results>/figures/{name}.{png,pdf}
    <results>/pages/{name}.html
    `snakemake --report results/<name>/report.html` collects the outputs of `report` on one page
"""


report: str(PACKAGE / f"benchmarks/{run.package}/report.rst")


rule describe_models:
    """Write what tables and figures need to know about the models."""
    output:
        "<results>/models.json",
    log:
        "<logs>/models.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "describe_models",
            benchmark=settings.benchmark,
            models=models.described(bench.measured, bench.imported_labels),
        ),
    message:
        "Describing the models"
    shell:
        RUN


for declared in run.outputs:

    rule:
        name:
            declared.name
        input:
            **output_inputs(declared),
        output:
            **{
                format: (
                    path
                    if format != declared.formats[0]
                    else report(
                        path,
                        caption="captions/output.rst",
                        category=f"{declared.kind}s".capitalize(),
                        subcategory=declared.subcategory,
                        labels={declared.kind: declared.title},
                    )
                )
                for format, path in output_files(declared).items()
            },
        log:
            f"<logs>/{declared.name}.log",
        benchmark:
            f"<benchmarks>/{declared.name}.jsonl"
        localrule: True
        conda:
            ENVIRONMENTS[declared.kind]
        params:
            **output_params(declared, run.package),
        message:
            f"Rendering {declared.title}"
        shell:
            RUN


rule report:
    """Require all tables, figures and pages, other files of the benchmark, and the record of the configuration."""
    input:
        rules.configuration.output,
        rules.describe_models.output,
        bench.reported,
        [path for declared in run.outputs if declared.wanted for path in output_files(declared).values()],
        collect(
            "<results>/figures/contact_sheet_{page}.{kind}",
            page=images.sheets,
            kind=["png", "pdf"],
        ),
