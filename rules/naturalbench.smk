"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and what the sections below state
OUTPUTS: those of the sections below
"""

import json
import time
import tomllib
from functools import partial

from benchc.benchmarks.naturalbench.curation.review_files import (
    AGAIN,
    ReviewError,
    answers_digest,
    choices_of_form,
    read_answers,
)
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


def encoder_files(id_):
    """Return the files of an encoder that are the run's or the user's own."""
    encoder = ENCODERS[id_]
    if encoder.name == "trained":
        return ENCODER_FILES
    return files_of_encoders([encoder.name, encoder.pretrained])


def encoder_revision(wildcards):
    """Return the file with the commit of an encoder on the Hub; none for another one."""
    on_hub = wildcards.encoder in [*TAGGED_ENCODERS, *HUB_ENCODERS]
    return "<results>/encoders/{encoder}.json" if on_hub else []


def encoder_contents(id_):
    """Return the contents of the user's own files of an encoder."""
    return contents_of(encoder_files(id_)) if ENCODERS[id_].name != "trained" else []


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
        encoder=lambda wildcards: encoder_files(wildcards.encoder),
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
        contents=lambda wildcards: encoder_contents(wildcards.encoder),
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
# Those that people kept, if they review them.
CURATED_PAIRS = f"<results>/curate/{'kept_pairs' if CURATE and CURATE.review.pairs else 'pairs'}.parquet"


