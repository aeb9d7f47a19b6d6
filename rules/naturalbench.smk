"""NaturalBench: groups of two images and two questions with alternating answers, made and scored.

REQUIRED INPUTS: <results>/pool/items.parquet, and the files of encoders, captions, reviews and tags of the user
OUTPUTS:
    <results>/encoders/{encoder}.json                   the commit of an encoder on the Hub, which is in its cache
    <results>/curate/captions.parquet                   captioned images: one sample for each image or caption
    <results>/curate/long_captions.parquet              the same before a language model shortens captions
    <results>/curate/embeddings/{encoder}.parquet       vectors of all samples
    <results>/curate/mismatches.parquet                 pairs of samples that all encoders mismatch
    <results>/curate/{pairs,kept_pairs}.parquet         pairs that are chosen, and those that people keep
    <results>/curate/questions/{round}.parquet          questions by a language model, of rounds 0, 1, ...
    <results>/curate/review/{review}/{annotator}.html   forms for annotators, and empty CSV files; a review is of pairs
                                                        (pairs) or of a round
    <results>/curate/kept/{round}.parquet               questions that people keep
    <results>/curate/reviewed/{review}.parquet          the answers of all annotators
    <results>/curate/groups.tsv, groups.json            the release, and how it was made
    <results>/retrieval/*.parquet                       pairs for retrieval, their samples and vectors
    <results>/pool/{groups,tags}.parquet                the groups of the pool, and skills of their items
    <results>/subsets/{groups,questions}.parquet        ids of the items that models are asked about
    <results>/predictions/questions/{model}/{prior}.parquet    predictions without the images
    <results>/pool/blind.parquet                        items of other benchmarks, which models answer with and without the images
    <results>/predictions/blind/{model}/{shown}.parquet      their predictions (clean, no_image)
    <results>/scores/{model}.parquet                    which questions, images and groups are right
    <results>/fine_tuning/halves.parquet                the half of each group, to tune models on or to test them
    <results>/subsets/{train_half,test_half,test_questions}.parquet    ids of the items of the halves
    <results>/fine_tuning/{model}.{modality}/           a tuned model; what was learned is in results/models
    <results>/predictions/{test_half,test_questions}/{model}.{modality}/*.parquet    its predictions
    <results>/translated/*.parquet                      questions in other languages, their translations and items
    <results>/{answers,predictions}/translated/{model}/clean.parquet    answers to translated questions
    <results>/translated/scores/{model}.parquet         which translated questions, images and groups are right
"""

from benchc.benchmarks.naturalbench import fine_tuning_workflow
from benchc.corruptions.recipe import CLEAN
from benchc.workflow.models import Models

curation, blind, translation = bench.curation, bench.blind, bench.translation


rule fetch_tagged_encoder:
    """Download the weights of an encoder's tag from the Hub to its cache, at one commit, and its tokenizer."""
    output:
        update("<results>/encoders/{encoder}.json"),
    log:
        "<logs>/fetch_encoder/{encoder}.log",
    wildcard_constraints:
        encoder=one_of(bench.encoders.tagged),
    priority: 100
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        # No code, as for fetch_model.
        **stage(
            "fetch_image_encoder",
            tracked=False,
            image_encoder=lambda wildcards: bench.encoders.entries[wildcards.encoder].name,
            pretrained=lambda wildcards: bench.encoders.entries[wildcards.encoder].pretrained,
            with_text=True,
        ),
    message:
        "Downloading the encoder {wildcards.encoder}, unless it is here"
    shell:
        RUN


rule fetch_hub_encoder:
    """Download an encoder from the Hub to its cache, at one commit."""
    output:
        update("<results>/encoders/{encoder}.json"),
    log:
        "<logs>/fetch_encoder/{encoder}.log",
    wildcard_constraints:
        encoder=one_of(bench.encoders.on_hub),
    priority: 100
    localrule: True
    conda:
        "../envs/encoders.yaml"
    params:
        **stage("fetch_model", tracked=False, repo=lambda wildcards: bench.encoders.repo(wildcards.encoder)),
    message:
        "Downloading the encoder {wildcards.encoder}, unless it is here"
    shell:
        RUN


