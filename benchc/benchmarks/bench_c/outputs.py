"""The tables and figures of a Bench-C run: what each is made of, and the caption that the report shows."""

from collections.abc import Sequence

from benchc.benchmarks.bench_c.settings import Settings
from benchc.corruptions.recipe import CLEAN
from benchc.rendering.declaration import Output, figure, in_order_of, table
from benchc.workflow.judges import judged
from benchc.workflow.run import Run

SELECTED = "<results>/selection/selected.parquet"
POOL = "<results>/pool/items.parquet"
MODELS = "<results>/models.json"
CHANCE = "<results>/tables/chance.csv"
# Tables and figures that have all targets.
WITH_TARGETS = (
    "chance",
    "table1",
    "table2",
    "table3",
    "cells",
    "intervals",
    "task_accuracy",
    "option_order",
    "figure6",
    "figure_option_order",
)
PUBLISHED = "benchc/benchmarks/bench_c/published"


def outputs(run: Run, settings: Settings) -> list[Output]:
    """Return the declarations of the run's tables and figures."""
    return in_order_of("targets", _every(run, settings), WITH_TARGETS)


def _every(run: Run, settings: Settings) -> list[Output]:
    return [
        *_paper_tables(run, settings),
        *_more_tables(run, settings),
        *_paper_figures(run, settings),
        *_more_figures(settings),
    ]


def _paper_tables(run: Run, settings: Settings) -> list[Output]:
    return [
        table(
            "table1",
            "Table 1",
            inputs={**_targets(settings), "selected": SELECTED, "chance": CHANCE},
            formats=["csv", "md", "tex", "published"],
            data=[f"{PUBLISHED}/table1.csv"],
            caption="""
            **Table 1.** The targets on the selected items. Acc(o), S(o) and C(o): accuracy, uncertainty
            (normalised entropy) and calibration error on clean images, unweighted means over items. ΔAcc,
            RAS, ΔS and ΔC: corrupted compared with clean predictions, means over items weighted by their
            discriminative power κ, then over all corruptions and severities (eq. 11). Arrows point in the
            better direction; ranks are in brackets (1 is best, ties share the smaller rank), the best values
            in bold. The first rows are chance; targets that are not above it are marked and not ranked (table
            `chance`). The csv file has all digits, and S(o) and C(o) also weighted by κ, since the paper does
            not specify the weighting. Reproduces the paper's Table 1.
            """,
        ),
        table(
            "table2",
            "Table 2",
            inputs={**_targets(settings), "chance": CHANCE},
            settings={"centring": settings.tables.table2.centring},
            formats=["csv", "md", "tex", "published"],
            data=[f"{PUBLISHED}/table2.csv"],
            caption="""
            **Table 2.** Sensitivity of RAS and accuracy to severity. z is an item's shift from one severity
            to the next, divided by the standard deviation of these shifts over items; E[abs z] is averaged
            over items, steps and corruptions. t and p: one-sided t-test, paired over corruptions, of the
            hypothesis that RAS is not more sensitive. Steps at which a metric shifts equally on all items
            have no z; they are excluded and counted. Reproduces the paper's Table 2 (section 9.2). For the
            paper's models, the Markdown and LaTeX files and table2_published.csv contain its values and the
            differences.
            """,
        ),
        table(
            "table3",
            "Table 3",
            inputs={**_targets(settings), "chance": CHANCE},
            formats=["csv", "md", "tex", "published"],
            data=[f"{PUBLISHED}/table3.csv"],
            caption="""
            **Table 3.** Every target and corruption with more items corrected (WR) than broken (RW) at
            severity 1. Unweighted means over items; the regime is given by the signs of the mean shifts of
            uncertainty and calibration error. Reproduces the paper's Table 3 (section 9.3). For the paper's
            models, the Markdown and LaTeX files and table3_published.csv contain its cases and the
            differences. cells.csv has every target, corruption and severity.
            """,
        ),
        table(
            "cells",
            "means by target, corruption and severity",
            inputs=_targets(settings),
            formats=["csv"],
            caption="""
            Every target, corruption and severity: unweighted means over items, transitions and regimes.
            """,
        ),
        table(
            "claims",
            "the paper's claims",
            inputs={**_targets(settings), "selected": SELECTED, "pool": POOL, "chance": CHANCE},
            settings={
                "groups": run.images.groups,
                "example_label": _label(run, settings.figures.figure4.target),
                "example_corruption": settings.figures.figure4.corruption,
                "example_severity": settings.figures.figure4.severity,
            },
            data=[f"{PUBLISHED}/table{number}.csv" for number in (1, 2, 3)],
            caption="""
            **Claims.** The paper's conclusions, checked on this run: the criterion, the paper's numbers, the
            numbers of this run, and whether the claim holds, does not hold, or is not applicable (its models,
            corruptions or severities are not in this run). Where the paper gives no criterion, it is our own.
            Verdicts compare means without a significance test; see the intervals.
            """,
        ),
    ]


