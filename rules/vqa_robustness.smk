"""VQA-robustness: how the errors of models on open questions grow with the level of each corruption (VRE).

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/pool/references.parquet                 the reference answers
    <results>/answers/pool/{model}/{part}.parquet     written by rule answer
    <results>/grades/pool/{model}.parquet             written by rule judge_short_answers
OUTPUTS:
    <results>/grades/pool/{imported}.parquet          the same for answers that another program made
    <results>/tables/errors.csv                       the errors that all metrics are computed from
"""

# Models are asked about all items of the pool.
SUBSETS = {"pool": None}
BENCHMARK = None
# The models of tables and figures that this run asks.
MEASURED = settings.models
# Those that another program has asked.
IMPORTED = settings.answers_from
IMPORTED_FILES = {id_: local(model.file) for id_, model in IMPORTED.items()}
ABSENT = [f"{id_} ({file})" for id_, file in IMPORTED_FILES.items() if not Path(file).is_file()]
if ABSENT:
    logger.warning(
        f"{len(ABSENT)} files of answers_from do not exist yet (docs/vqa-robustness.md): {', '.join(ABSENT)}."
    )


rule import_answers:
    """Grade the answers of one model that another program has asked."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        # An absent one is an error of the job, since the other program needs the pool first.
        answers=lambda wildcards: [
            file for file in [IMPORTED_FILES[wildcards.imported]] if Path(file).is_file()
        ],
    output:
        "<results>/grades/pool/{imported}.parquet",
    log:
        "<logs>/import_answers/{imported}.log",
    wildcard_constraints:
        imported="|".join(IMPORTED) or "(?!)",
    # Early, since the file may be absent.
    priority: 100
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/judge_short_answers.py"),
        file=lambda wildcards: option("--answers-csv", IMPORTED_FILES[wildcards.imported]),
        contents=lambda wildcards: contents_of([IMPORTED_FILES[wildcards.imported]]),
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
    message:
        "Grading the answers of {wildcards.imported}"
    shell:
        "python -m scripts.judge_short_answers --items {input.pool} --references {input.references}"
        " {params.file} --label {wildcards.imported} --corruptions {params.corruptions}"
        " --severities {params.severities} --output {output} 2>&1 | tee {log}"


POOL = "<results>/pool/items.parquet"
ERRORS = "<results>/tables/errors.csv"
GRADES = collect("<results>/grades/pool/{model}.parquet", model=[*MEASURED, *IMPORTED])
LABELS = {
    **{id_: run.models[id_].label for id_ in MEASURED},
    **{id_: model.label for id_, model in IMPORTED.items()},
}
SHARED_LABELS = [label for label in LABELS.values() if [*LABELS.values()].count(label) > 1]
if SHARED_LABELS:
    raise WorkflowError(
        f"Two models have the label {SHARED_LABELS[0]!r}; change it in answers_from or in the model catalogue."
    )