rule embed_captions:
    """Embed the images and captions of all samples by one encoder."""
    input:
        waited_for=lambda wildcards: bench.encoders.files(wildcards.encoder),
        revision_file=bench.encoders.revision_file,
        captions="<results>/curate/captions.parquet",
    output:
        "<results>/curate/embeddings/{encoder}.parquet",
    log:
        "<logs>/embed_captions/{encoder}.log",
    benchmark:
        "<benchmarks>/embed_captions/{encoder}.jsonl"
    wildcard_constraints:
        encoder=one_of(bench.encoders.entries),
    conda:
        "../envs/encoders.yaml"
    resources:
        gpu=lambda wildcards: bench.encoders.entries[wildcards.encoder].gpus,
        mem_mb=lambda wildcards, input: bench.encoders.memory(wildcards.encoder) + 4 * megabytes(input),
        # A job that reaches its time limit continues from the cache when it is retried.
        runtime=lambda wildcards, input: embedding_minutes(
            rows(input.captions), bench.encoders.device(wildcards.encoder)
        ),
    params:
        **stage(
            "naturalbench.embed_captions",
            contents=lambda wildcards: bench.encoders.contents(wildcards.encoder),
            encoder=lambda wildcards: wildcards.encoder,
            library=lambda wildcards: bench.encoders.entries[wildcards.encoder].library,
            name=lambda wildcards: bench.encoders.location(wildcards.encoder),
            pretrained=lambda wildcards: bench.encoders.entries[wildcards.encoder].pretrained,
            language=lambda wildcards: bench.encoders.entries[wildcards.encoder].language,
            device=lambda wildcards: bench.encoders.device(wildcards.encoder),
            batch=lambda wildcards: bench.encoders.entries[wildcards.encoder].batch,
            alpha=settings.corruptions.alpha,
            threads=unrecorded(lambda threads: threads),
        ),
    message:
        "Embedding captioned images by {wildcards.encoder}"
    shell:
        RUN


rule retrieval_pairs:
    """Write the pairs for retrieval and their samples: those of curation that people kept, or those of a file."""
    input:
        **bench.retrieval_inputs(),
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
        **stage(
            "naturalbench.retrieval_pairs",
            contents=lambda wildcards: contents_of(filter(None, [bench.retrieval_file])),
            images=bench.retrieval_images,
        ),
    message:
        "Collecting pairs for retrieval"
    shell:
        RUN


use rule embed_captions as embed_retrieval with:
    input:
        waited_for=lambda wildcards: bench.encoders.files(wildcards.encoder),
        revision_file=bench.encoders.revision_file,
        captions="<results>/retrieval/captions.parquet",
    output:
        "<results>/retrieval/embeddings/{encoder}.parquet",
    log:
        "<logs>/embed_retrieval/{encoder}.log",
    benchmark:
        "<benchmarks>/embed_retrieval/{encoder}.jsonl"
    message:
        "Embedding the pairs for retrieval by {wildcards.encoder}"


rule read_groups:
    """Tell the groups of the pool, and read their tags; groups that are not whole are listed with the reason."""
    input:
        pool="<results>/pool/items.parquet",
        files=[sources.file(id_) for id_ in bench.labels],
        tag_file=bench.tag_file,
    output:
        groups="<results>/pool/groups.parquet",
        tags="<results>/pool/tags.parquet",
        subset=bench.subsets["groups"],
        questions=bench.subsets["questions"],
        report="<results>/pool/groups.report.csv",
    log:
        "<logs>/read_groups.log",
    benchmark:
        "<benchmarks>/read_groups.jsonl"
    conda:
        "../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=lambda wildcards, input: reading_minutes(input),
    params:
        **stage(
            "naturalbench.read_groups",
            contents=[
                *sources.contents(*bench.labels),
                *contents_of(bench.tag_file),
            ],
            labels=bench.labels,
            limit=settings.groups.limit,
        ),
    message:
        "Reading the groups of the pool"
    shell:
        RUN


