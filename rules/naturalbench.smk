"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and what the sections below state
OUTPUTS: those of the sections below
"""

import json
from functools import partial

from benchc.models.encoder_names import hub_id

SUBSETS = {
    # The items of whole groups.
    "groups": f"results/{settings.name}/subsets/groups.parquet",
    # One item of each question, which is asked without its image.
    "questions": f"results/{settings.name}/subsets/questions.parquet",
}
BENCHMARK = None
# The models of tables and figures.
MEASURED = settings.models
CURATE = settings.curate
RETRIEVAL = settings.retrieval

# ---- Captions, embeddings, mining, pairs, retrieval ----------------------------------------------------------------
ENCODERS = settings.encoders
CAPTION_SETS = CURATE.captions if CURATE else {}
MINING = CURATE.mine if CURATE else None
CAPTION_FILES = [str(local(dataset.file)) for dataset in CAPTION_SETS.values() if dataset.file]


def encoder_repo(encoder):
    """Return the Hub's id of an encoder that is fetched as a whole; None for open_clip's and a folder's."""
    return None if encoder.library == "open_clip" else hub_id(encoder.name)


TAGGED_ENCODERS = [
    id_
    for id_, encoder in ENCODERS.items()
    if encoder.library == "open_clip" and tag_on_hub(encoder.pretrained)
]
HUB_ENCODERS = [id_ for id_, encoder in ENCODERS.items() if encoder_repo(encoder)]
FETCHED += [f"<results>/encoders/{id_}.json" for id_ in [*TAGGED_ENCODERS, *HUB_ENCODERS]]


def encoder_files(wildcards):
    """Return the files of an encoder that are the run's or the user's own."""
    encoder = ENCODERS[wildcards.encoder]
    if encoder.name == "trained":
        return ENCODER_FILES
    return files_of_encoders([encoder.name, encoder.pretrained])


def encoder_revision(wildcards):
    """Return the file with the commit of an encoder on the Hub; none for another one."""
    on_hub = wildcards.encoder in [*TAGGED_ENCODERS, *HUB_ENCODERS]
    return "<results>/encoders/{encoder}.json" if on_hub else []


def encoder_contents(wildcards):
    """Return the contents of the user's own files of an encoder."""
    return contents_of(encoder_files(wildcards)) if ENCODERS[wildcards.encoder].name != "trained" else []


rule read_captions:
    """Read the data sets of captioned images: one sample for each image, or for each of its captions."""
    input:
        CAPTION_FILES,
    output:
        captions="<results>/curate/captions.parquet",
        report="<results>/curate/captions_report.csv",
    log:
        "<logs>/read_captions.log",
    benchmark:
        "<benchmarks>/read_captions.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/naturalbench/read_captions.py"),
        # A function, since Snakemake expands braces in strings as wildcards.
        datasets=lambda wildcards: [
            json.dumps(
                {
                    "id": id_,
                    "form": dataset.form,
                    "file": str(local(dataset.file)) if dataset.file else None,
                    "images": str(local(dataset.images)) if dataset.images else None,
                    "count": dataset.count,
                    "language": dataset.language,
                }
            )
            for id_, dataset in CAPTION_SETS.items()
        ],
        captions=option("--captions", MINING.captions if MINING else None),
        seed=option("--seed", demo.get("seed")),
        contents=lambda wildcards: contents_of(CAPTION_FILES),
    message:
        "Reading captioned images"
    shell:
        "python -m scripts.naturalbench.read_captions --datasets {params.datasets:q} {params.captions} {params.seed}"
        " --output {output.captions} --report {output.report} 2>&1 | tee {log}"


rule fetch_tagged_encoder:
    """Download the weights of an encoder's tag from the Hub to its cache, at one commit, and its tokenizer."""

    # No code among the params, as for fetch_model.
    output:
        update("<results>/encoders/{encoder}.json"),
    log:
        "<logs>/fetch_encoder/{encoder}.log",
    wildcard_constraints:
        encoder="|".join(TAGGED_ENCODERS) or NO_WILDCARD,
    priority: 100
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        encoder=lambda wildcards: image_encoder_options(ENCODERS[wildcards.encoder]),
    message:
        "Downloading the encoder {wildcards.encoder}, unless it is here"
    shell:
        "python -m scripts.fetch_image_encoder {params.encoder} --with-text --output {output} 2>&1 | tee {log}"


use rule fetch_model as fetch_hub_encoder with:
    output:
        update("<results>/encoders/{encoder}.json"),
    log:
        "<logs>/fetch_encoder/{encoder}.log",
    wildcard_constraints:
        encoder="|".join(HUB_ENCODERS) or NO_WILDCARD,
    conda:
        "../envs/encoders.yaml"
    params:
        repo=lambda wildcards: option("--repo", encoder_repo(ENCODERS[wildcards.encoder])),
        revision="",
        family="",
    message:
        "Downloading the encoder {wildcards.encoder}, unless it is here"