rule retrieval_pairs:
    """Write the pairs for retrieval and their samples: those of curation that people kept, or those of a file."""
    input:
        file=[RETRIEVAL_FILE] if RETRIEVAL_FILE else [],
        captions=[] if RETRIEVAL_FILE else "<results>/curate/captions.parquet",
        pairs=[] if RETRIEVAL_FILE else CURATED_PAIRS,
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
        encoder=lambda wildcards: encoder_files(wildcards.encoder),
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
if CURATE is not None:
    WRITER = CURATE.writer
    REVIEW = CURATE.review
    RELEASE = CURATE.release
    ROUNDS = range(1 + WRITER.more_rounds)
    REVIEWED_ROUNDS = [*(["pairs"] if REVIEW.pairs else []), *ROUNDS]
    PAIRS_OF_CURATION = "<results>/curate/pairs.parquet"
    CAPTIONS_OF_CURATION = "<results>/curate/captions.parquet"
    # Those that questions are written about.
    USED_PAIRS = "<results>/curate/kept_pairs.parquet" if REVIEW.pairs else PAIRS_OF_CURATION
    QUESTIONS = collect("<results>/curate/questions/{round}.parquet", round=ROUNDS)
    KEPT = collect("<results>/curate/kept/{round}.parquet", round=ROUNDS)
    REVIEWED = collect("<results>/curate/reviewed/{round}.parquet", round=REVIEWED_ROUNDS)
    TEMPLATES = {kind: str(local(WRITER.templates[kind])) for kind in WRITER.types}
    for kind, file in TEMPLATES.items():
        if not Path(file).is_file():
            raise WorkflowError(f"curate.writer.templates.{kind}: there is no file {file}; correct the path.")
    REVIEWS = str(local(REVIEW.folder))
    RECORDINGS = (
        f"results/{settings.name}/curate/recordings"
        if WRITER.recordings is None
        else str(local(WRITER.recordings))
    )
    # The run itself writes the replies and the reviews of drawn pictures.
    DRAWN = bool(demo) and all(each.form == "generated" for each in CURATE.captions.values())
    RECORDS_REPLIES = DRAWN and WRITER.mode == "replay" and WRITER.recordings is None
    WRITER_OPTIONS = " ".join(
        [
            option("--model", WRITER.model),
            option("--temperature", WRITER.temperature),
            *(f"--template {kind} {shlex.quote(file)}" for kind, file in TEMPLATES.items()),
        ]
    )
    ANNOTATORS = f"--annotators {' '.join(REVIEW.annotators)}"
    DATA_SETS = " ".join(f"--dataset {id_} {shlex.quote(each.label)}" for id_, each in CAPTION_SETS.items())

    VERSION = tomllib.loads(Path("pyproject.toml").read_text())["project"]["version"]
    FORMS = f"results/{settings.name}/curate/review"
    GROUPS_OF_RELEASE = "<results>/curate/groups.tsv"
    REVIEW_ROUNDS = "|".join(["pairs", *map(str, ROUNDS)])
    ANNOTATOR = "|".join(REVIEW.annotators)
    WRITER_CONNECTION = " ".join(
        [
            option("--mode", WRITER.mode),
            option("--recordings", None if WRITER.mode == "live" else RECORDINGS),
            option("--url", WRITER.url),
            option("--api-key-env", WRITER.api_key_env),
            option("--concurrency", WRITER.concurrency),
            option("--timeout-s", WRITER.timeout_s),
        ]
    )

    def questions_of(wildcards):
        """Return the questions of a round; none where pairs are reviewed."""
        return [] if wildcards.round == "pairs" else f"<results>/curate/questions/{wildcards.round}.parquet"

    def review_files(round_):
        """Return the annotators' files of a round: those that are here, or that the run itself writes."""
        files = [f"{REVIEWS}/{round_}/{annotator}.csv" for annotator in REVIEW.annotators]
        # Of a file of people, the answers alone count (review_contents).
        return files if DRAWN else [ancient(file) for file in files if Path(file).is_file()]

    def review_contents(round_):
        """Return the answers in the files of people, as digests."""
        return [] if DRAWN else [f"{file} {answers_digest(Path(file))}" for file in review_files(round_)]

    def open_forms(round_):
        """Return the forms of a round that people have not reviewed, which the job's error names.

        A newer form changes no review. Were all forms inputs as ancient, Snakemake would not look for changes of
        jobs behind a form that it writes anew.
        """
        if len(review_files(round_)) == len(REVIEW.annotators):
            return []
        return [f"<results>/curate/review/{round_}/{annotator}.html" for annotator in REVIEW.annotators]

    def faults_of_reviews():
        """Return what is wrong with the reviews of rounds that are finished: a job would delete their outputs.

        Not of a round whose forms the run writes anew: its old form says nothing of the reviews.
        """
        lines = []
        renewed = {
            str(job.wildcards.round) for job in workflow.dag.needrun_jobs() if job.rule.name == "review_form"
        }
        for round_ in REVIEWED_ROUNDS:
            kept = "kept_pairs" if round_ == "pairs" else f"kept/{round_}"
            forms = {
                annotator: Path(FORMS, str(round_), f"{annotator}.csv") for annotator in REVIEW.annotators
            }
            outputs = [Path(f"results/{settings.name}/curate/{kept}.parquet"), *forms.values()]
            if DRAWN or str(round_) in renewed or not all(path.is_file() for path in outputs):
                continue
            choices = {annotator: choices_of_form(form) for annotator, form in forms.items()}
            try:
                read_answers(choices, Path(REVIEWS, str(round_)), Path(FORMS, str(round_)), str(round_))
            except ReviewError as error:
                lines += error.args
        return lines

    def stopped_by_reviews():
        """Return what the jobs of this process that read reviews stopped with."""
        logs = Path(f"logs/{settings.name}")
        texts = [
            path.read_text()
            for path in [logs / "keep_pairs.log", *sorted(logs.glob("keep_reviewed/*.log"))]
            # That of an earlier run stays where no job begins.
            if path.is_file() and path.stat().st_mtime >= BEGUN - CLOCK
        ]
        return [line for text in texts if text.rstrip().endswith(AGAIN) for line in text.splitlines()]

    BEGUN = time.time()
    CHANGED_BY_PEOPLE.append(Path(FORMS))
    AT_START.append(faults_of_reviews)
    AT_ERROR.append(stopped_by_reviews)

    if RECORDS_REPLIES:

        rule record_demo_writer:
            """Write the replies of the demo's language model to all requests of all rounds."""
            input:
                pairs=USED_PAIRS,
                captions=CAPTIONS_OF_CURATION,
                templates=list(TEMPLATES.values()),
            output:
                directory(RECORDINGS),
            log:
                "<logs>/record_demo_writer.log",
            localrule: True
            conda:
                "../envs/core.yaml"
            params:
                *code_of("scripts/naturalbench/record_demo_writer.py"),
                writer=lambda wildcards: WRITER_OPTIONS,
                rounds=option("--rounds", len(ROUNDS)),
                seed=option("--seed", demo["seed"]),
                contents=lambda wildcards: contents_of(TEMPLATES.values()),
            message:
                "Recording the replies of the demo's language model"
            shell:
                "python -m scripts.naturalbench.record_demo_writer --pairs {input.pairs}"
                " --captions {input.captions} {params.rounds} {params.seed} {params.writer}"
                " --output {output} 2>&1 | tee {log}"

    rule write_questions:
        """Let a language model write the questions of a round: all, or those that people did not keep."""
        input:
            pairs=USED_PAIRS,
            captions=CAPTIONS_OF_CURATION,
            templates=list(TEMPLATES.values()),
            kept=lambda wildcards: (
                f"<results>/curate/kept/{int(wildcards.round) - 1}.parquet" if int(wildcards.round) else []
            ),
            recordings=RECORDINGS if RECORDS_REPLIES else [],
        output:
            "<results>/curate/questions/{round}.parquet",
        log:
            "<logs>/write_questions/{round}.log",
        benchmark:
            "<benchmarks>/write_questions/{round}.jsonl"
        wildcard_constraints:
            round="|".join(map(str, ROUNDS)),
        # The only job of curation that needs a network.
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/write_questions.py"),
            writer=lambda wildcards: WRITER_OPTIONS,
            # Of resources, so that a change of where and how the model is asked reruns nothing.
            connection=lambda wildcards, resources: WRITER_CONNECTION,
            contents=lambda wildcards: contents_of(TEMPLATES.values()),
        message:
            "Writing the questions of round {wildcards.round}"
        shell:
            "python -m scripts.naturalbench.write_questions --round {wildcards.round} --pairs {input.pairs}"
            " --captions {input.captions} --kept {input.kept} {params.connection} {params.writer}"
            " --output {output} 2>&1 | tee {log}"

    rule review_form:
        """Write the form in which one annotator reviews the pairs, or the questions of a round."""
        input:
            pairs=lambda wildcards: PAIRS_OF_CURATION if wildcards.round == "pairs" else USED_PAIRS,
            captions=CAPTIONS_OF_CURATION,
            questions=questions_of,
        output:
            html="<results>/curate/review/{round}/{annotator}.html",
            csv="<results>/curate/review/{round}/{annotator}.csv",
        log:
            "<logs>/review_form/{round}/{annotator}.log",
        wildcard_constraints:
            round=REVIEW_ROUNDS,
            annotator=ANNOTATOR,
        # Before the job that stops for missing reviews, which names the form.
        priority: 200
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/review_form.py"),
            page=contents_of(["benchc/benchmarks/naturalbench/pages/review.html"]),
            name=lambda wildcards: option("--name", RELEASE.name),
            rounds=option("--rounds", len(ROUNDS)),
            returned_to=lambda wildcards: option(
                "--returned-to", f"{REVIEWS}/{wildcards.round}/{wildcards.annotator}.csv"
            ),
        message:
            "Writing the review form of {wildcards.annotator}, round {wildcards.round}"
        shell:
            "python -m scripts.naturalbench.review_form --round {wildcards.round} --pairs {input.pairs}"
            " --captions {input.captions} --questions {input.questions} --annotator {wildcards.annotator}"
            " {params.rounds} {params.name} {params.returned_to} --html {output.html} --csv {output.csv}"
            " 2>&1 | tee {log}"

    if DRAWN:

        rule record_demo_reviews:
            """Write what one of the demo's annotators answers in a round."""
            input:
                pairs=lambda wildcards: PAIRS_OF_CURATION if wildcards.round == "pairs" else USED_PAIRS,
                captions=CAPTIONS_OF_CURATION,
                questions=questions_of,
            output:
                f"{REVIEWS}/{{round}}/{{annotator}}.csv",
            log:
                "<logs>/record_demo_reviews/{round}/{annotator}.log",
            wildcard_constraints:
                round=REVIEW_ROUNDS,
                annotator=ANNOTATOR,
            localrule: True
            conda:
                "../envs/core.yaml"
            params:
                *code_of("scripts/naturalbench/record_demo_reviews.py"),
                seed=option("--seed", demo["seed"]),
            message:
                "Recording the review of {wildcards.annotator}, round {wildcards.round}"
            shell:
                "python -m scripts.naturalbench.record_demo_reviews --round {wildcards.round}"
                " --pairs {input.pairs} --captions {input.captions} --questions {input.questions}"
                " --annotator {wildcards.annotator} {params.seed} --output {output} 2>&1 | tee {log}"

    rule keep_pairs:
        """Keep the pairs of which all annotators say that no caption describes both images."""
        input:
            pairs=PAIRS_OF_CURATION,
            captions=CAPTIONS_OF_CURATION,
            forms=lambda wildcards: open_forms("pairs"),
            reviews=lambda wildcards: review_files("pairs"),
        output:
            kept="<results>/curate/kept_pairs.parquet",
            reviewed="<results>/curate/reviewed/pairs.parquet",
        log:
            "<logs>/keep_pairs.log",
        # Early, since people may have to review first.
        priority: 100
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/keep_reviewed.py"),
            annotators=ANNOTATORS,
            folder=lambda wildcards: option("--reviews", REVIEWS),
            forms=option("--forms", FORMS),
            contents=lambda wildcards: review_contents("pairs"),
        message:
            "Keeping the pairs that people reviewed"
        shell:
            "python -m scripts.naturalbench.keep_reviewed --round pairs --pairs {input.pairs}"
            " --captions {input.captions} {params.annotators} {params.folder} {params.forms}"
            " --reviewed {output.reviewed} --output {output.kept} 2>&1 | tee {log}"

    rule keep_reviewed:
        """Keep the questions of a round whose expected answers all annotators give."""
        input:
            pairs=USED_PAIRS,
            captions=CAPTIONS_OF_CURATION,
            questions="<results>/curate/questions/{round}.parquet",
            forms=lambda wildcards: open_forms(wildcards.round),
            reviews=lambda wildcards: review_files(wildcards.round),
        output:
            kept="<results>/curate/kept/{round}.parquet",
            reviewed="<results>/curate/reviewed/{round}.parquet",
        log:
            "<logs>/keep_reviewed/{round}.log",
        wildcard_constraints:
            round="|".join(map(str, ROUNDS)),
        priority: 100
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/keep_reviewed.py"),
            annotators=ANNOTATORS,
            folder=lambda wildcards: option("--reviews", REVIEWS),
            forms=option("--forms", FORMS),
            contents=lambda wildcards: review_contents(wildcards.round),
        message:
            "Keeping the questions of round {wildcards.round} that people reviewed"
        shell:
            "python -m scripts.naturalbench.keep_reviewed --round {wildcards.round} --pairs {input.pairs}"
            " --captions {input.captions} --questions {input.questions} {params.annotators} {params.folder}"
            " {params.forms} --reviewed {output.reviewed} --output {output.kept} 2>&1 | tee {log}"

    rule assemble:
        """Assemble the groups whose questions were kept into a release."""
        input:
            pairs=USED_PAIRS,
            captions=CAPTIONS_OF_CURATION,
            questions=QUESTIONS,
            kept=KEPT,
        output:
            GROUPS_OF_RELEASE,
        log:
            "<logs>/assemble.log",
        benchmark:
            "<benchmarks>/assemble.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/assemble.py"),
            datasets=lambda wildcards: DATA_SETS,
        message:
            "Assembling the groups"
        shell:
            "python -m scripts.naturalbench.assemble --pairs {input.pairs} --captions {input.captions}"
            " --questions {input.questions} --kept {input.kept} {params.datasets} --output {output}"
            " 2>&1 | tee {log}"

    # A rule of its own, so that an edit of what is only recorded reruns no model.
    rule record_release:
        """Record how the release was made."""
        input:
            release=GROUPS_OF_RELEASE,
            pairs=USED_PAIRS,
            captions=CAPTIONS_OF_CURATION,
            questions=QUESTIONS,
            kept=KEPT,
            embeddings=rules.mine.input.embeddings,
            caption_files=CAPTION_FILES,
            weights=[file for id_ in MINING.encoders for file in encoder_files(id_)],
        output:
            "<results>/curate/groups.json",
        log:
            "<logs>/record_release.log",
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/record_release.py"),
            release=lambda wildcards: f"{option('--name', RELEASE.name)} {option('--date', RELEASE.date)}",
            datasets=lambda wildcards: DATA_SETS,
            caption_files=lambda wildcards: " ".join(
                f"--caption-file {id_} {shlex.quote(str(local(each.file)))}"
                for id_, each in CAPTION_SETS.items()
                if each.file
            ),
            weights=lambda wildcards: " ".join(
                f"--weights {id_} {shlex.quote(file)}"
                for id_ in MINING.encoders
                for file in encoder_files(id_)
            ),
            mining=lambda wildcards: option("--mining", MINING.model_dump_json()),
            seed=option("--seed", settings.seed),
            version=option("--version", VERSION),
            annotators=ANNOTATORS,
            contents=lambda wildcards: [
                *contents_of(CAPTION_FILES),
                *(line for id_ in MINING.encoders for line in encoder_contents(id_)),
            ],
        message:
            "Recording how the release was made"
        shell:
            "python -m scripts.naturalbench.record_release --release {input.release} --pairs {input.pairs}"
            " --captions {input.captions} --questions {input.questions} --kept {input.kept} {params.release}"
            " {params.datasets} {params.caption_files} {params.weights} --embeddings {input.embeddings}"
            " {params.mining} {params.seed} {params.version} {params.annotators} --output {output}"
            " 2>&1 | tee {log}"

    REPORTED += rules.record_release.output
    REPORTED += collect(
        "<results>/curate/review/{round}/{annotator}.html",
        round=REVIEWED_ROUNDS,
        annotator=REVIEW.annotators,
    )
    OLDER_RELEASES = [str(local(file)) for file in RELEASE.older]


