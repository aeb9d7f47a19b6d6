"""Models answer the items of a subset, in their own words or from a closed list; the answers are judged.

REQUIRED INPUTS: those of infer
OUTPUTS:
    <results>/answers/{subset}/{model}/{part}.parquet    one row per generated answer
    <results>/judgements/{subset}/{model}.parquet        the option that each answer chooses, if any
    <results>/grades/{subset}/{model}.parquet            whether each answer is the item's reference answer
A part is that of infer. Answers are cached as predictions are. A benchmark chooses its judge by the output that its
tables take (benchc/workflow/judges.py).
"""


rule answer:
    """Let one model answer all items of a subset, under the corruptions of one part."""
    input:
        **models.inputs(),
    output:
        "<results>/answers/{subset}/{model}/{part}.parquet",
    log:
        "<logs>/answer/{subset}/{model}/{part}.log",
    benchmark:
        "<benchmarks>/answer/{subset}/{model}/{part}.jsonl"
    conda:
        models.environment
    threads: models.threads
    resources:
        **models.resources(answers=True),
    params:
        **stage(
            "answer",
            code=[models.answering_code(), images.generating_code],
            contents=models.contents,
            model=models.asked,
            answering=models.answering,
            generation=models.generation,
            label_prompt=models.answer_prompts,
            question_template=models.question_template,
            images=images.shown,
            job=models.job("answers"),
        ),
    message:
        "{wildcards.model} answers the subset {wildcards.subset}, corruptions: {wildcards.part}"
    shell:
        RUN


rule judge_options:
    """Extract the option that each generated answer of one model chooses."""
    input:
        pool="<results>/pool/items.parquet",
        answers=collect("<results>/answers/{{subset}}/{{model}}/{part}.parquet", part=images.batches),
    output:
        "<results>/judgements/{subset}/{model}.parquet",
    log:
        "<logs>/judge_options/{subset}/{model}.log",
    benchmark:
        "<benchmarks>/judge_options/{subset}/{model}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage("judge_options"),
    message:
        "Extracting the options that {wildcards.model} chooses on the subset {wildcards.subset}"
    shell:
        RUN


rule judge_short_answers:
    """Grade the answers of one model by the reference answers."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        answers=collect("<results>/answers/{{subset}}/{{model}}/{part}.parquet", part=images.batches),
    output:
        "<results>/grades/{subset}/{model}.parquet",
    log:
        "<logs>/judge_short_answers/{subset}/{model}.log",
    benchmark:
        "<benchmarks>/judge_short_answers/{subset}/{model}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage("judge_short_answers"),
    message:
        "Grading the answers of {wildcards.model} on the subset {wildcards.subset}"
    shell:
        RUN
