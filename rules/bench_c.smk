"""Bench-C: the items on which selectors' predictions are inconsistent, and how the targets' predictions degrade on them.

REQUIRED INPUTS:
    <results>/pool/items.parquet
    <results>/predictions/{pool,selected,unselected}/{model}/{batch}.parquet    made by rule infer
    <results>/{corrupted,benchmark}/{corruption}.parquet    for option_order
OUTPUTS:
    <results>/selection/kappa.parquet         how inconsistent the selectors' predictions are on each item
    <results>/selection/embeddings.parquet    each item's image and text
    <results>/selection/selected.parquet      the order of picking, scores, and which items are kept
    <results>/subsets/selected.parquet        the ids of the items that are kept
    <results>/subsets/unselected.parquet      the ids of items outside the benchmark that targets read as well
    <results>/scores/{model}.parquet          entropy, calibration error, RAS, transition and regime of a prediction
    <results>/scores/unselected/{model}.parquet   the same of predictions of unselected items
    <results>/orders/{model}.parquet          predictions of a sample in every other circular order of the options
"""

from functools import partial

# The subsets of items that models are asked about, each a file of ids, or None for the whole pool.
SUBSETS = {
    "pool": None,
    "selected": f"results/{settings.name}/subsets/selected.parquet",
    "unselected": f"results/{settings.name}/subsets/unselected.parquet",
}
# The one whose images are written where the jobs that read the others make theirs themselves.
BENCHMARK = "selected"
# The models that tables and figures name.
MEASURED = settings.targets

ORDERS_CODE = {
    id_: code_of("scripts/bench_c/infer_orders.py", *map(module_file, modules))
    for id_, modules in SCORER_MODULES.items()
}
# As options of embed.
IMAGE_ENCODER = (
    option("--image-encoder", ENCODER_FOLDER)
    if settings.selection.image_encoder.name == "trained"
    else " ".join(
        [
            option("--image-encoder", settings.selection.image_encoder.name),
            option("--pretrained", settings.selection.image_encoder.pretrained),
        ]
    )
)


rule kappa:
    """Measure the inconsistency of the selectors' predictions under corruption (eq. 4 and 5)."""
    input:
        code=code_of("scripts/bench_c/kappa.py"),
        pool="<results>/pool/items.parquet",
        predictions=collect(
            "<results>/predictions/pool/{model}/{batch}.parquet",
            model=settings.selectors,
            batch=BATCHES,
        ),
    output:
        "<results>/selection/kappa.parquet",
    log:
        "<logs>/kappa.log",
    benchmark:
        "<benchmarks>/kappa.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        selectors=settings.selectors,
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
    message:
        "Computing kappa"
    shell:
        "python -m scripts.bench_c.kappa --predictions {input.predictions} --pool {input.pool}"
        " --selectors {params.selectors} --corruptions {params.corruptions}"
        " --severities {params.severities} --output {output} 2>&1 | tee {log}"


rule embed:
    """Embed each item's images (CLIP) and its question and options (SBERT)."""
    input:
        code=code_of("scripts/bench_c/embed.py"),
        encoder=(ENCODER_FILES if settings.selection.image_encoder.name == "trained" else []),
        pool="<results>/pool/items.parquet",
    output:
        "<results>/selection/embeddings.parquet",
    log:
        "<logs>/embed.log",
    benchmark:
        "<benchmarks>/embed.jsonl"
    conda:
        "../envs/encoders.yaml"
    resources:
        mem_mb=lambda wildcards, input, attempt: attempt * max(4000, int(4 * input.size_mb)),
    params:
        image_encoder=IMAGE_ENCODER,
        text_encoder=option("--text-encoder", settings.selection.text_encoder),
        alpha=option("--alpha", settings.corruptions.alpha),
    message:
        "Embedding the pool's images and texts"
    shell:
        "python -m scripts.bench_c.embed --items {input.pool} {params.image_encoder}"
        " {params.text_encoder} {params.alpha} --threads {threads} --output {output} 2>&1 | tee {log}"


