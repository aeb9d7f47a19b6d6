"""VQA-robustness: how the errors of models on open questions grow with the level of each corruption (VRE).

Its tables, figures and pages are declared in benchc/benchmarks/vqa_robustness/outputs.py.

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/pool/references.parquet                 the reference answers
    <results>/answers/pool/{model}/{part}.parquet     written by rule answer
    <results>/grades/pool/{model}.parquet             written by rule judge_short_answers
OUTPUTS:
    <results>/grades/pool/{imported}.parquet          the same for answers that another program made
    <results>/tables/errors.csv                       the errors that all metrics are computed from
"""


rule import_answers:
    """Grade the answers of one model that another program has asked."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        # An absent one is an error of the job, since the other program needs the pool first.
        waited_for=lambda wildcards: [
            file for file in [bench.imported[wildcards.imported]] if Path(file).is_file()
        ],
    output:
        "<results>/grades/pool/{imported}.parquet",
    log:
        "<logs>/import_answers/{imported}.log",
    wildcard_constraints:
        imported=one_of(bench.imported),
    # Early, since the file may be absent.
    priority: 100
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "vqa_robustness.import_answers",
            contents=lambda wildcards: contents_of([bench.imported[wildcards.imported]]),
            answers=lambda wildcards: bench.imported[wildcards.imported],
            label=lambda wildcards: wildcards.imported,
            corruptions=settings.corruptions.types,
            severities=settings.corruptions.severities,
        ),
    message:
        "Grading the answers of {wildcards.imported}"
    shell:
        RUN