def _more_tables(run: Run, settings: Settings) -> list[Output]:
    answering = settings.diagnostics.generated_answers
    clean = [part for part, names in run.images.batches.items() if CLEAN in names]
    ranking = settings.tables.ranking
    return [
        table(
            "chance",
            "the targets and chance",
            inputs={
                **_targets(settings),
                "predictions": [
                    f"<results>/predictions/selected/{id_}/{part}.parquet"
                    for id_ in settings.targets
                    for part in clean
                ],
                "pool": POOL,
            },
            settings={
                **_resampling(settings),
                "rank_below_chance": ranking.below_chance,
                "least_label_mass": ranking.least_label_mass,
            },
            caption=f"""
            **Which targets are above chance** (not in the paper): whether the 95 % interval of their accuracy
            on clean images, from {settings.tables.bootstrap.draws} resamples of the items, lies above the
            expected accuracy of random answers and above that of the best letter that is always the same.
            ΔAcc and RAS of a model that does not look at the images measure nothing: an answer that never
            changes has ΔAcc = RAS = 0, more than nearly all models. Unless `tables.ranking.below_chance` is
            set, targets that are not above chance, or whose mean label mass (the probability of the options'
            letters) is below {ranking.least_label_mass:g}, have no rank, are not in bold and are left out of
            rank swaps and claims. They are marked † and ‡ in tables.
            """,
        ),
        table(
            "intervals",
            "bootstrap intervals",
            inputs={**_targets(settings), "selected": SELECTED, "chance": CHANCE},
            settings=_resampling(settings),
            caption=f"""
            **Table 1 with bootstrap intervals** (not in the paper). 95 % percentile intervals from
            {settings.tables.bootstrap.draws} resamples of the items, the same for all targets, so that
            differences between targets are paired. They are conditional on the selected set: another
            selection, other corruption seeds or other training runs would widen them. ΔAcc and RAS are
            weighted by κ (eq. 11). The csv file has an interval for every aggregate: the columns of Table 1
            in both weightings, the ranks, the shifts, destructive and corrective RAS by corruption, and the
            shifts by corruption and severity; its last column states why a value or an interval is undefined.
            """,
        ),
        table(
            "rank_swaps",
            "rank swaps",
            inputs={**_targets(settings), "selected": SELECTED, "chance": CHANCE},
            settings={"draws": settings.tables.bootstrap.rank_draws, "seed": settings.tables.bootstrap.seed},
            caption=f"""
            **Does RAS rank the targets differently from ΔAcc?** (not in the paper). Pairs of targets whose
            paired differences in ΔAcc and in RAS (eq. 11) have opposite signs. p is twice the larger of the
            two one-sided bootstrap p-values, since both signs must be established, with Holm's correction
            over all pairs; from {settings.tables.bootstrap.rank_draws} resamples of the items, the same for
            all targets and conditional on the selected set. (The smallest p of B resamples is 2 / (B + 1), so
            many pairs need many resamples.) The csv file has all pairs.
            """,
        ),
        table(
            "task_accuracy",
            "accuracy by task type",
            inputs={**_targets(settings), "pool": POOL, "chance": CHANCE},
            settings=_resampling(settings),
            caption=f"""
            **Accuracy by task type** (not in the paper). Clean and corrupted accuracy of every target,
            unweighted means over items, corruptions and severities, with 95 % percentile intervals from
            {settings.tables.bootstrap.draws} resamples of the items, the same for all targets and conditional
            on the selected set; one item has no interval.
            """,
        ),
        table(
            "selection_stability",
            "the stability of the selection",
            inputs={
                "predictions": [
                    f"<results>/predictions/pool/{id_}/{part}.parquet"
                    for id_ in settings.selectors
                    for part in run.images.batches
                ],
                "pool": POOL,
                "embeddings": "<results>/selection/embeddings.parquet",
            },
            settings={
                "selectors": settings.selectors,
                "labels": _labels(run, settings.selectors),
                "corruptions": sorted(settings.corruptions.types),
                "severities": settings.corruptions.severities,
                "alpha_kappa": settings.selection.alpha_kappa,
                "alpha_diversity": settings.selection.alpha_diversity,
                "score": settings.selection.score,
            },
            caption="""
            How much the selected set depends on choices that the paper makes or leaves open: one selector
            fewer, fewer severities, other weights in eq. 3, the other interpretation of the final score.
            Jaccard index with the items selected in this run, and that of random sets of the same sizes.
            """,
        ),
        table(
            "discrimination",
            "the selected set compared with random subsets",
            inputs={
                **_targets(settings),
                "unselected_scores": [
                    f"<results>/scores/unselected/{id_}.parquet" for id_ in settings.targets
                ],
                "selected": SELECTED,
            },
            settings=_resampling(settings),
            wanted=settings.diagnostics.random_subset is not None,
            caption=f"""
            **Is the selected set more discriminative than random items?** (not in the paper). The selected
            set is compared with {settings.tables.bootstrap.draws} random subsets of the pool of equal size.
            If unselected items were sampled, random subsets of both are compared, small enough that chance
            alone seldom places the selected set outside the central 95 % of random ones. Criteria: the spread
            (standard deviation) of the targets' values; the share of pairs of targets whose paired difference
            exceeds 1.96 standard errors; and Kendall's τ-b between the targets' order on the set and on the
            whole pool. "Below" is the share of random subsets with a lower value, ties half: 0.5 is expected
            by chance, and above 0.975 the set is outside the central 95 % of random ones. (With sampled items
            it is the probability that a random subset of the pool has a lower value than a random subset of
            the selected set, and nearer to 0.5.) It is omitted for rows weighted by κ, where chance does not
            give 0.5: selected items have most of the weight, and random subsets are noisier. Spread is partly
            noise, which is larger on inconsistent items. Random subsets contain selected items, and all sets
            are parts of the pool, so the third criterion shows whether the selected set preserves the pool's
            order, not whether its order is better; with sampled items, the pool's order is estimated from the
            sample, of which random subsets mostly consist, so "Below" may be less than 0.5 without any
            difference. Results are conditional on this pool, these targets and the unselected items that were
            evaluated; a target that is also a selector has influenced the selection. The csv file also has
            ranges, quartiles and the reasons for undefined values.
            """,
        ),
        table(
            "option_order",
            "circular orders of the options",
            inputs={
                "predictions": _predictions(run, settings.targets),
                "orders": [f"<results>/orders/{id_}.parquet" for id_ in settings.targets],
                "models": MODELS,
                "pool": POOL,
                "chance": CHANCE,
            },
            settings={
                **_resampling(settings),
                "allow_missing": settings.scores.allow_missing,
            },
            wanted=settings.diagnostics.option_order is not None,
            caption=f"""
            **Does entropy show how much an answer depends on the order of the options?** (not in the paper).
            Targets were evaluated on a sample of the benchmark's items with the options in every other
            circular order, clean and under each corruption at its highest severity. The entropy of the mean
            distribution over all circular orders is the mean entropy (eq. 6) plus the **order part**, a
            Jensen-Shannon divergence over log K in [0, 1]: the uncertainty that no single order shows.
            *Changed* is the share of the other circular orders in which the predicted option differs from
            that in the original order, *letter* the share in which the predicted letter is the same.
            *Circular* accuracy counts a prediction as correct if it is correct in all circular orders
            (MMBench's CircularEval). ρ is Spearman's rank correlation, over predictions, between entropy in
            the original order and *changed*: near 0, entropy does not indicate which predictions depend on
            the order. Means are unweighted; 95 % intervals are percentiles of
            {settings.tables.bootstrap.draws} resamples of the items, the same for all targets. For models
            scored by the options' texts, whose prompt does not list the options, order part, *changed* and
            *letter* are 0 by construction, up to rounding. The csv file has every corruption, more intervals,
            and the reasons for undefined values.
            """,
        ),
        table(
            "generated_answers",
            "answers in the models' own words",
            inputs={
                "judgements": judged("judge_options", "selected", answering),
                "scores": [f"<results>/scores/{id_}.parquet" for id_ in answering if id_ in settings.targets],
                "pool": POOL,
                "chance": CHANCE,
            },
            settings={**_resampling(settings), "labels": _labels(run, answering)},
            wanted=bool(answering),
            caption=f"""
            **What models say when they answer in their own words** (not in the paper). Each model generated
            an answer to the prompt by which it is scored, greedily, and rules extracted the option that it
            chooses, without a random one as the last resort. *Agreement* is the share of a target's answers
            whose option is the one with the largest logit, which tables and figures use: where it is low,
            look at *no option* first, then at the model's prompt. An answer without an option counts as wrong
            and as no agreement; *cut off* is the share of answers that have the most tokens allowed
            (`max_new_tokens` in the model catalogue). Unweighted means over items, and over all corruptions
            and severities, with 95 % intervals from {settings.tables.bootstrap.draws} resamples of the items.
            The csv file also counts the answers by how their option was found, or why there is none.
            """,
        ),
    ]