# ---- Groups and tags of the pool -----------------------------------------------------------------------------------

GROUP_SOURCES = sorted(run.sources)
OPEN_SOURCES = [id_ for id_ in GROUP_SOURCES if id_ in VQAV2_SOURCES]
if OPEN_SOURCES:
    raise WorkflowError(f"Remove {OPEN_SOURCES[0]} from sources: VQAv2 has open questions, not groups.")
TAG_FILES = [str(local(settings.groups.tags))] if settings.groups.tags else []
if TAG_FILES and not Path(TAG_FILES[0]).is_file():
    raise WorkflowError(f"groups.tags: there is no file {TAG_FILES[0]}; correct the path, or give null.")


rule read_groups:
    """Tell the groups of the pool, and read their tags; groups that are not whole are listed with the reason."""
    input:
        pool="<results>/pool/items.parquet",
        files=[file_of(id_, "tsv") for id_ in GROUP_SOURCES],
        tags=TAG_FILES,
    output:
        groups="<results>/pool/groups.parquet",
        tags="<results>/pool/tags.parquet",
        subset=SUBSETS["groups"],
        questions=SUBSETS["questions"],
        report="<results>/pool/groups.report.csv",
    log:
        "<logs>/read_groups.log",
    benchmark:
        "<benchmarks>/read_groups.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
    params:
        *code_of("scripts/naturalbench/read_groups.py"),
        contents=[
            *(line for id_ in GROUP_SOURCES for line in own_contents(id_, ["tsv"])),
            *contents_of(TAG_FILES),
        ],
        files=[option("--tsv", f"{id_}={file_of(id_, 'tsv')}") for id_ in GROUP_SOURCES],
        # Functions, since Snakemake expands braces in strings as wildcards.
        labels=lambda wildcards: [
            option("--label", f"{id_}={run.sources[id_].label}") for id_ in GROUP_SOURCES
        ],
        limit=option("--limit", settings.groups.limit),
        tags=" ".join(option("--tags", file) for file in TAG_FILES),
    message:
        "Reading the groups of the pool"
    shell:
        "python -m scripts.naturalbench.read_groups --items {input.pool} {params.files} {params.labels}"
        " {params.limit} {params.tags} --groups {output.groups} --tags-output {output.tags}"
        " --subset {output.subset} --questions {output.questions} --report {output.report} 2>&1 | tee {log}"