rule infer_without_images:
    """Predict with one model on each question alone, or with a grey image: the prior of post-hoc debiasing."""
    input:
        **models.inputs(subset=False, images=False),
        subset=bench.subsets["questions"],
    output:
        "<results>/predictions/questions/{model}/{prior}.parquet",
    log:
        "<logs>/infer_without_images/{model}/{prior}.log",
    benchmark:
        "<benchmarks>/infer_without_images/{model}/{prior}.jsonl"
    wildcard_constraints:
        prior="no_image|grey_image",
    conda:
        models.environment
    resources:
        **models.resources(),
    params:
        **stage(
            "naturalbench.infer_without_images",
            code=[models.code()],
            contents=models.contents,
            model=models.asked,
            scoring=models.scoring,
            substitute=lambda wildcards: wildcards.prior,
            label_prompt=models.label_prompt,
            job=models.job("without-images"),
        ),
    message:
        "Evaluating {wildcards.model} on questions without their images ({wildcards.prior})"
    shell:
        RUN


rule score_groups:
    """Read a model's answers and probabilities: which questions, images and groups are right."""
    input:
        pool="<results>/pool/items.parquet",
        groups="<results>/pool/groups.parquet",
        predictions=lambda wildcards: bench.predictions(wildcards.model, images.batches),
        answers=lambda wildcards: bench.answers(wildcards.model, images.batches),
        prior=lambda wildcards: bench.prior(wildcards.model),
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
        **stage(
            "naturalbench.score_groups",
            readings=settings.readings,
            substitute=settings.prior,
            extraction=settings.decoding.extraction,
            labels=settings.prompt.labels,
            corruptions=sorted(settings.corruptions.types),
            severities=settings.corruptions.severities,
        ),
    message:
        "Scoring the groups of {wildcards.model}"
    shell:
        RUN


if blind:

    rule pool_blind_sources:
        """Take at most blind.items of each of the other benchmarks, in the order of a hash of their ids."""
        input:
            sources=collect("<results>/sources/{source}.parquet", source=sorted(blind.labels)),
        output:
            parquet="<results>/pool/blind.parquet",
            report="<results>/pool/blind.report.csv",
        log:
            "<logs>/pool_blind_sources.log",
        benchmark:
            "<benchmarks>/pool_blind_sources.jsonl"
        conda:
            "../envs/core.yaml"
        resources:
            mem_mb=2000,
            runtime=lambda wildcards, input: reading_minutes(input.sources),
        params:
            **stage("pool", per_source=settings.blind.items, task_columns=blind.task_columns),
        message:
            "Pooling the items of other benchmarks"
        shell:
            RUN

    rule infer_blind_sources:
        """Predict with one model on the items of other benchmarks, with their images."""
        input:
            **models.inputs(subset=False, images=False, pool="<results>/pool/blind.parquet"),
        output:
            "<results>/predictions/blind/{model}/clean.parquet",
        log:
            "<logs>/infer_blind_sources/{model}.log",
        benchmark:
            "<benchmarks>/infer_blind_sources/{model}.jsonl"
        conda:
            models.environment
        threads: models.threads
        resources:
            **models.resources(),
        params:
            **stage(
                "infer",
                code=[models.code()],
                contents=models.contents,
                model=models.asked,
                scoring=models.scoring,
                images=images.show(["clean"]),
                job=models.job("blind-sources"),
            ),
        message:
            "Evaluating {wildcards.model} on other benchmarks"
        shell:
            RUN

    rule infer_blind_sources_without_images:
        """Predict with one model on the questions of other benchmarks alone."""
        input:
            **models.inputs(subset=False, images=False, pool="<results>/pool/blind.parquet"),
        output:
            "<results>/predictions/blind/{model}/no_image.parquet",
        log:
            "<logs>/infer_blind_sources_without_images/{model}.log",
        benchmark:
            "<benchmarks>/infer_blind_sources_without_images/{model}.jsonl"
        conda:
            models.environment
        resources:
            **models.resources(),
        params:
            **stage(
                "naturalbench.infer_without_images",
                code=[models.code()],
                contents=models.contents,
                model=models.asked,
                scoring=models.scoring,
                substitute="no_image",
                job=models.job("blind-sources-without-images"),
            ),
        message:
            "Evaluating {wildcards.model} on other benchmarks without their images"
        shell:
            RUN


