"""The demo's data and models: synthetic data sets, and small models trained on them.

Used only for sources with the key `generated` and models with the key `train` in their catalogue.

REQUIRED INPUTS: none
OUTPUTS:
    results/generated/{source}.tsv   a synthetic data set in VLMEvalKit's format
    results/models/{model}/          a trained model in the Hub's folder format
    results/models/image_encoder/    a trained open_clip model
"""


rule generate_demo_source:
    """Generate one of the demo's synthetic data sets."""
    output:
        "results/generated/{source}.tsv",
    log:
        "<logs>/generate_demo_source/{source}.log",
    benchmark:
        "<benchmarks>/generate_demo_source/{source}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/generate_demo_source.py"),
        seed=option("--seed", demo.get("seed")),
        groups=lambda wildcards: option("--groups", run.sources[wildcards.source].generated.groups),
    message:
        "Generating the data set {wildcards.source}"
    shell:
        "python -m scripts.generate_demo_source --source {wildcards.source} {params.seed}"
        " {params.groups} --output {output} 2>&1 | tee {log}"


rule generate_training_set:
    """Generate the training set of the small models and the small image encoder."""
    output:
        "results/models/training_set.npz",
    log:
        "<logs>/generate_training_set.log",
    benchmark:
        "<benchmarks>/generate_training_set.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=1500,
    params:
        *code_of("scripts/generate_training_set.py"),
        seed=option("--seed", demo.get("seed")),
        size=options_of(demo.get("training_set")),
    message:
        "Generating the training set of the small models"
    shell:
        "python -m scripts.generate_training_set {params.seed} {params.size} --output {output} 2>&1 | tee {log}"


rule train_demo_model:
    """Train one small vision-language model on the training set."""
    input:
        training_set="results/models/training_set.npz",
    output:
        collect("results/models/{{model}}/{file}", file=MODEL_FILES),
    log:
        "<logs>/train_demo_model/{model}.log",
    benchmark:
        "<benchmarks>/train_demo_model/{model}.jsonl"
    # Not the models of a folder or the Hub.
    wildcard_constraints:
        model="|".join(id_ for id_ in TRAINER_CODE if id_ not in VQA_HEADS) or "(?!)",
    conda:
        "../envs/transformers.yaml"
    resources:
        mem_mb=2000,
    params:
        *code_by_wildcards(lambda wildcards: TRAINER_CODE[wildcards.model], TRAINER_CODE.values()),
        options=lambda wildcards: options_of(run.models[wildcards.model].train.model_dump(exclude_none=True)),
        family=lambda wildcards: run.models[wildcards.model].family,
        scoring=lambda wildcards: run.models[wildcards.model].scoring,
        folder=subpath(output[0], parent=True),
    message:
        "Training the small model {wildcards.model}"
    shell:
        "python -m scripts.train_demo_model --training-set {input.training_set}"
        " --family {params.family} --scoring {params.scoring} {params.options}"
        " --output {params.folder} 2>&1 | tee {log}"


use rule train_demo_model as train_demo_vqa_head with:
    """Train one small VQA head with a closed list of answers on the training set."""
    output:
        collect("results/models/{{model}}/{file}", file=VQA_HEAD_FILES),
    wildcard_constraints:
        model="|".join(id_ for id_ in TRAINER_CODE if id_ in VQA_HEADS) or "(?!)",


rule train_demo_encoder:
    """Train the small open_clip model that embeds the demo's images."""
    input:
        training_set="results/models/training_set.npz",
    output:
        ENCODER_FILES,
    log:
        "<logs>/train_demo_encoder.log",
    benchmark:
        "<benchmarks>/train_demo_encoder.jsonl"
    conda:
        "../envs/encoders.yaml"
    resources:
        mem_mb=2000,
    params:
        *code_of("scripts/train_demo_encoder.py"),
        folder=subpath(output[0], parent=True),
        seed=option("--seed", demo.get("seed")),
        options=options_of(demo.get("image_encoder")),
    message:
        "Training the small image encoder"
    shell:
        "python -m scripts.train_demo_encoder --training-set {input.training_set} {params.seed} {params.options}"
        " --output {params.folder} 2>&1 | tee {log}"