# ---- Predictions without the images ---------------------------------------------------------------------------------


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
# Of the models that have none, answers are read alone.
HAVE_PROBABILITIES = [id_ for id_ in MEASURED if run.models[id_].scoring not in ANSWERING]
READ_PROBABILITIES = any(reading != "decoding" for reading in settings.readings)


rule score_groups:
    """Read a model's answers and probabilities: which questions, images and groups are right."""
    input:
        pool="<results>/pool/items.parquet",
        groups="<results>/pool/groups.parquet",
        predictions=lambda wildcards: (
            collect("<results>/predictions/groups/{model}/{part}.parquet", model=wildcards.model, part=PARTS)
            if READ_PROBABILITIES and wildcards.model in HAVE_PROBABILITIES
            else []
        ),
        answers=(
            collect("<results>/answers/groups/{{model}}/{part}.parquet", part=PARTS)
            if "decoding" in settings.readings
            else []
        ),
        prior=lambda wildcards: (
            f"<results>/predictions/questions/{wildcards.model}/{settings.prior}.parquet"
            if "post_hoc" in settings.readings and wildcards.model in HAVE_PROBABILITIES
            else []
        ),
    output:
        "<results>/scores/{model}.parquet",
    log:
        "<logs>/score_groups/{model}.log",
    benchmark:
        "<benchmarks>/score_groups/{model}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        *code_of("scripts/naturalbench/score_groups.py"),
        prior=option("--prior-kind", settings.prior),
        readings=settings.readings,
        extraction=option("--extraction", settings.decoding.extraction),
        labels=option("--labels", settings.prompt.labels),
        corruptions=sorted(settings.corruptions.types),
        severities=settings.corruptions.severities,
    message:
        "Scoring the groups of {wildcards.model}"
    shell:
        "python -m scripts.naturalbench.score_groups --items {input.pool} --groups {input.groups}"
        " --predictions {input.predictions} --answers {input.answers} --prior {input.prior} {params.prior}"
        " --readings {params.readings} {params.extraction} {params.labels} --corruptions {params.corruptions}"
        " --severities {params.severities} --output {output} 2>&1 | tee {log}"


