"""Models answer the items of a subset, in their own words or from a closed list; the answers are judged.

REQUIRED INPUTS: those of infer
OUTPUTS:
    <results>/answers/{subset}/{model}/{part}.parquet    one row per generated answer
    <results>/judgements/{subset}/{model}.parquet        the option that each answer chooses, if any
    <results>/grades/{subset}/{model}.parquet            whether each answer is the item's reference answer
A part is that of infer. Answers are cached as predictions are.
"""

ANSWER_CODE = {
    id_: code_of("scripts/answer.py", *map(module_file, modules_of(model, answering(model.scoring))))
    for id_, model in run.models.items()
}


rule answer:
    """Let one model answer all items of a subset, under the corruptions of one part."""
    input:
        model=model_files,
        revision=revision_file,
        pool="<results>/pool/items.parquet",
        subset=lambda wildcards: SUBSETS[wildcards.subset] or [],
        corrupted=lambda wildcards: (
            collect(
                "<results>/{images}/{corruption}.parquet",
                images=image_folder(wildcards.subset),
                corruption=PARTS[wildcards.part],
            )
            if image_folder(wildcards.subset)
            else []
        ),
    output:
        "<results>/answers/{subset}/{model}/{part}.parquet",
    log:
        "<logs>/answer/{subset}/{model}/{part}.log",
    benchmark:
        "<benchmarks>/answer/{subset}/{model}/{part}.jsonl"
    conda:
        lambda wildcards: f"../envs/{run.models[wildcards.model].env or 'transformers'}.yaml"
    threads: inference_threads
    resources:
        gpu=lambda wildcards: run.models[wildcards.model].gpus,
        mem_mb=lambda wildcards, attempt: attempt * run.models[wildcards.model].mem_mb,
        runtime=lambda wildcards, attempt: attempt * 480,
    params:
        *code_by_wildcards(lambda wildcards: ANSWER_CODE[wildcards.model], ANSWER_CODE.values()),
        *code_by_wildcards(
            lambda wildcards: [] if image_folder(wildcards.subset) else PART_CODE[wildcards.part],
            PART_CODE.values(),
        ),
        model=model_options,
        generation=generation_options,
        contents=model_contents,
        connection=lambda wildcards, threads: connection(wildcards, threads, "-answers"),
        recipes=recipe_options,
        cache="results/.cache",
        shard=lambda wildcards: f"{settings.name}-{wildcards.model}-{wildcards.subset}-{wildcards.part}-answers",
    message:
        "{wildcards.model} answers the subset {wildcards.subset}, corruptions: {wildcards.part}"
    shell:
        "python -m scripts.answer {params.model} {params.generation} {params.connection}"
        " --revision-file {input.revision} --threads 1 --items {input.pool} --subset {input.subset}"
        " --corrupted {input.corrupted} {params.recipes} --cache {params.cache}"
        " --shard {params.shard} --output {output} 2>&1 | tee {log}"


rule judge_options:
    """Extract the option that each generated answer of one model chooses."""
    input:
        pool="<results>/pool/items.parquet",
        answers=collect("<results>/answers/{{subset}}/{{model}}/{part}.parquet", part=PARTS),
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
        *code_of("scripts/judge_options.py"),
    message:
        "Extracting the options that {wildcards.model} chooses on the subset {wildcards.subset}"
    shell:
        "python -m scripts.judge_options --items {input.pool} --answers {input.answers}"
        " --output {output} 2>&1 | tee {log}"


rule judge_short_answers:
    """Grade the answers of one model by the reference answers."""
    input:
        pool="<results>/pool/items.parquet",
        references="<results>/pool/references.parquet",
        answers=collect("<results>/answers/{{subset}}/{{model}}/{part}.parquet", part=PARTS),
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
        *code_of("scripts/judge_short_answers.py"),
    message:
        "Grading the answers of {wildcards.model} on the subset {wildcards.subset}"
    shell:
        "python -m scripts.judge_short_answers --items {input.pool} --references {input.references}"
        " --answers {input.answers} --output {output} 2>&1 | tee {log}"