def _paper_figures(run: Run, settings: Settings) -> list[Output]:
    return [
        figure(
            "figure1a",
            "figure 1a",
            inputs={"selected": SELECTED},
            subcategory="Composition",
            caption="""
            **Why the benchmark selects** (figure 1(a) of Bench-C). Share of items by prediction inconsistency
            κ (eq. 4 and 5) in the candidate pool and in the benchmark, in per cent of each. The bars on the
            left are the items with κ = 0, on which no selector changes its answer with the severity of any
            corruption; the other bins are 0.1 wide and include their upper end. The paper gives no numbers
            for this panel; we interpret it as the dominance of consistent items that sections 1 and 4.4
            describe.
            """,
        ),
        figure(
            "figure3",
            "figure 3",
            inputs={
                "scores": f"<results>/scores/{settings.figures.figure3.target}.parquet",
                "predictions": _predictions(run, [settings.figures.figure3.target]),
                "pool": POOL,
            },
            settings={"label": _label(run, settings.figures.figure3.target)},
            subcategory="Robustness",
            caption=r"""
            **Four ways in which a prediction shifts** (figure 3 of Bench-C). One target's predictions, one
            per regime: the probabilities of the options (softmax of their logits), clean in grey, corrupted
            in colour; a tick marks the correct option, the highest bar is the prediction. Regimes are given
            by the signs of the shifts in normalised entropy ΔS (eq. 7) and in calibration error ΔC (eq. 9); 0
            counts as not positive. RAS is eq. 10. Each is the most pronounced prediction of its regime, with
            the largest min(\|ΔS\|, \|ΔC\|) over all items, corruptions and severities: an extreme, not a
            typical prediction. Figure 4 shows the distribution.
            """,
        ),
        figure(
            "figure4",
            "figure 4",
            inputs={"scores": f"<results>/scores/{settings.figures.figure4.target}.parquet"},
            settings={
                "label": _label(run, settings.figures.figure4.target),
                "corruption": settings.figures.figure4.corruption,
                "severity": settings.figures.figure4.severity,
            },
            subcategory="Robustness",
            caption="""
            **How one corruption moves predictions** (figure 4 (a-c) of Bench-C). Each point is one target's
            prediction on one item of the benchmark, corrupted compared with clean: shift in normalised
            entropy ΔS (eq. 7, horizontal) and in calibration error ΔC (eq. 9, vertical), both in [-1, 1].
            Quadrants and colours are the four regimes, in which 0 counts as not positive; markers are the
            transitions of the answer. (a) all items, (b) those whose predicted option stays the same, (c)
            those whose predicted option changes, including from wrong to wrong. Each quadrant shows its n,
            its share of the panel, and unweighted means of RAS (eq. 10) and ΔAcc.
            """,
        ),
        figure(
            "figure5",
            "figure 5",
            inputs={
                "scores": f"<results>/scores/{settings.figures.figure5.target}.parquet",
                "predictions": _predictions(run, [settings.figures.figure5.target]),
                "pool": POOL,
                "images": run.images.files("selected", sorted(settings.corruptions.types)),
            },
            settings={
                "label": _label(run, settings.figures.figure5.target),
                "item": settings.figures.figure5.item,
                "corruptions": settings.figures.figure5.corruptions,
            },
            subcategory="Robustness",
            caption=r"""
            **One item across corruptions** (figure 5 of Bench-C). One target's predictions for one question,
            with the clean image (a) and with corrupted ones, labelled with their severity. Bars are the
            probabilities of the options, grey for the clean prediction, coloured by regime for the corrupted
            one; a tick marks the correct option, the highest bar is the prediction. Below: normalised entropy
            S (eq. 6) and calibration error C (eq. 8) of the clean prediction; for the others their shifts
            (eq. 7, 9), RAS (eq. 10) and the transition of the answer. Unless configured, the item is the one
            whose predictions fall into the most regimes, and the figure shows the most pronounced prediction
            of each, under different corruptions if possible, by min(\|ΔS\|, \|ΔC\|): chosen for contrast, not
            typical. The item's hint, if any, is part of the prompt but not shown.
            """,
        ),
        figure(
            "figure6",
            "figure 6",
            inputs=_targets(settings),
            settings={"groups": run.images.groups},
            subcategory="Robustness",
            caption="""
            **Destructive and corrective robustness** (figure 6 (a, b) of Bench-C). Mean RAS (eq. 10, in [-2,
            1], higher is more robust) of each model under each corruption, grouped by type of corruption: (a)
            over items that the model answers correctly when clean (RR and RW), (b) over those it answers
            incorrectly (WW and WR). Unweighted means over items and severities; the column on the right gives
            each model's number of items. Both panels share one colour scale, centred at 0: blue is a loss,
            red a gain. Hatched cells have no samples.
            """,
        ),
        figure(
            "figure7",
            "figure 7",
            inputs={
                "sources": [f"<results>/sources/{id_}.parquet" for id_ in run.sources.entries],
                "pool": POOL,
                "selected": SELECTED,
            },
            settings={"labels": {id_: source.label for id_, source in run.sources.entries.items()}},
            subcategory="Composition",
            caption="""
            **Composition of the benchmark** (figure 7 (a, b) of Bench-C). (a) Items of each source in its
            data set, in the candidate pool and in the benchmark; blue: the source's share of the benchmark,
            by which sources are sorted. Rows of a data set that could not be converted to items are not
            counted; the source reports list them. (b) Distribution of prediction inconsistency κ (eq. 5) in
            pool and benchmark in 20 equal bins, in per cent of each, with dashed lines at the means.
            """,
        ),
        figure(
            "figure8",
            "figure 8",
            inputs={"pool": POOL, "selected": SELECTED},
            subcategory="Composition",
            caption="""
            **Tasks** (figure 8 of Bench-C). Items of each task type in the candidate pool (light grey) and in
            the benchmark (hatched), by which task types are sorted. Each row ends in "selected / candidates".
            """,
        ),
        figure(
            "figure9",
            "figure 9",
            inputs={"pool": POOL, "selected": SELECTED},
            subcategory="Composition",
            caption="""
            **What prediction inconsistency looks like** (figure 9 of Bench-C). Items of the candidate pool
            with low, medium and high κ (eq. 5): the thirds of the range from 0 to the pool's largest κ. Each
            item is shown with its images, task type, question and options; a tick marks the correct option,
            an ellipsis a truncated text. Each band repeats as few questions and images as possible, then
            covers as many sources, then task types, as possible, with the items closest to 0, to the middle
            of the range and to the largest κ, ties by id. κ depends on the selectors only.
            """,
        ),
        figure(
            "figure10",
            "figure 10",
            inputs=_targets(settings),
            settings={"groups": run.images.groups},
            subcategory="Robustness",
            caption="""
            **Severity and RAS** (figure 10 of Bench-C). Each box is one corruption at one severity, darker
            for more severe, over the models' mean RAS (eq. 10, in [-2, 1], higher is more robust), unweighted
            over the benchmark's items. One panel per group, on one scale. Boxes span the quartiles, orange
            lines are medians, whiskers extend to the farthest value within 1.5 times the box height, circles
            are outliers. With fewer than eight models, points show the single values. Boxes show the
            variation between models, not the uncertainty of a mean.
            """,
        ),
    ]