rule embed_captions:
    """Embed the images and captions of all samples by one encoder."""
    input:
        encoder=encoder_files,
        revision=encoder_revision,
        captions="<results>/curate/captions.parquet",
    output:
        "<results>/curate/embeddings/{encoder}.parquet",
    log:
        "<logs>/embed_captions/{encoder}.log",
    benchmark:
        "<benchmarks>/embed_captions/{encoder}.jsonl"
    wildcard_constraints:
        encoder="|".join(ENCODERS) or NO_WILDCARD,
    conda:
        "../envs/encoders.yaml"
    resources:
        # BLIP-2 has 4.7 GB of weights in float32.
        mem_mb=lambda wildcards, input, attempt: (
            attempt * (4000 if ENCODERS[wildcards.encoder].library != "blip2" else 12000)
            + int(4 * input.size_mb)
        ),
    params:
        *code_of("scripts/naturalbench/embed_captions.py"),
        encoder=lambda wildcards: " ".join(
            [
                option("--id", wildcards.encoder),
                option("--library", ENCODERS[wildcards.encoder].library),
                image_encoder_options(ENCODERS[wildcards.encoder]),
            ]
        ),
        alpha=option("--alpha", settings.corruptions.alpha),
        contents=encoder_contents,
    message:
        "Embedding captioned images by {wildcards.encoder}"
    shell:
        "python -m scripts.naturalbench.embed_captions --captions {input.captions} {params.encoder}"
        " --revision-file {input.revision} {params.alpha} --threads {threads} --output {output} 2>&1 | tee {log}"


rule mine:
    """Find the pairs of samples that all encoders mismatch, among all pairs (eq. 1)."""
    input:
        captions="<results>/curate/captions.parquet",
        embeddings=collect(
            "<results>/curate/embeddings/{encoder}.parquet", encoder=MINING.encoders if MINING else []
        ),
    output:
        "<results>/curate/mismatches.parquet",
    log:
        "<logs>/mine.log",
    benchmark:
        "<benchmarks>/mine.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * (1500 + int(4 * input.size_mb)),
    params:
        *code_of("scripts/naturalbench/mine.py"),
        keep=option("--keep", MINING.keep if MINING else None),
        keep_by=option("--keep-by", MINING.keep_by if MINING else None),
        seed=option("--seed", settings.seed),
    message:
        "Mining mismatched pairs"
    shell:
        "python -m scripts.naturalbench.mine --captions {input.captions} --embeddings {input.embeddings}"
        " {params.keep} {params.keep_by} {params.seed} --output {output} 2>&1 | tee {log}"


rule choose_pairs:
    """Choose pairs of samples among the mismatches, and random pairs beside them."""
    input:
        captions="<results>/curate/captions.parquet",
        mismatches="<results>/curate/mismatches.parquet",
        # Random pairs are no mismatches, of which mining keeps some only.
        embeddings=rules.mine.input.embeddings if MINING and MINING.random_pairs else [],
    output:
        "<results>/curate/pairs.parquet",
    log:
        "<logs>/choose_pairs.log",
    benchmark:
        "<benchmarks>/choose_pairs.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/naturalbench/choose_pairs.py"),
        pairs=option("--pairs", MINING.pairs if MINING else None),
        random_pairs=option("--random-pairs", MINING.random_pairs if MINING else None),
        seed=option("--seed", settings.seed),
    message:
        "Choosing pairs"
    shell:
        "python -m scripts.naturalbench.choose_pairs --captions {input.captions} --mismatches {input.mismatches}"
        " --embeddings {input.embeddings} {params.pairs} {params.random_pairs} {params.seed} --output {output}"
        " 2>&1 | tee {log}"


RETRIEVAL_FILE = str(local(RETRIEVAL.pairs)) if RETRIEVAL and RETRIEVAL.pairs else None