if curation:

    def reviews_of(review):
        """Return what a job that reads the reviews waits for. Of a file of people, the answers alone count."""
        files = curation.review_files(review)
        return curation.open_forms(review) + (files if curation.simulated else [*map(ancient, files)])

    rule read_captions:
        """Read the data sets of captioned images: one sample for each image, or for each of its captions."""
        input:
            waited_for=list(curation.caption_files.values()),
        output:
            captions=curation.read_captions,
            report="<results>/curate/captions_report.csv",
        log:
            "<logs>/read_captions.log",
        benchmark:
            "<benchmarks>/read_captions.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.read_captions",
                contents=lambda wildcards: contents_of(curation.caption_files.values()),
                datasets=curation.caption_sets,
                which=settings.curate.mine.captions,
            ),
        message:
            "Reading captioned images"
        shell:
            RUN

    if settings.curate.shorten:

        rule shorten_captions:
            """Let a language model shorten captions that are too long for encoders."""
            input:
                captions=curation.read_captions,
                waited_for=curation.shorten_template,
            output:
                shortened="<results>/curate/captions.parquet",
                report="<results>/curate/shortened_report.csv",
            log:
                "<logs>/shorten_captions.log",
            benchmark:
                "<benchmarks>/shorten_captions.jsonl"
            # It needs a network, which nodes of a cluster may lack.
            localrule: True
            conda:
                "../envs/core.yaml"
            params:
                **stage(
                    "naturalbench.shorten_captions",
                    contents=lambda wildcards: contents_of([curation.shorten_template]),
                    below=settings.curate.shorten.below,
                    attempts=settings.curate.shorten.attempts,
                    template=curation.shorten_template,
                    model=settings.curate.writer.model,
                    temperature=settings.curate.writer.temperature,
                    service=unrecorded(curation.service),
                ),
            message:
                "Shortening long captions"
            shell:
                RUN

    rule mine:
        """Find the pairs of samples that all encoders mismatch, among all pairs (eq. 1)."""
        input:
            captions="<results>/curate/captions.parquet",
            embeddings=curation.embeddings,
        output:
            "<results>/curate/mismatches.parquet",
        log:
            "<logs>/mine.log",
        benchmark:
            "<benchmarks>/mine.jsonl"
        conda:
            "../envs/core.yaml"
        resources:
            mem_mb=lambda wildcards, input: 1500 + 4 * megabytes(input),
            # At most 30 s for 31,783 samples (docs/benchmarks.md); for twice as many, four times as long.
            runtime=lambda wildcards, input: minutes(30 * (rows(input.captions) / 31_783) ** 2),
        params:
            **stage(
                "naturalbench.mine",
                keep=settings.curate.mine.keep,
                keep_by=settings.curate.mine.keep_by,
                seed=settings.seed,
            ),
        message:
            "Mining mismatched pairs"
        shell:
            RUN

    rule choose_pairs:
        """Choose pairs of samples among the mismatches, and random pairs beside them."""
        input:
            captions="<results>/curate/captions.parquet",
            mismatches="<results>/curate/mismatches.parquet",
            # Random pairs are no mismatches, of which mining keeps some only.
            embeddings=curation.embeddings if settings.curate.mine.random_pairs else [],
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
            **stage(
                "naturalbench.choose_pairs",
                pairs=settings.curate.mine.pairs,
                random_pairs=settings.curate.mine.random_pairs,
                seed=settings.seed,
            ),
        message:
            "Choosing pairs"
        shell:
            RUN

    if curation.records_replies:

        rule record_demo_writer:
            """Write the replies of the demo's language model to all requests of all rounds."""
            input:
                pairs=curation.used_pairs,
                captions="<results>/curate/captions.parquet",
                waited_for=list(curation.templates.values()),
            output:
                directory(curation.recordings),
            log:
                "<logs>/record_demo_writer.log",
            localrule: True
            conda:
                "../envs/core.yaml"
            params:
                **stage(
                    "naturalbench.record_demo_writer",
                    contents=lambda wildcards: curation.template_contents(),
                    model=settings.curate.writer.model,
                    temperature=settings.curate.writer.temperature,
                    templates=curation.templates,
                    rounds=len(curation.rounds),
                    seed=settings.demo.seed,
                ),
            message:
                "Recording the replies of the demo's language model"
            shell:
                RUN

    rule write_questions:
        """Let a language model write the questions of a round: all, or those that people did not keep."""
        input:
            pairs=curation.used_pairs,
            captions="<results>/curate/captions.parquet",
            kept=lambda wildcards: curation.kept_before(wildcards.round),
            waited_for=[
                *curation.templates.values(),
                *([curation.recordings] if curation.records_replies else []),
            ],
        output:
            "<results>/curate/questions/{round}.parquet",
        log:
            "<logs>/write_questions/{round}.log",
        benchmark:
            "<benchmarks>/write_questions/{round}.jsonl"
        wildcard_constraints:
            round=one_of(curation.rounds),
        # It needs a network, which nodes of a cluster may lack.
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.write_questions",
                contents=lambda wildcards: curation.template_contents(),
                round=lambda wildcards: int(wildcards.round),
                model=settings.curate.writer.model,
                temperature=settings.curate.writer.temperature,
                templates=curation.templates,
                service=unrecorded(curation.service),
            ),
        message:
            "Writing the questions of round {wildcards.round}"
        shell:
            RUN

    rule review_form:
        """Write the form in which one annotator reviews the pairs, or the questions of a round."""
        input:
            pairs=lambda wildcards: curation.pairs_of(wildcards.review),
            captions="<results>/curate/captions.parquet",
            questions=lambda wildcards: curation.questions_of(wildcards.review),
        output:
            html="<results>/curate/review/{review}/{annotator}.html",
            csv="<results>/curate/review/{review}/{annotator}.csv",
        log:
            "<logs>/review_form/{review}/{annotator}.log",
        wildcard_constraints:
            review=one_of(["pairs", *curation.rounds]),
            annotator=one_of(settings.curate.review.annotators),
        # Before the job that stops for missing reviews, which names the form.
        priority: 200
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.review_form",
                contents=contents_of(["benchc/benchmarks/naturalbench/pages/review.html"]),
                round=lambda wildcards: curation.number(wildcards.review),
                rounds=len(curation.rounds),
                annotator=lambda wildcards: wildcards.annotator,
                release=settings.curate.release.name,
                returned_to=lambda wildcards: curation.returned_to(wildcards.review, wildcards.annotator),
            ),
        message:
            "Writing the form of {wildcards.annotator} for the review {wildcards.review}"
        shell:
            RUN

    if curation.simulated:

        rule record_demo_reviews:
            """Write what one of the demo's annotators answers in a review."""
            input:
                pairs=lambda wildcards: curation.pairs_of(wildcards.review),
                captions="<results>/curate/captions.parquet",
                questions=lambda wildcards: curation.questions_of(wildcards.review),
            output:
                curation.returned_to("{review}", "{annotator}"),
            log:
                "<logs>/record_demo_reviews/{review}/{annotator}.log",
            wildcard_constraints:
                review=one_of(["pairs", *curation.rounds]),
                annotator=one_of(settings.curate.review.annotators),
            localrule: True
            conda:
                "../envs/core.yaml"
            params:
                **stage(
                    "naturalbench.record_demo_reviews",
                    round=lambda wildcards: curation.number(wildcards.review),
                    annotator=lambda wildcards: wildcards.annotator,
                    seed=settings.demo.seed,
                ),
            message:
                "Recording the review {wildcards.review} of {wildcards.annotator}"
            shell:
                RUN

    rule keep_pairs:
        """Keep the pairs of which all annotators say that no caption describes both images."""
        input:
            pairs="<results>/curate/pairs.parquet",
            captions="<results>/curate/captions.parquet",
            waited_for=lambda wildcards: reviews_of("pairs"),
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
            **stage(
                "naturalbench.keep_pairs",
                contents=lambda wildcards: curation.review_contents("pairs"),
                annotators=settings.curate.review.annotators,
                reviews=curation.reviews_folder,
                forms=curation.forms,
            ),
        message:
            "Keeping the pairs that people reviewed"
        shell:
            RUN

    rule keep_reviewed:
        """Keep the questions of a round whose expected answers all annotators give."""
        input:
            pairs=curation.used_pairs,
            captions="<results>/curate/captions.parquet",
            questions="<results>/curate/questions/{round}.parquet",
            waited_for=lambda wildcards: reviews_of(wildcards.round),
        output:
            kept="<results>/curate/kept/{round}.parquet",
            reviewed="<results>/curate/reviewed/{round}.parquet",
        log:
            "<logs>/keep_reviewed/{round}.log",
        wildcard_constraints:
            round=one_of(curation.rounds),
        priority: 100
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.keep_reviewed",
                contents=lambda wildcards: curation.review_contents(wildcards.round),
                round=lambda wildcards: int(wildcards.round),
                annotators=settings.curate.review.annotators,
                reviews=curation.reviews_folder,
                forms=curation.forms,
            ),
        message:
            "Keeping the questions of round {wildcards.round} that people reviewed"
        shell:
            RUN

    rule assemble:
        """Assemble the groups whose questions were kept into a release."""
        input:
            pairs=curation.used_pairs,
            captions="<results>/curate/captions.parquet",
            questions=curation.questions,
            kept=curation.kept,
        output:
            "<results>/curate/groups.tsv",
        log:
            "<logs>/assemble.log",
        benchmark:
            "<benchmarks>/assemble.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage("naturalbench.assemble", subsets=curation.subsets),
        message:
            "Assembling the groups"
        shell:
            RUN

    # A rule of its own, so that an edit of what is only recorded reruns no model.
    rule record_release:
        """Record how the release was made."""
        input:
            release="<results>/curate/groups.tsv",
            pairs=curation.used_pairs,
            captions="<results>/curate/captions.parquet",
            questions=curation.questions,
            kept=curation.kept,
            embeddings=curation.embeddings,
            waited_for=[*curation.caption_files.values(), *sum(curation.weights.values(), [])],
        output:
            "<results>/curate/groups.json",
        log:
            "<logs>/record_release.log",
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.record_release",
                contents=lambda wildcards: curation.release_contents(),
                name=settings.curate.release.name,
                date=settings.curate.release.date,
                subsets=curation.subsets,
                caption_files=curation.caption_files,
                weights=curation.weights,
                mining=settings.curate.mine.model_dump(mode="json"),
                seed=settings.seed,
                version=curation.version,
                annotators=settings.curate.review.annotators,
            ),
        message:
            "Recording how the release was made"
        shell:
            RUN


