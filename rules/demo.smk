"""The demo's data and models: synthetic data sets, and small models trained on them.

Used only for sources with the key `generated` and models with the key `train` in their catalogue.

REQUIRED INPUTS: none
OUTPUTS:
    results/generated/{generated}.tsv           a synthetic data set in VLMEvalKit's format
    results/models/training_set-{digest}.npz    the images and questions on which models are trained
    results/models/captioned_training_set-{digest}.npz    the same, and captions of the images
    results/models/{trained}/                   a trained model in the Hub's folder format
    results/models/image_encoder-{digest}/      a trained open_clip model

All names end in a digest of what decides the content, so that runs share files and overwrite none.
"""

from benchc.workflow.made_once import FOLDER, captioned_training_set, training_set
from benchc.workflow.models import MODEL_FILES, VQA_HEAD_FILES

trained = models.trained


rule generate_demo_source:
    """Generate one of the demo's synthetic data sets."""
    output:
        "results/generated/{generated}.tsv",
    log:
        "<logs>/generate_demo_source/{generated}.log",
    benchmark:
        "<benchmarks>/generate_demo_source/{generated}.jsonl"
    wildcard_constraints:
        generated=one_of(sources.generated),
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        **stage(
            "generate_demo_source",
            source=By("generated", sources.generated),
            seed=settings.demo.seed,
            groups=lambda wildcards: sources.entries[
                sources.generated[wildcards.generated]
            ].generated.groups,
        ),
    message:
        "Generating the data set {wildcards.generated}"
    shell:
        RUN


rule generate_training_set:
    """Generate the training set of the small models and the small image encoder."""
    output:
        training_set(settings.demo),
    log:
        "<logs>/generate_training_set.log",
    benchmark:
        "<benchmarks>/generate_training_set.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
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


rule add_captions:
    """Add captions to the training set, for the small models that describe pictures."""
    input:
        training_set=rules.generate_training_set.output[0],
    output:
        captioned_training_set(settings.demo),
    log:
        "<logs>/add_captions.log",
    benchmark:
        "<benchmarks>/add_captions.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=1500,
        runtime=10,
    params:
        **stage("add_captions"),
    message:
        "Adding captions to the training set"
    shell:
        RUN


rule train_demo_model:
    """Train one small vision-language model on the training set."""
    input:
        training_set=lambda wildcards: trained.training_sets[wildcards.trained],
    output:
        collect(f"{FOLDER}/{{{{trained}}}}/{{file}}", file=MODEL_FILES),
    log:
        "<logs>/train_demo_model/{trained}.log",
    benchmark:
        "<benchmarks>/train_demo_model/{trained}.jsonl"
    # Not the models of a folder or the Hub.
    wildcard_constraints:
        trained=one_of(trained.prompted),
    conda:
        "../envs/transformers.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        **stage(
            "train_demo_model",
            code=[trained.code],
            family=lambda wildcards: models.entries[trained.ids[wildcards.trained]].family,
            size=trained.sizes,
            training=trained.trainings,
            folder=unrecorded(lambda wildcards: f"{FOLDER}/{wildcards.trained}"),
        ),
    message:
        "Training the small model {wildcards.trained}"
    shell:
        RUN


use rule train_demo_model as train_demo_vqa_head with:
    """Train one small VQA head with a closed list of answers on the training set."""
    output:
        collect(f"{FOLDER}/{{{{trained}}}}/{{file}}", file=VQA_HEAD_FILES),
    wildcard_constraints:
        trained=one_of(trained.closed_lists),


# An encoder in a folder that the user names is an input.
if bench.trained_encoder:

    rule train_demo_encoder:
        """Train the small open_clip model that embeds the demo's images."""
        input:
            training_set=rules.generate_training_set.output[0],
        output:
            bench.trained_encoder.files,
        log:
            "<logs>/train_demo_encoder.log",
        benchmark:
            "<benchmarks>/train_demo_encoder.jsonl"
        conda:
            "../envs/encoders.yaml"
        resources:
            mem_mb=2000,
            runtime=10,
        params:
            **stage(
                "train_demo_encoder",
                steps=bench.trained_encoder.steps,
                seed=settings.demo.seed,
                folder=unrecorded(bench.trained_encoder.folder),
            ),
        message:
            "Training the small image encoder"
        shell:
            RUN