def _more_figures(settings: Settings) -> list[Output]:
    return [
        figure(
            "figure_discrimination",
            "the figure of discrimination",
            inputs={"discrimination": "<results>/tables/discrimination.csv"},
            subcategory="Composition",
            wanted=settings.diagnostics.random_subset is not None,
            caption="""
            **The selected set compared with random items** (not in the paper). Boxes span the quartiles of
            random subsets of the pool, lines are their medians, whiskers contain 95 % of them. The diamond is
            the selected set, of equal size; if unselected items were sampled, it is the median of random
            subsets of the selected set, of equal size, and its line contains 95 % of these. (a) Standard
            deviation over targets, divided by the median of random subsets, so that metrics share an axis:
            further right, targets differ more. (b) Share of pairs of targets whose paired difference exceeds
            1.96 standard errors. (c) Kendall's τ-b between the targets' order on the set and on the whole
            pool; if unselected items were sampled, that order is estimated from the sample, which may favour
            random subsets. To the right of unweighted rows: share of random subsets with a lower value, ties
            half; it is omitted for rows weighted by κ, where chance does not give 0.5. Conditional on this
            pool, these targets and the unselected items that were evaluated.
            """,
        ),
        figure(
            "figure_option_order",
            "the figure of option orders",
            inputs={"option_order": "<results>/tables/option_order.csv"},
            subcategory="Robustness",
            wanted=settings.diagnostics.option_order is not None,
            caption="""
            **Effect of the order of the options** (not in the paper). Each target on clean images (above) and
            under all corruptions at the highest severity (below), on a sample of the benchmark's items, with
            the options in every circular order. (a) Share of the other orders in which the predicted option
            differs from that in the original order, in [0, 1]; lines are 95 % bootstrap intervals over items.
            (b) The entropy of the mean distribution over all circular orders, in [0, 1], is the mean entropy
            (eq. 6) plus the order part (hatched), which no single order shows. ρ: Spearman's rank
            correlation, over corrupted predictions, between entropy in the original order and the share
            changed; a dash if one of them is constant. For models scored by the options' texts, whose prompt
            does not list the options, the share changed and the order part are 0 by construction, up to
            rounding. Unweighted means.
            """,
        ),
    ]


def _targets(settings: Settings) -> dict[str, str | list[str]]:
    return {"scores": [f"<results>/scores/{id_}.parquet" for id_ in settings.targets], "models": MODELS}


def _resampling(settings: Settings) -> dict[str, int]:
    return {"draws": settings.tables.bootstrap.draws, "seed": settings.tables.bootstrap.seed}


def _predictions(run: Run, models: Sequence[str | None]) -> list[str]:
    return [
        f"<results>/predictions/selected/{id_}/{part}.parquet"
        for part in run.images.batches
        for id_ in models
    ]


def _labels(run: Run, models: Sequence[str]) -> dict[str, str]:
    return {id_: run.models.entries[id_].label for id_ in models}


def _label(run: Run, model: str | None) -> str:
    # The settings have given each figure a model.
    assert model is not None
    return run.models.entries[model].label