if translation:
    if translation.records_replies:

        rule record_demo_translator:
            """Write the replies of the demo's translator to all requests."""
            input:
                pool="<results>/pool/items.parquet",
                groups="<results>/pool/groups.parquet",
                waited_for=translation.template,
            output:
                directory(translation.recordings),
            log:
                "<logs>/record_demo_translator.log",
            localrule: True
            conda:
                "../envs/core.yaml"
            params:
                **stage(
                    "naturalbench.record_demo_translator",
                    contents=lambda wildcards: contents_of([translation.template]),
                    model=settings.translate.model,
                    temperature=settings.translate.temperature,
                    template=translation.template,
                    attempts=settings.translate.attempts,
                    seed=settings.demo.seed,
                ),
            message:
                "Recording the replies of the demo's translator"
            shell:
                RUN

    rule translate_questions:
        """Let a language model translate the questions of groups in other languages into English."""
        input:
            pool="<results>/pool/items.parquet",
            groups="<results>/pool/groups.parquet",
            waited_for=[
                translation.template,
                *([translation.recordings] if translation.records_replies else []),
            ],
        output:
            questions="<results>/translated/questions.parquet",
            translated_pool="<results>/translated/items.parquet",
            translated="<results>/translated/groups.parquet",
        log:
            "<logs>/translate_questions.log",
        benchmark:
            "<benchmarks>/translate_questions.jsonl"
        # Before models answer, since it stops a run without questions to translate.
        priority: 100
        # It needs a network, which nodes of a cluster may lack.
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.translate_questions",
                contents=lambda wildcards: contents_of([translation.template]),
                model=settings.translate.model,
                temperature=settings.translate.temperature,
                template=translation.template,
                attempts=settings.translate.attempts,
                service=unrecorded(translation.service),
            ),
        message:
            "Translating questions into English"
        shell:
            RUN

    rule infer_translated:
        """Predict with one model on the items of translated groups, on clean images."""
        input:
            **models.inputs(subset=False, images=False, pool="<results>/translated/items.parquet"),
        output:
            "<results>/predictions/translated/{model}/clean.parquet",
        log:
            "<logs>/infer_translated/{model}.log",
        benchmark:
            "<benchmarks>/infer_translated/{model}.jsonl"
        conda:
            models.environment
        threads: models.threads
        resources:
            **models.resources(),
        params:
            **stage(
                "infer",
                code=[models.code()],
                contents=models.contents,
                model=models.asked,
                scoring=models.scoring,
                label_prompt=models.label_prompt,
                images=images.show([CLEAN]),
                job=models.job("translated"),
            ),
        message:
            "Evaluating {wildcards.model} on translated questions"
        shell:
            RUN

    rule answer_translated:
        """Let one model answer the items of translated groups, on clean images."""
        input:
            **models.inputs(subset=False, images=False, pool="<results>/translated/items.parquet"),
        output:
            "<results>/answers/translated/{model}/clean.parquet",
        log:
            "<logs>/answer_translated/{model}.log",
        benchmark:
            "<benchmarks>/answer_translated/{model}.jsonl"
        conda:
            models.environment
        threads: models.threads
        resources:
            **models.resources(answers=True),
        params:
            **stage(
                "answer",
                code=[models.answering_code()],
                contents=models.contents,
                model=models.asked,
                answering=models.answering,
                generation=models.generation,
                label_prompt=models.answer_prompts,
                images=images.show([CLEAN]),
                job=models.job("translated-answers"),
            ),
        message:
            "{wildcards.model} answers translated questions"
        shell:
            RUN

    rule score_translated:
        """Read a model's answers to translated questions, or their probabilities: which groups are right."""
        input:
            pool="<results>/translated/items.parquet",
            groups="<results>/translated/groups.parquet",
            predictions=lambda wildcards: translation.predictions(wildcards.model),
            answers=lambda wildcards: translation.answers(wildcards.model),
        output:
            "<results>/translated/scores/{model}.parquet",
        log:
            "<logs>/score_translated/{model}.log",
        benchmark:
            "<benchmarks>/score_translated/{model}.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage(
                "naturalbench.score_groups",
                readings=[translation.reading],
                extraction=settings.decoding.extraction,
                labels=settings.prompt.labels,
            ),
        message:
            "Scoring the translated groups of {wildcards.model}"
        shell:
            RUN