rule select:
    """Pick items greedily by kappa and diversity (eq. 3) and keep those that score above the mean."""
    input:
        code=code_of("scripts/bench_c/select.py"),
        kappa="<results>/selection/kappa.parquet",
        embeddings="<results>/selection/embeddings.parquet",
    output:
        table="<results>/selection/selected.parquet",
        subset="<results>/subsets/selected.parquet",
    log:
        "<logs>/select.log",
    benchmark:
        "<benchmarks>/select.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        alpha_kappa=option("--alpha-kappa", settings.selection.alpha_kappa),
        alpha_diversity=option("--alpha-diversity", settings.selection.alpha_diversity),
        score=settings.selection.score,
    message:
        "Selecting the benchmark's items"
    shell:
        "python -m scripts.bench_c.select --kappa {input.kappa} --embeddings {input.embeddings}"
        " {params.alpha_kappa} {params.alpha_diversity}"
        " --score {params.score} --output {output.table} --output-subset {output.subset} 2>&1 | tee {log}"


rule score:
    """Compare every corrupted prediction of a target with its clean read (eq. 6 to 10)."""
    input:
        code=code_of("scripts/bench_c/score.py"),
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["selected"],
        predictions=collect("<results>/predictions/selected/{{model}}/{batch}.parquet", batch=BATCHES),
    output:
        "<results>/scores/{model}.parquet",
    log:
        "<logs>/score/{model}.log",
    benchmark:
        "<benchmarks>/score/{model}.jsonl"
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        corruptions=settings.corruptions.types,
        severities=settings.corruptions.severities,
        allow_missing="--allow-missing" if settings.scores.allow_missing else "",
    message:
        "Scoring {wildcards.model}"
    shell:
        "python -m scripts.bench_c.score --predictions {input.predictions} --pool {input.pool}"
        " --subset {input.subset} --corruptions {params.corruptions}"
        " --severities {params.severities} {params.allow_missing} --output {output} 2>&1 | tee {log}"


rule sample_unselected:
    """Draw items that were not selected, in a hashed order."""
    input:
        code=code_of("scripts/bench_c/sample_unselected.py"),
        selected="<results>/selection/selected.parquet",
    output:
        "<results>/subsets/unselected.parquet",
    log:
        "<logs>/sample_unselected.log",
    localrule: True
    conda:
        "../envs/core.yaml"
    params:
        at_most=option(
            "--count",
            None if settings.diagnostics.random_subset == "all" else settings.diagnostics.random_subset,
        ),
    message:
        "Drawing items that were not selected"
    shell:
        "python -m scripts.bench_c.sample_unselected --selected {input.selected} {params.at_most}"
        " --output {output} 2>&1 | tee {log}"


use rule score as score_unselected with:
    input:
        code=code_of("scripts/bench_c/score.py"),
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["unselected"],
        predictions=collect("<results>/predictions/unselected/{{model}}/{batch}.parquet", batch=BATCHES),
    output:
        "<results>/scores/unselected/{model}.parquet",
    log:
        "<logs>/score/unselected/{model}.log",
    benchmark:
        "<benchmarks>/score/unselected/{model}.jsonl"
    message:
        "Scoring {wildcards.model} on items that were not selected"


rule infer_orders:
    """Ask one target about a sample of the benchmark in every other circular order of the options."""
    input:
        code=lambda wildcards: ORDERS_CODE[wildcards.model],
        model=model_files,
        pool="<results>/pool/items.parquet",
        subset=SUBSETS["selected"],
        corrupted=collect(
            "<results>/{images}/{corruption}.parquet",
            images=images_of("selected"),
            corruption=RECIPES,
        ),
    output:
        "<results>/orders/{model}.parquet",
    log:
        "<logs>/infer_orders/{model}.log",
    benchmark:
        "<benchmarks>/infer_orders/{model}.jsonl"
    conda:
        lambda wildcards: f"../envs/{run.models[wildcards.model].env or 'transformers'}.yaml"
    # As for infer: the threads decide the last bits of a logit.
    threads: 1
    resources:
        gpu=lambda wildcards: run.models[wildcards.model].gpus,
        mem_mb=lambda wildcards, attempt: attempt * run.models[wildcards.model].mem_mb,
        runtime=lambda wildcards: 1440 if run.models[wildcards.model].gpus else 60,
    params:
        model=model_options,
        sample=option("--sample", settings.diagnostics.option_order),
        severity=option("--severity", max(settings.corruptions.severities)),
        cache=f"results/{settings.name}/.cache",
    message:
        "{wildcards.model} answers a sample with the options in other orders"
    shell:
        "python -m scripts.bench_c.infer_orders {params.model} --gpus {resources.gpu} --threads {threads}"
        " --items {input.pool} --subset {input.subset} {params.sample} {params.severity}"
        " --corrupted {input.corrupted} --cache {params.cache}"
        " --shard {wildcards.model}-orders --output {output} 2>&1 | tee {log}"


