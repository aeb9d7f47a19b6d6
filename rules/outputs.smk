"""Tables, figures and pages, one rule for each that the benchmark declares in OUTPUTS, and their report.

REQUIRED INPUTS: those of the declarations
OUTPUTS:
    <results>/models.json                    label, year and parameters of the evaluated models
    <results>/tables/{name}.{csv,md,tex}     and {name}_published.csv, compared with a paper's values
    <results>/figures/{name}.{png,pdf}
    <results>/pages/{name}.html
    `snakemake --report results/<name>/report.html` collects the outputs of `report` on one page
"""

import json

# Figures need packages that their inputs do not.
OUTPUT_ENVIRONMENTS = {"table": "core", "figure": "figures", "page": "core"}


report: f"../benchc/benchmarks/{PACKAGE}/report.rst"


rule models:
    """Write what tables and figures need to know about the models."""
    output:
        "<results>/models.json",
    log:
        "<logs>/models.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/describe_models.py"),
        benchmark=settings.benchmark,
        # A function, since Snakemake expands braces in strings as wildcards.
        models=lambda wildcards: [
            json.dumps({"id": id_, **run.models[id_].model_dump(include={"label", "year", "parameters_b"})})
            for id_ in MEASURED
        ],
    message:
        "Describing the models"
    shell:
        "python -m scripts.describe_models --benchmark {params.benchmark} --models {params.models:q}"
        " --output {output} 2>&1 | tee {log}"


for declared in OUTPUTS:

    rule:
        name:
            declared.name
        input:
            **declared.inputs,
            data=declared.data,
        output:
            **{
                format: (
                    f"<results>/{file}"
                    if format != declared.formats[0]
                    else report(
                        f"<results>/{file}",
                        caption="captions/output.rst",
                        category=f"{declared.kind}s".capitalize(),
                        subcategory=declared.subcategory,
                        labels={declared.kind: declared.title},
                    )
                )
                for format, file in declared.files.items()
            },
        log:
            f"<logs>/{declared.name}.log",
        benchmark:
            f"<benchmarks>/{declared.name}.jsonl"
        localrule: True
        conda:
            f"../envs/{OUTPUT_ENVIRONMENTS[declared.kind]}.yaml"
        params:
            *code_of(f"scripts/{declared.kind}.py", module_file(declared.module(PACKAGE))),
            script=declared.kind,
            module=declared.module(PACKAGE),
            # Functions, since Snakemake expands braces in strings as wildcards.
            settings=lambda wildcards, declared=declared: declared.arguments,
            given=lambda wildcards, declared=declared: declared.given,
            # Of files that no rule writes: Snakemake misses an edit that keeps their time.
            contents=lambda wildcards, declared=declared: contents_of(declared.files_of_user),
            formats=f"--formats {' '.join(declared.formats)}" if declared.kind == "table" else "",
            caption=lambda wildcards, declared=declared: declared.paragraphs,
            # Snakemake does not record the names of inputs.
            inputs=lambda wildcards, input, names=tuple(declared.inputs): " ".join(
                f"--input {name} {input.get(name)}" for name in names
            ),
            prefix=subpath(output[0], strip_suffix=f".{declared.formats[0]}"),
        message:
            f"Rendering {declared.title}"
        shell:
            "python -m scripts.{params.script} {params.module} {params.inputs} --set {params.settings:q}"
            " {params.formats} --output {params.prefix} 2>&1 | tee {log}"


rule report:
    """Require all tables, figures and pages, other files of the benchmark, and the record of the configuration."""
    input:
        rules.configuration.output,
        rules.models.output,
        REPORTED,
        [f"<results>/{file}" for declared in OUTPUTS if declared.wanted for file in declared.files.values()],
        collect(
            "<results>/figures/contact_sheet_{page}.{kind}",
            page=SHEETS,
            kind=["png", "pdf"],
        ),