# ---- Tables and figures --------------------------------------------------------------------------------------------
PUBLISHED = "benchc/benchmarks/naturalbench/published"
SCORED = {
    "scores": collect("<results>/scores/{model}.parquet", model=MEASURED),
    "models": "<results>/models.json",
    "groups": "<results>/pool/groups.parquet",
}
RESAMPLING = {"draws": settings.tables.bootstrap.draws, "seed": settings.tables.bootstrap.seed}
# The reading of tables that have one.
READING = {
    "reading": next(
        (reading for reading in ("decoding", "deterministic") if reading in settings.readings),
        settings.readings[0],
    )
}
POOL = "<results>/pool/items.parquet"
# Answers without the image, of each question's item about image 0; a grey image is no such pass.
BLIND = [
    f"<results>/predictions/questions/{id_}/no_image.parquet"
    for id_ in HAVE_PROBABILITIES
    if "post_hoc" in settings.readings and settings.prior == "no_image"
]
BLIND_PASS = "" if BLIND else "This run asks no model without the image (post_hoc of readings, and prior)."
TABLE_WITH_PUBLISHED = ["csv", "md", "tex", "published"]
BRACKETS = f"""
In brackets: 95 % percentile intervals from {RESAMPLING['draws']} resamples of the groups, the same for all
models and readings. Groups are those from mined pairs, but for Table 6.
"""

