"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and what the sections below state
OUTPUTS: those of the sections below
"""

from functools import partial

SUBSETS = {
    # The items of whole groups.
    "groups": f"results/{settings.name}/subsets/groups.parquet",
    # One item of each question, which is asked without its image.
    "questions": f"results/{settings.name}/subsets/questions.parquet",
}
BENCHMARK = "groups"
# The models of tables and figures.
MEASURED = settings.models
CURATE = settings.curate
RETRIEVAL = settings.retrieval

# ---- Captions, embeddings, mining, pairs, retrieval ----------------------------------------------------------------
# ---- Questions, reviews, assembly ----------------------------------------------------------------------------------
# Tables about curation; none without it.
CURATION_OUTPUTS = []
if CURATE is not None:
    WRITER = CURATE.writer
    REVIEW = CURATE.review
    RELEASE = CURATE.release
    ROUNDS = range(1 + WRITER.more_rounds)
    PAIRS_OF_CURATION = "<results>/curate/pairs.parquet"
    CAPTIONS_OF_CURATION = "<results>/curate/captions.parquet"
    # Those that questions are written about.
    USED_PAIRS = "<results>/curate/kept_pairs.parquet" if REVIEW.pairs else PAIRS_OF_CURATION
    QUESTIONS = collect("<results>/curate/questions/{round}.parquet", round=ROUNDS)
    KEPT = collect("<results>/curate/kept/{round}.parquet", round=ROUNDS)
    REVIEWED = collect(
        "<results>/curate/reviewed/{round}.parquet", round=[*(["pairs"] if REVIEW.pairs else []), *ROUNDS]
    )
    TEMPLATES = {kind: str(local(WRITER.templates[kind])) for kind in WRITER.types}
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
        return files if DRAWN else [file for file in files if Path(file).is_file()]

    def review_contents(round_):
        """Return the contents of the files of people."""
        return [] if DRAWN else contents_of(review_files(round_))

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
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/review_form.py"),
            page=contents_of(["benchc/benchmarks/naturalbench/pages/review.html"]),
            name=lambda wildcards: option("--name", RELEASE.name),
            returned_to=lambda wildcards: option(
                "--returned-to", f"{REVIEWS}/{wildcards.round}/{wildcards.annotator}.csv"
            ),
        message:
            "Writing the review form of {wildcards.annotator}, round {wildcards.round}"
        shell:
            "python -m scripts.naturalbench.review_form --round {wildcards.round} --pairs {input.pairs}"
            " --captions {input.captions} --questions {input.questions} --annotator {wildcards.annotator}"
            " {params.name} {params.returned_to} --html {output.html} --csv {output.csv} 2>&1 | tee {log}"

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
            # An error of the job names them where a review is absent. A newer form changes no review.
            forms=ancient(
                collect("<results>/curate/review/pairs/{annotator}.html", annotator=REVIEW.annotators)
            ),
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
            forms=ancient(
                collect("<results>/curate/review/{{round}}/{annotator}.html", annotator=REVIEW.annotators)
            ),
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
            tsv=GROUPS_OF_RELEASE,
            record="<results>/curate/groups.json",
        log:
            "<logs>/assemble.log",
        benchmark:
            "<benchmarks>/assemble.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            *code_of("scripts/naturalbench/assemble.py"),
            release=lambda wildcards: f"{option('--name', RELEASE.name)} {option('--date', RELEASE.date)}",
            datasets=lambda wildcards: " ".join(
                f"--dataset {id_} {shlex.quote(each.label)}" for id_, each in CURATE.captions.items()
            ),
            encoders=lambda wildcards: " ".join(
                f"--encoder {id_} {shlex.quote(settings.encoders[id_].name)}" for id_ in CURATE.mine.encoders
            ),
            annotators=ANNOTATORS,
        message:
            "Assembling the groups"
        shell:
            "python -m scripts.naturalbench.assemble --pairs {input.pairs} --captions {input.captions}"
            " --questions {input.questions} --kept {input.kept} {params.release} {params.datasets}"
            " {params.encoders} {params.annotators} --output {output.tsv} --record {output.record}"
            " 2>&1 | tee {log}"

    CURATION_RESAMPLING = {
        "draws": settings.tables.bootstrap.draws,
        "seed": settings.tables.bootstrap.seed,
    }
    OLDER_RELEASES = [str(local(file)) for file in RELEASE.older]
    CURATION_OUTPUTS = [
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
            settings=CURATION_RESAMPLING,
            subcategory="Curation",
            caption=f"""
                **Questions by round and type**: how many were asked for, the share that all annotators answered as
                expected on both images, with a 95 % percentile interval from {CURATION_RESAMPLING['draws']} resamples
                of the pairs, and why the others were dropped: the reply was not usable; annotators disagreed; they
                agreed that the question cannot be answered; they agreed on another answer.
                """,
        ),
        table(
            "agreement",
            "agreement of annotators",
            inputs={"reviewed": REVIEWED},
            settings=CURATION_RESAMPLING,
            subcategory="Curation",
            caption=f"""
                **Agreement of annotators** by round of review: the share of rows to which all give the same answer,
                kappa (Cohen's for two annotators, Fleiss' for more), and the share of answers that keep the question
                or pair. In brackets: 95 % percentile intervals from {CURATION_RESAMPLING['draws']} resamples of the
                pairs.
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


# ---- Groups and tags of the pool -----------------------------------------------------------------------------------
# ---- Scores --------------------------------------------------------------------------------------------------------
# ---- Tables and figures --------------------------------------------------------------------------------------------

OUTPUTS = [*CURATION_OUTPUTS]