SELECTED = "<results>/selection/selected.parquet"
POOL = "<results>/pool/items.parquet"
PUBLISHED = "benchc/benchmarks/bench_c/published"
FAMILIES = {name: family_of(name, settings.corruptions.suite) for name in settings.corruptions.types}
TARGETS = {
    "scores": collect("<results>/scores/{model}.parquet", model=settings.targets),
    "models": "<results>/models.json",
}
RESAMPLING = {"draws": settings.tables.bootstrap.draws, "seed": settings.tables.bootstrap.seed}
SELECTOR_PREDICTIONS = collect(
    "<results>/predictions/pool/{model}/{batch}.parquet", model=settings.selectors, batch=BATCHES
)
BENCHMARK_IMAGES = collect(
    "<results>/{images}/{corruption}.parquet",
    images=images_of(BENCHMARK),
    corruption=settings.corruptions.types,
)


predictions_of = partial(collect, "<results>/predictions/selected/{model}/{batch}.parquet", batch=BATCHES)

OUTPUTS = [
    table(
        "table1",
        "Table 1",
        inputs={**TARGETS, "selected": SELECTED},
        forms=["csv", "md", "tex", "published"],
        data=[f"{PUBLISHED}/table1.csv"],
        caption="""
        **Table 1.** The targets on the selected items, clean and corrupted. Acc(o), S(o) and C(o) are accuracy,
        uncertainty (normalised entropy) and calibration error on clean images, as plain means over items. ΔAcc,
        RAS, ΔS and ΔC compare every corrupted prediction with the clean prediction of the same item: means over items
        weighted by their discriminative power κ, then over all corruptions and severities (eq. 11). Arrows
        point to the better side, the numbers in brackets are ranks (1 is best, ties share the lower rank), and
        the best of each column is bold. The csv file holds all digits, and S(o) and C(o) weighted by κ as well:
        the paper does not say which of the two forms it prints. It answers the paper's Table 1.
        """,
    ),
    table(
        "table2",
        "Table 2",
        inputs=TARGETS,
        settings={"centring": settings.tables.table2.centring},
        forms=["csv", "md", "tex", "published"],
        data=[f"{PUBLISHED}/table2.csv"],
        caption="""
        **Table 2.** How far RAS and accuracy answer to one more step of severity. z is an item's shift from one
        severity to the next over the standard deviation of these shifts over items; E[abs z] is averaged over
        items, steps and corruptions. t and p are those of a one-sided t-test, paired over corruptions, of the
        hypothesis that RAS is not more sensitive. Where a metric shifts equally on all items z is undefined,
        and the step is left out and counted. It answers the paper's Table 2 (section 9.2); where the paper
        tests the same models, its values and the differences stand in the Markdown and LaTeX files and in
        table2_published.csv.
        """,
    ),
    table(
        "table3",
        "Table 3",
        inputs=TARGETS,
        forms=["csv", "md", "tex", "published"],
        data=[f"{PUBLISHED}/table3.csv"],
        caption="""
        **Table 3.** Every target and corruption at severity 1 with more items that turned right (WR) than wrong
        (RW). Means over items are plain. The regime follows from the signs of the mean shifts of uncertainty
        and calibration error. It answers the paper's Table 3 (section 9.3); where the paper tests the same
        models, its cases and the differences stand in the Markdown and LaTeX files and in table3_published.csv.
        cells.csv holds means, transitions and regimes of every target, corruption and severity.
        """,
    ),
    table(
        "cells",
        "the cells of Table 3",
        inputs=TARGETS,
        forms=["csv"],
        caption="Every target under every corruption and severity: plain means over items, transitions and regimes.",
    ),
    table(
        "claims",
        "the paper's claims",
        inputs={**TARGETS, "selected": SELECTED, "pool": POOL},
        settings={
            "families": FAMILIES,
            "example_label": run.models[settings.figures.figure4.target].label,
            "example_corruption": settings.figures.figure4.corruption,
            "example_severity": settings.figures.figure4.severity,
        },
        data=[f"{PUBLISHED}/table{number}.csv" for number in (1, 2, 3)],
        caption="""
        **Claims.** What the paper concludes from its results, claim by claim, checked on this run: the
        criterion of the check, the paper's numbers, the numbers here, and whether it holds, does not hold, or
        cannot be told (the models, corruptions or severities that it is about are not in this run). Criteria
        are ours where the paper gives none. Verdicts compare means and say nothing about chance: see the
        intervals for that.
        """,
    ),
    table(
        "intervals",
        "bootstrap intervals",
        inputs={**TARGETS, "selected": SELECTED},
        settings=RESAMPLING,
        caption=f"""
        **Table 1 with its uncertainty** (beyond the paper). 95 % percentile intervals from {RESAMPLING['draws']} resamples
        of the items, drawn together for all targets, so that differences between targets are paired. They are
        conditional on the selected set: another selection, other seeds of the corruptions and other trainings
        would widen them. ΔAcc and RAS are weighted by κ (eq. 11). The csv file holds an interval for every
        aggregate: the columns of Table 1 in both weightings and the ranks, the shifts, destructive and
        corrective RAS per corruption, and the shifts per corruption and severity; where a number or its
        interval is undefined, its last column says why.
        """,
    ),
    table(
        "rank_swaps",
        "rank swaps",
        inputs={**TARGETS, "selected": SELECTED},
        settings={"draws": settings.tables.bootstrap.rank_draws, "seed": settings.tables.bootstrap.seed},
        caption=f"""
        **Does RAS order the targets differently from ΔAcc?** (beyond the paper). The pairs of targets whose
        paired differences in ΔAcc and in RAS (eq. 11) have opposite signs. Both signs must hold: p is twice the
        larger of the two one-sided bootstrap p values, from {settings.tables.bootstrap.rank_draws} resamples of the items, drawn together
        for all targets and conditional on the selected set; Holm's correction is over all pairs. The smallest p
        of B resamples is 2 / (B + 1), so that many pairs need more resamples than intervals do. The csv file
        holds all pairs.
        """,
    ),
    table(
        "task_accuracy",
        "accuracy by task type",
        inputs={**TARGETS, "pool": POOL},
        settings=RESAMPLING,
        caption=f"""
        **Accuracy by task type** (beyond the paper). Clean and corrupted accuracy of every target on the items of
        each task type, plain means over items, corruptions and severities, with 95 % percentile intervals from
        {RESAMPLING["draws"]} resamples of the items, drawn together for all targets and conditional on the
        selected set.
        """,
    ),
    table(
        "selection_stability",
        "the stability of the selection",
        inputs={
            "predictions": SELECTOR_PREDICTIONS,
            "pool": POOL,
            "embeddings": "<results>/selection/embeddings.parquet",
        },
        settings={
            "selectors": settings.selectors,
            "corruptions": settings.corruptions.types,
            "severities": settings.corruptions.severities,
            "alpha_kappa": settings.selection.alpha_kappa,
            "alpha_diversity": settings.selection.alpha_diversity,
            "score": settings.selection.score,
        },
        caption="""
        How much the selected set depends on the choices that the paper makes or leaves open: one selector less,
        fewer severities, other weights in eq. 3, the other reading of the final score. Jaccard compares the
        kept items with those of the run; beside it stands the Jaccard of random sets of the same sizes.
        """,
    ),
    table(
        "discrimination",
        "the selected set beside random subsets",
        inputs={
            **TARGETS,
            "unselected_scores": collect(
                "<results>/scores/unselected/{model}.parquet", model=settings.targets
            ),
            "selected": SELECTED,
        },
        settings=RESAMPLING,
        wanted=settings.diagnostics.random_subset is not None,
        caption=f"""
        **Is the selected set more discriminative than random items?** (beyond the paper). Targets also read
        items that were not selected. The selected set is compared with {RESAMPLING['draws']} random subsets of the pool of
        equal size or, where the targets read only some of the unselected items, random subsets of both, smaller
        so that chance alone seldom puts the selected set beyond 95 % of random ones, by three criteria: the
        spread (standard deviation) of the targets' values; the share of pairs of targets whose paired
        difference exceeds 1.96 standard errors; and Kendall's τ-b between the targets' order on the set and on
        the whole pool. "Below" is the share of random subsets with a lower value, ties half: 0.5 is what chance
        gives, and above 0.975 the set is beyond 95 % of random ones (of a random subset of the selected set
        where only some unselected items were read, which is nearer to 0.5). Where κ weights, "Below" is left
        out: selected items hold most of the weight of random subsets and of the pool, random subsets are
        noisier, and chance does not give 0.5. Spread is in part noise, of which inconsistent items have more.
        Random subsets contain selected items, and all sets are parts of the pool to whose order they are
        compared: the third criterion asks whether the selected set keeps the pool's order, not whether it is
        better; where unselected items were sampled, that order is known from the sample only, of which random
        subsets are mostly made, so that "Below" may fall short of 0.5 without any difference. All is
        conditional on this pool, on these targets and on which unselected items were read; with few targets
        there are few pairs and few orders, and a target that is also a selector has had its say in the
        selection. The csv file also holds ranges, quartiles and the reasons of what is undefined.
        """,
    ),
    table(
        "option_order",
        "other orders of the options",
        inputs={
            "predictions": predictions_of(model=settings.targets),
            "orders": collect("<results>/orders/{model}.parquet", model=settings.targets),
            "models": "<results>/models.json",
            "pool": POOL,
        },
        settings={
            **RESAMPLING,
            "allow_missing": settings.scores.allow_missing,
        },
        wanted=settings.diagnostics.option_order is not None,
        caption=f"""
        **Does entropy show how much an answer hangs on the order of the options?** (beyond the paper). Targets
        were asked again about a sample of the benchmark's items with the options in every other circular order,
        clean and under each corruption at its highest severity; all measures are of the items' own options.
        Entropy (eq. 6) is that of one order. The entropy of the mean distribution over all orders is the mean
        entropy plus the **order part**, a Jensen-Shannon divergence over log K in [0, 1]: the uncertainty that
        no single order shows. *Changed* is the share of the other orders whose prediction differs from the
        given order's, *letter* the share of the other orders that are answered with the given order's letter,
        whatever option stands there. *Circular* accuracy counts a prediction as right if it is right in all orders
        (MMBench's CircularEval). ρ is Spearman's rank correlation, over predictions, of entropy in the given order
        and *changed*: near 0, entropy does not know which predictions hang on the order. Means are plain,
        unweighted by κ; 95 % intervals are percentiles of {RESAMPLING['draws']} resamples of the items, drawn together for
        all targets. Models that are scored by the options' texts do not see the options in their prompt: order
        part, *changed* and *letter* are 0 for them by construction, but for rounding (the given order was read
        together with other severities). The csv file has every corruption, more intervals, and reasons where a
        number is undefined.
        """,
    ),
    figure(
        "figure1a",
        "figure 1a",
        inputs={"selected": SELECTED},
        subcategory="Composition",
        caption="""
        **Why the benchmark selects** (figure 1(a) of Bench-C). Share of items by prediction inconsistency κ
        (eq. 4 and 5), candidate pool beside benchmark; the legend gives both n. The bars on the left count the
        items with κ = 0, on which no selector model changes its answer with the severity of any corruption; the
        other bins are 0.1 wide and hold their upper end. Numbers above the bars are per cent of each set. The
        paper prints no numbers for this panel; it is read here as the dominance of consistent items that
        sections 1 and 4.4 describe.
        """,
    ),
    figure(
        "figure3",
        "figure 3",
        inputs={
            "scores": f"<results>/scores/{settings.figures.figure3.target}.parquet",
            "predictions": predictions_of(model=settings.figures.figure3.target),
            "pool": POOL,
        },
        settings={"label": run.models[settings.figures.figure3.target].label},
        subcategory="Robustness",
        caption=r"""
        **Four ways in which a prediction shifts** (figure 3 of Bench-C). One prediction of each regime by one target:
        the probabilities of the item's options (softmax of their logits), clean in grey, corrupted in colour,
        the right option with a tick; the highest bar is the prediction. Regimes follow the signs of the shift
        in normalised entropy ΔS (eq. 7) and in calibration error ΔC (eq. 9), a change of exactly 0 counted as
        not positive; RAS is eq. 10. Each prediction is the target's most pronounced one of its regime, that with the
        largest smaller one of \|ΔS\| and \|ΔC\| over all items, corruptions and severities: an extreme to show
        what the word means, not a typical prediction. Figure 4 shows how all predictions are spread.
        """,
    ),
    figure(
        "figure4",
        "figure 4",
        inputs={"scores": f"<results>/scores/{settings.figures.figure4.target}.parquet"},
        settings={
            "label": run.models[settings.figures.figure4.target].label,
            "corruption": settings.figures.figure4.corruption,
            "severity": settings.figures.figure4.severity,
        },
        subcategory="Robustness",
        caption="""
        **How one corruption moves predictions** (figure 4 (a-c) of Bench-C). Each point is one item of the
        benchmark as one target reads it, corrupted against clean: shift in normalised entropy ΔS (eq. 7)
        across, shift in calibration error ΔC (eq. 9) up, both in [-1, 1]; the axes end where they hold all
        points. Quadrants and colours are the four regimes, with changes of exactly 0 counted as not positive;
        markers are the transitions of the answer. (a) all samples, (b) those whose predicted option stays the
        same, (c) those whose predicted option changes, be it from wrong to wrong. Each quadrant shows its n,
        its share of the panel, and plain, unweighted means of RAS (eq. 10) and of ΔAcc.
        """,
    ),
    figure(
        "figure5",
        "figure 5",
        inputs={
            "scores": f"<results>/scores/{settings.figures.figure5.target}.parquet",
            "predictions": predictions_of(model=settings.figures.figure5.target),
            "pool": POOL,
            "images": BENCHMARK_IMAGES,
        },
        settings={
            "label": run.models[settings.figures.figure5.target].label,
            "item": settings.figures.figure5.item,
            "corruptions": settings.figures.figure5.corruptions,
        },
        subcategory="Robustness",
        caption=r"""
        **One item across corruptions** (figure 5 of Bench-C). The same question to one target with the clean
        picture (a) and with corrupted ones, which are named with their severity. Bars are the probabilities of
        the options, grey for the clean prediction, coloured by regime for the corrupted one; the right option has a
        tick, and the highest bar is the prediction. Below: normalised entropy S (eq. 6) and calibration error C
        (eq. 8) of the clean prediction, the shifts of both (eq. 7, 9) and RAS (eq. 10) of the others, and the
        transition of the answer. Unless the configuration names them, the item is the one whose predictions fall into
        the most regimes, most pronouncedly in the least pronounced of these, and its predictions are the most
        pronounced of each regime, by the smaller one of \|ΔS\| and \|ΔC\|: an example that was looked for, not
        a typical item. A hint of the item, where it has one, is part of the prompt but not shown.
        """,
    ),
    figure(
        "figure6",
        "figure 6",
        inputs=TARGETS,
        settings={"families": FAMILIES},
        subcategory="Robustness",
        caption="""
        **Destructive and corrective robustness** (figure 6 (a, b) of Bench-C). Mean RAS (eq. 10, in [-2, 1],
        higher is more robust) of each model under each corruption, corruptions grouped by family. (a) over
        items that the model answers rightly when clean (RR and RW), (b) over those it answers wrongly (WW and
        WR). Means are plain, unweighted by κ, over items and all severities; the column on the right counts
        each model's items. Both panels share one colour scale, centred at 0: blue is a loss, red a gain.
        Hatched cells have no samples.
        """,
    ),
    figure(
        "figure7",
        "figure 7",
        inputs={
            "sources": collect("<results>/sources/{source}.parquet", source=run.sources),
            "pool": POOL,
            "selected": SELECTED,
        },
        settings={"labels": {id_: source.label for id_, source in run.sources.items()}},
        subcategory="Composition",
        caption="""
        **What the benchmark is made of** (figure 7 (a, b) of Bench-C). (a) Items of each source as read from
        its data set, in the candidate pool, and in the benchmark; the blue label is the source's share of the
        benchmark, by which sources are sorted. Rows of a data set that cannot be read as items are not counted
        here; the source reports list them. (b) Distribution of prediction inconsistency κ (eq. 5) over pool and
        benchmark in 20 equal bins, each in per cent of its own set, dashed lines at the plain means. The legend
        gives every n.
        """,
    ),
    figure(
        "figure8",
        "figure 8",
        inputs={"pool": POOL, "selected": SELECTED},
        subcategory="Composition",
        caption="""
        **Tasks** (figure 8 of Bench-C). For each task type, the items in the candidate pool (light grey) and,
        in front of them, those that the benchmark keeps (hatched), sorted by the latter; each row ends in "kept
        / candidates", and the legend gives both n. All figures are counts, nothing is averaged.
        """,
    ),
    figure(
        "figure9",
        "figure 9",
        inputs={"pool": POOL, "selected": SELECTED},
        subcategory="Composition",
        caption="""
        **What prediction inconsistency looks like** (figure 9 of Bench-C). Items of the candidate pool with
        low, medium and high κ (eq. 5): the thirds of the range from 0 to the pool's largest κ, whose ends stand
        on the left. Each item shows its pictures, its task type, its question and its options, the right one
        with a tick; an ellipsis ends a text that was cut. Of each band as many sources and then task types as
        there are take part, each with the items nearest to 0, to the middle of the range, and to the largest κ;
        of equal items the first by id. κ comes from the selector models alone.
        """,
    ),
    figure(
        "figure10",
        "figure 10",
        inputs=TARGETS,
        settings={"families": FAMILIES},
        subcategory="Robustness",
        caption="""
        **Severity and RAS** (figure 10 of Bench-C). A box stands for one corruption at one severity, dark for
        severe; its values are the models' mean RAS (eq. 10, in [-2, 1], higher is more robust), plain means
        over the benchmark's items, unweighted by κ. One panel a family, one scale for all. Boxes span the
        quartiles over models, orange lines are medians, whiskers reach the farthest value within 1.5 of the
        box's height, circles lie beyond. With fewer than five models each one's value is a point, and the box
        is only their frame. Boxes show how models differ, not how sure a mean is.
        """,
    ),
    figure(
        "figure_discrimination",
        "the figure of discrimination",
        inputs={"discrimination": "<results>/tables/discrimination.csv"},
        subcategory="Composition",
        wanted=settings.diagnostics.random_subset is not None,
        caption="""
        **The selected set beside random items** (beyond the paper). Boxes span the quartiles of random subsets
        of the pool; lines are their medians, whiskers hold 95 % of them. The diamond is the selected set, of
        equal size; where not all unselected items were read, it is the median of random subsets of the selected
        set, of equal size, and its line holds 95 % of these. (a) Standard deviation over targets, divided by
        the median of random subsets, so that metrics share an axis: to the right, targets differ more. (b)
        Share of pairs of targets whose paired difference exceeds 1.96 standard errors. (c) Kendall's τ-b
        between the targets' order on the set and on the whole pool; where unselected items were sampled, that
        order is known from the sample only, which may favour random subsets. At the right of plain rows: share
        of random subsets with a lower value, ties half; where κ weights, chance does not give 0.5, and it is
        left out. Conditional on this pool, on these targets and on which unselected items were read.
        """,
    ),
    figure(
        "figure_option_order",
        "the figure of option orders",
        inputs={"option_order": "<results>/tables/option_order.csv"},
        subcategory="Robustness",
        wanted=settings.diagnostics.option_order is not None,
        caption="""
        **What another order of the options changes** (beyond the paper). Each target above on clean images,
        below under all corruptions at the highest severity; a sample of the benchmark's items, asked in every
        circular order of the options. (a) Share of the other orders whose prediction differs from the given
        order's, in [0, 1]; lines are 95 % bootstrap intervals over items. (b) The entropy of the mean
        distribution over all orders, in [0, 1], is the mean entropy (eq. 6) plus the order part (hatched),
        which no single order shows. ρ: Spearman's rank correlation, over corrupted predictions, of entropy in the
        given order and the share changed; a dash where one of them is the same in all predictions. Models that are
        scored by the options' texts do not see the options in their prompt: both are 0 for them by
        construction, but for rounding. Plain means, unweighted by κ.
        """,
    ),
]