SCORE_OUTPUTS = [
    table(
        "table1",
        "Table 1",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table1.csv"],
        wanted=bool(MEASURED),
        caption=f"""
        **Table 1** of the paper. Accuracies of each model in per cent, by the reading {READING['reading']}: Acc
        of answers, Q-Acc of questions (right on both images), I-Acc of images (both questions right) and G-Acc
        of groups (four right answers), and the difference Δ of G-Acc from that of people, 92.1. {BRACKETS}
        The first rows are people, as published, and chance. table1_published.csv has the paper's values of the
        models that are certainly the same beside ours; differences have a meaning only on the paper's groups.
        """,
    ),
    table(
        "table2",
        "Table 2",
        inputs=SCORED,
        settings=RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table2.csv"],
        wanted={"deterministic", "sample"} <= {*settings.readings} and bool(MEASURED),
        caption=f"""
        **Table 2** of the paper. Q-Acc, I-Acc and G-Acc in per cent, original (the more probable answer, τ = 0)
        and debiased (the best τ of each question, image or group). Debiased accuracies need the pairing of
        questions and images, which no model is told; they measure whether the right combinations are more
        probable than the wrong ones. {BRACKETS}
        """,
    ),
    table(
        "table4",
        "Table 4",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table4.csv"],
        wanted=bool(MEASURED),
        caption=f"""
        **Table 4** of the paper's supplement. G-Acc in per cent by subset and type of question (YN: yes or no,
        MCQ: A or B), and over all groups, by the reading {READING['reading']}. {BRACKETS}
        """,
    ),
    table(
        "table6",
        "Table 6",
        inputs=SCORED,
        settings=READING | RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table6.csv"],
        wanted=bool(MEASURED) and CURATE is not None and CURATE.mine.random_pairs > 0,
        caption=f"""
        **Table 6** of the paper's supplement. G-Acc in per cent on groups from mined pairs, which encoders
        mismatch, and from pairs drawn at random among the other samples and not mismatched, by the reading
        {READING['reading']}. {BRACKETS}
        """,
    ),
    *(
        table(
            f"table{number}",
            f"Table {number}",
            inputs=SCORED | {"tags": "<results>/pool/tags.parquet"},
            settings=READING | RESAMPLING,
            formats=TABLE_WITH_PUBLISHED,
            data=[f"{PUBLISHED}/table9_10.csv"],
            wanted=bool(MEASURED) and settings.groups.tags is not None,
            caption=f"""
            **Table {number}** of the paper's supplement. G-Acc (above) and Q-Acc (below) in per cent by skills
            of {kinds}, by the reading {READING['reading']}. A group or a question needs a skill if one of its
            samples does. The paper's table is headed Q-Acc, but its values are G-Acc: no cell of GPT-4o is above
            44.2, while its Q-Acc is 64.4. Intervals are in the csv file.
            """,
        )
        for number, kinds in ((9, "objects and attributes"), (10, "relations and reasoning"))
    ),
    table(
        "table11",
        "Table 11",
        inputs=SCORED,
        settings=RESAMPLING,
        formats=TABLE_WITH_PUBLISHED,
        data=[f"{PUBLISHED}/table11.csv"],
        wanted=bool(MEASURED),
        caption=f"""
        **Table 11** of the paper's supplement. Accuracies in per cent by all readings: decoding, a generated
        answer; deterministic, the more probable answer (VQAScore, τ = 0); post-hoc, the answer that the image
        makes more probable than the question alone does (eq. 5); global τ, the one for which most groups are
        right; sample τ, the best of each question, image or group. The paper chooses the global τ from the
        groups that it is measured on; cross-fitted τ (not in the paper) is chosen from the other half of the
        groups, and global τ by type is one for each type of question. {BRACKETS}
        """,
    ),
    table(
        "taus",
        "thresholds",
        inputs=SCORED,
        wanted=bool(MEASURED) and "global" in settings.readings,
        caption="""
        **Thresholds τ** of the global readings (not in the paper), in [-1, 1], with the interval of those that
        are as good and the number of groups that are right for them.
        """,
    ),
    table(
        "bias",
        "bias",
        inputs=SCORED,
        settings=RESAMPLING,
        wanted=bool(MEASURED),
        caption=f"""
        **Bias to an answer** (not in the paper). Share of Yes among the answers to yes-or-no questions, of B
        among the answers A or B, and of replies without an answer, in per cent; half of the right answers are
        Yes, and half are B. {BRACKETS}
        """,
    ),
    table(
        "rank_swaps",
        "rank swaps",
        inputs=SCORED,
        settings=READING
        | {"draws": settings.tables.bootstrap.rank_draws, "seed": settings.tables.bootstrap.seed},
        wanted=len(MEASURED) > 1,
        caption=f"""
        **Does G-Acc rank the models differently from Acc?** (not in the paper). Pairs of models whose paired
        differences in Acc and in G-Acc have opposite signs, by the reading {READING['reading']}. p is twice the
        larger of the two one-sided bootstrap p values, since both signs must be established, with Holm's
        correction over all pairs; from {settings.tables.bootstrap.rank_draws} resamples of the groups, the
        same for all models. (The smallest p of B resamples is 2 / (B + 1), so many pairs need many resamples.)
        The csv file has all pairs.
        """,
    ),
    table(
        "corruption",
        "accuracies under corruption",
        inputs=SCORED,
        settings=READING | RESAMPLING | {"corruptions": settings.corruptions.types},
        wanted=bool(MEASURED) and bool(settings.corruptions.types),
        caption=f"""
        **Accuracies under corruption** (not in the paper). Acc and G-Acc in per cent, means over the severities,
        and their differences from clean images, by the reading {READING['reading']}. {BRACKETS} Differences are
        paired by group. The csv file has all severities and readings.
        """,
    ),
    figure(
        "figure_examples",
        "the figure of examples",
        inputs=SCORED | {"pool": POOL, "tags": "<results>/pool/tags.parquet"},
        settings={"number": 4},
        subcategory="Groups",
        wanted=bool(MEASURED),
        caption="""
        **Examples** (figures 1, 7 and 8 of the paper). Four groups, those first that some models solve and others
        do not: both images, each question with the right answer below each image, and the answers of the first
        eight models, which are generated or, where most replies have none, the more probable ones; below the
        group's name, its skills if it has tags. A model solves a group if all four answers have a tick mark.
        """,
    ),
    figure(
        "figure_taxonomy",
        "the figure of skills",
        inputs={"groups": "<results>/pool/groups.parquet", "tags": "<results>/pool/tags.parquet"},
        subcategory="Groups",
        wanted=settings.groups.tags is not None,
        caption="""
        **Skills** (figure 6 of the paper), by class. Number of questions and of groups that need each skill:
        of which an item has its tag. An item may have several tags.
        """,
    ),
    figure(
        "figure_blind",
        "the figure of blind answers",
        inputs=SCORED | {"pool": POOL, "blind": BLIND},
        settings=RESAMPLING,
        subcategory="Accuracy",
        wanted=bool(MEASURED),
        caption=f"""
        **With and without the image** (as figures 3 to 5 of the paper). (a) Acc and (b) G-Acc of each model in
        per cent, with 95 % intervals from {RESAMPLING['draws']} resamples of the groups, deterministic (τ = 0)
        where the model has probabilities, else by decoding. Without the image, a model gives both images of a
        question the same answer, as a constant answer does: by construction half of the answers are right, and
        no group.
        {BLIND_PASS}
        """,
    ),
    figure(
        "figure_readings",
        "the figure of readings",
        inputs=SCORED,
        settings=RESAMPLING,
        subcategory="Accuracy",
        wanted=bool(MEASURED),
        caption=f"""
        **G-Acc by reading** (Table 11), in per cent, with 95 % intervals from {RESAMPLING['draws']} resamples of
        the groups; more than 16 models have one line each, without intervals. The dashed line is chance, 1/16,
        for four independent answers; with the best τ of each group chance is 1/6, since a group is right if its
        two right answers "Yes" are the two most probable of four.
        """,
    ),
    figure(
        "figure_corruption",
        "the figure of corruption",
        inputs=SCORED,
        settings=RESAMPLING
        | {"corruptions": settings.corruptions.types, "severities": settings.corruptions.severities},
        subcategory="Accuracy",
        wanted=bool(MEASURED) and bool(settings.corruptions.types),
        caption=f"""
        **G-Acc by severity** (not in the paper), in per cent, by decoding or else deterministic; 0 is
        clean. Panels with up to four curves show 95 % intervals from {RESAMPLING['draws']} resamples of the
        groups. The dashed line is chance.
        """,
    ),
]