if bench.fine_tuned:

    fine_tuned = Models(bench.fine_tuned.config, images, bench.subsets)

    rule split_groups:
        """Split the groups into equal halves: one to tune models on, one to test them."""
        input:
            pool="<results>/pool/items.parquet",
            groups="<results>/pool/groups.parquet",
        output:
            output=fine_tuning_workflow.HALVES,
            train=fine_tuning_workflow.TRAIN,
            test=fine_tuning_workflow.TEST,
            questions=fine_tuning_workflow.QUESTIONS,
        log:
            "<logs>/split_groups.log",
        benchmark:
            "<benchmarks>/split_groups.jsonl"
        localrule: True
        conda:
            "../envs/core.yaml"
        params:
            **stage("naturalbench.split_groups", seed=settings.fine_tuning.seed),
        message:
            "Splitting the groups into two halves"
        shell:
            RUN

    rule fine_tune:
        """Tune one model on the first half of the groups, with the images or on the text alone."""
        input:
            **models.inputs(subset=False, images=False),
            subset=fine_tuning_workflow.TRAIN,
        output:
            directory(f"{fine_tuning_workflow.FOLDER}/{{model}}.{{modality}}"),
        log:
            "<logs>/fine_tune/{model}.{modality}.log",
        benchmark:
            "<benchmarks>/fine_tune/{model}.{modality}.jsonl"
        wildcard_constraints:
            model=one_of(settings.fine_tuning.models),
            modality=one_of(settings.fine_tuning.modality),
        conda:
            models.environment
        resources:
            gpu=lambda wildcards: models.entries[wildcards.model].gpus,
            # The images of the half are in memory, encoded.
            mem_mb=lambda wildcards, input: models.entries[wildcards.model].mem_mb + megabytes(input),
            # A job that reaches its time limit continues after its last epoch when it is retried.
            # A step costs about as much as three predictions.
            runtime=models.resources(lambda input: 3 * settings.fine_tuning.epochs * rows(input.subset))[
                "runtime"
            ],
        params:
            **stage(
                "naturalbench.fine_tune",
                code=[models.code()],
                contents=models.contents,
                model=models.asked,
                scoring=models.scoring,
                modality=lambda wildcards: wildcards.modality,
                tuning=settings.fine_tuning.tuning(),
                label_prompt=models.label_prompt,
                alpha=settings.corruptions.alpha,
                job=models.job("fine-tuning"),
            ),
        message:
            "Tuning {wildcards.model} on half of the groups ({wildcards.modality})"
        shell:
            RUN

    rule infer_fine_tuned:
        """Predict with one tuned model on the second half of the groups, on clean images."""
        input:
            waited_for=f"{fine_tuning_workflow.FOLDER}/{{model}}",
            pool="<results>/pool/items.parquet",
            subset=fine_tuning_workflow.TEST,
            corrupted=images.files("groups", [CLEAN]),
        output:
            fine_tuning_workflow.predicted("{model}", "images"),
        log:
            "<logs>/infer_fine_tuned/{model}.log",
        benchmark:
            "<benchmarks>/infer_fine_tuned/{model}.jsonl"
        wildcard_constraints:
            model=one_of(bench.fine_tuned.ids.get("images", [])),
        conda:
            fine_tuned.environment
        threads: fine_tuned.threads
        resources:
            **fine_tuned.resources(),
        params:
            **stage(
                "infer",
                code=[fine_tuned.code()],
                model=fine_tuned.asked,
                scoring=fine_tuned.scoring,
                label_prompt=fine_tuned.label_prompt,
                images=images.show([CLEAN]),
                job=fine_tuned.job("fine-tuned"),
            ),
        message:
            "Evaluating the tuned model {wildcards.model} on the other half of the groups"
        shell:
            RUN

    rule infer_fine_tuned_without_images:
        """Predict with one tuned model on the questions of the second half alone."""
        input:
            waited_for=f"{fine_tuning_workflow.FOLDER}/{{model}}",
            pool="<results>/pool/items.parquet",
            subset=fine_tuning_workflow.QUESTIONS,
        output:
            fine_tuning_workflow.predicted("{model}", "text"),
        log:
            "<logs>/infer_fine_tuned_without_images/{model}.log",
        benchmark:
            "<benchmarks>/infer_fine_tuned_without_images/{model}.jsonl"
        wildcard_constraints:
            model=one_of(bench.fine_tuned.ids.get("text", [])),
        conda:
            fine_tuned.environment
        resources:
            **fine_tuned.resources(),
        params:
            **stage(
                "naturalbench.infer_without_images",
                code=[fine_tuned.code()],
                model=fine_tuned.asked,
                scoring=fine_tuned.scoring,
                substitute="no_image",
                label_prompt=fine_tuned.label_prompt,
                job=fine_tuned.job("fine-tuned"),
            ),
        message:
            "Evaluating the tuned model {wildcards.model} on questions of the other half without their images"
        shell:
            RUN
