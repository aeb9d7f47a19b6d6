"""The demo's data and models: synthetic data sets, and small models trained on them.

Used only for sources with the key `generated` and models with the key `train` in their catalogue.

REQUIRED INPUTS: none
OUTPUTS:
    results/generated/{source}.tsv   a synthetic data set in VLMEvalKit's format
    results/models/{model}/          a trained model in the Hub's folder format
    results/models/image_encoder/    a trained open_clip model
"""

from benchc.workflow import encoders
from benchc.workflow.demo import TrainedModels
from benchc.workflow.models import FOLDER, MODEL_FILES, VQA_HEAD_FILES

trained = TrainedModels(models)


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
        **stage(
            "generate_demo_source",
            source=lambda wildcards: wildcards.source,
            seed=settings.demo.seed,
            groups=lambda wildcards: sources.entries[wildcards.source].generated.groups,
        ),
    message:
        "Generating the data set {wildcards.source}"
    shell:
        RUN


rule generate_training_set:
    """Generate the training set of the small models and the small image encoder."""
    output:
        f"{FOLDER}/training_set.npz",
    log:
        "<logs>/generate_training_set.log",
    benchmark:
        "<benchmarks>/generate_training_set.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=1500,
    params:
        **stage(
            "generate_training_set",
            seed=settings.demo.seed,
            items_per_category=settings.demo.training_set.items_per_category,
        ),
    message:
        "Generating the training set of the small models"
    shell:
        RUN


rule train_demo_model:
    """Train one small vision-language model on the training set."""
    input:
        training_set=rules.generate_training_set.output[0],
    output:
        collect(f"{FOLDER}/{{{{model}}}}/{{file}}", file=MODEL_FILES),
    log:
        "<logs>/train_demo_model/{model}.log",
    benchmark:
        "<benchmarks>/train_demo_model/{model}.jsonl"
    # Not the models of a folder or the Hub.
    wildcard_constraints:
        model=one_of(trained.prompted),
    conda:
        "../envs/transformers.yaml"
    resources:
        mem_mb=2000,
    params:
        **stage(
            "train_demo_model",
            code=[trained.code],
            family=lambda wildcards: models.entries[wildcards.model].family,
            size=trained.sizes,
            training=trained.trainings,
            folder=unrecorded(lambda wildcards: f"{FOLDER}/{wildcards.model}"),
        ),
    message:
        "Training the small model {wildcards.model}"
    shell:
        RUN


use rule train_demo_model as train_demo_vqa_head with:
    """Train one small VQA head with a closed list of answers on the training set."""
    output:
        collect(f"{FOLDER}/{{{{model}}}}/{{file}}", file=VQA_HEAD_FILES),
    wildcard_constraints:
        model=one_of(trained.closed_lists),


rule train_demo_encoder:
    """Train the small open_clip model that embeds the demo's images."""
    input:
        training_set=rules.generate_training_set.output[0],
    output:
        encoders.TRAINED_FILES,
    log:
        "<logs>/train_demo_encoder.log",
    benchmark:
        "<benchmarks>/train_demo_encoder.jsonl"
    conda:
        "../envs/encoders.yaml"
    resources:
        mem_mb=2000,
    params:
        **stage(
            "train_demo_encoder",
            # Not all benchmarks have an image encoder.
            steps=lambda wildcards: settings.demo.image_encoder.steps,
            seed=settings.demo.seed,
            folder=unrecorded(encoders.TRAINED_FOLDER),
        ),
    message:
        "Training the small image encoder"
    shell:
        RUN