CURATION_OUTPUTS = (
    [
        table(
            "curation",
            "steps of curation",
            inputs={
                "mismatches": "<results>/curate/mismatches.parquet",
                "pairs": PAIRS_OF_CURATION,
                "kept_pairs": [USED_PAIRS] if REVIEW.pairs else [],
                "questions": QUESTIONS,
                "kept": KEPT,
            },
            subcategory="Curation",
            caption="""
                **Steps of curation**: how many samples, mismatches (before the most of a sample are chosen), pairs,
                questions and groups there are. A group is a pair and a type of questions, both of which all
                annotators answered as expected on both images.
                """,
        ),
        table(
            "drop_reasons",
            "dropped questions",
            inputs={"kept": KEPT},
            settings=RESAMPLING,
            subcategory="Curation",
            caption=f"""
                **Questions by round and type**: how many were asked for, the share that all annotators answered as
                expected on both images, with a 95 % percentile interval from {RESAMPLING['draws']} resamples
                of the pairs, and why the others were dropped: the reply was not usable; annotators disagreed; they
                agreed that the question cannot be answered; they agreed on another answer.
                """,
        ),
        table(
            "agreement",
            "agreement of annotators",
            inputs={"reviewed": REVIEWED},
            settings=RESAMPLING,
            subcategory="Curation",
            caption=f"""
                **Agreement of annotators** by round of review: the share of rows to which all give the same answer,
                kappa (Cohen's for two annotators, Fleiss' for more), and the share of answers that keep the question
                or pair. In brackets: 95 % percentile intervals from {RESAMPLING['draws']} resamples of the
                pairs; none where all resamples give one value.
                """,
        ),
        table(
            "overlap",
            "overlap with older releases",
            inputs={"release": GROUPS_OF_RELEASE, "older": OLDER_RELEASES},
            subcategory="Curation",
            wanted=bool(OLDER_RELEASES),
            caption="""
                **Overlap with older releases**: images that are equal pixel for pixel, questions with the same words
                and options, and groups with the same images and questions. A copy of an image that was scaled or
                compressed again is not found.
                """,
        ),
    ]
    if CURATE
    else []
)

RETRIEVAL_OUTPUTS = (
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
)

OUTPUTS = [*SCORE_OUTPUTS, *CURATION_OUTPUTS, *RETRIEVAL_OUTPUTS]