rule retrieval_pairs:
    """Write the pairs for retrieval and their samples: those of curation that people kept, or those of a file."""
    input:
        file=[RETRIEVAL_FILE] if RETRIEVAL_FILE else [],
        captions=[] if RETRIEVAL_FILE else "<results>/curate/captions.parquet",
        pairs=[] if RETRIEVAL_FILE else "<results>/curate/kept_pairs.parquet",
    output:
        captions="<results>/retrieval/captions.parquet",
        pairs="<results>/retrieval/pairs.parquet",
        report="<results>/retrieval/report.csv",
    log:
        "<logs>/retrieval_pairs.log",
    benchmark:
        "<benchmarks>/retrieval_pairs.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/naturalbench/retrieval_pairs.py"),
        file=option("--file", RETRIEVAL_FILE),
        images=option("--images", local(RETRIEVAL.images) if RETRIEVAL_FILE else None),
        contents=lambda wildcards: contents_of([RETRIEVAL_FILE] if RETRIEVAL_FILE else []),
    message:
        "Collecting pairs for retrieval"
    shell:
        "python -m scripts.naturalbench.retrieval_pairs --captions {input.captions} --pairs {input.pairs}"
        " {params.file} {params.images} --output {output.captions} --output-pairs {output.pairs}"
        " --report {output.report} 2>&1 | tee {log}"


use rule embed_captions as embed_retrieval with:
    input:
        encoder=encoder_files,
        revision=encoder_revision,
        captions="<results>/retrieval/captions.parquet",
    output:
        "<results>/retrieval/embeddings/{encoder}.parquet",
    log:
        "<logs>/embed_retrieval/{encoder}.log",
    benchmark:
        "<benchmarks>/embed_retrieval/{encoder}.jsonl"
    message:
        "Embedding the pairs for retrieval by {wildcards.encoder}"


# ---- Questions, reviews, assembly ----------------------------------------------------------------------------------
# ---- Groups and tags of the pool -----------------------------------------------------------------------------------
# ---- Predictions without the images ---------------------------------------------------------------------------------

# Score labels, so that they have predictions.
SCORERS = [id_ for id_ in MEASURED if run.models[id_].scoring not in ANSWERING]


rule infer_without_images:
    """Predict with one model on each question alone, or with a grey image: the prior of post-hoc debiasing."""
    input:
        model=model_files,
        revision=revision_file,
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["questions"],
    output:
        "<results>/predictions/questions/{model}/{prior}.parquet",
    log:
        "<logs>/infer_without_images/{model}/{prior}.log",
    benchmark:
        "<benchmarks>/infer_without_images/{model}/{prior}.jsonl"
    wildcard_constraints:
        prior="no_image|grey_image",
    conda:
        lambda wildcards: f"../envs/{run.models[wildcards.model].env or 'transformers'}.yaml"
    resources:
        gpu=lambda wildcards: run.models[wildcards.model].gpus,
        mem_mb=lambda wildcards, attempt: attempt * run.models[wildcards.model].mem_mb,
        runtime=lambda wildcards, attempt: attempt * 480,
    params:
        *code_by_wildcards(lambda wildcards: SCORER_CODE[wildcards.model], SCORER_CODE.values()),
        model=model_options,
        scoring=scoring_option,
        contents=model_contents,
        connection=lambda wildcards, threads: connection(wildcards, threads, "-without-images"),
        cache="results/.cache",
        shard=lambda wildcards: f"{settings.name}-{wildcards.model}-{wildcards.prior}",
    message:
        "Evaluating {wildcards.model} on questions without their images ({wildcards.prior})"
    shell:
        "python -m scripts.infer {params.model} {params.scoring} {params.connection}"
        " --revision-file {input.revision} --threads 1 --items {input.pool} --subset {input.subset}"
        " --in-place-of-images {wildcards.prior} --cache {params.cache}"
        " --shard {params.shard} --output {output} 2>&1 | tee {log}"


# ---- Scores --------------------------------------------------------------------------------------------------------
# ---- Tables and figures --------------------------------------------------------------------------------------------

OUTPUTS = [
    *(
        [
            table(
                "table7",
                "Table 7",
                inputs={
                    "embeddings": collect(
                        "<results>/retrieval/embeddings/{encoder}.parquet", encoder=RETRIEVAL.encoders
                    ),
                    "pairs": "<results>/retrieval/pairs.parquet",
                },
                settings={
                    "labels": {id_: ENCODERS[id_].label for id_ in RETRIEVAL.encoders},
                    "draws": settings.tables.bootstrap.draws,
                    "seed": settings.tables.bootstrap.seed,
                },
                formats=["csv", "md", "tex", "published"],
                data=["benchc/benchmarks/naturalbench/published/table7.csv"],
                caption="""
                **Table 7.** Image-text retrieval on pairs of captioned images, in per cent. Text score: both images
                are more similar to their own caption than to the other; image score: both captions are more similar
                to their own image; group score: both. A tie is wrong. Intervals are 95 % percentile intervals over
                pairs, and the first row is the expectation of a random ranking. table7_published.csv has the
                published values of encoders with the paper's label, such as CLIP OpenAI RN50: method, source and
                model.
                """,
            ),
        ]
        if RETRIEVAL
        else []
    ),
]
