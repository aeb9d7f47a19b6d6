"""The figures of a run of R-Bench."""

from collections.abc import Mapping

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS
from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.rendering.declaration import Output, figure
from benchc.workflow.run import Run

POOL = "<results>/pool/items.parquet"
REFERENCES = "<results>/pool/references.parquet"
CHANCE = "<results>/tables/chance.csv"
PAIRS = "<results>/pairs.parquet"
STEPS = ", ".join(f"{short} {step.replace('_', ' ')}" for step, short in STEP_LABELS.items())
GROUPS = ", ".join(f"{label[:2].upper()} {label.lower()}" for label in GROUP_LABELS.values())
STARRED = (
    "A star marks a synthetic stand-in for a dimension that the authors photographed; stand-ins are in no "
    "mean of a step or group."
)

MARKED = "A † marks models that are not above chance (table `chance`)."


def figure_outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of figures."""
    scores = [f"<results>/scores/{id_}.parquet" for id_ in labels]
    bootstrap = settings.tables.bootstrap
    measured = [id_ for id_ in labels if id_ in settings.models]
    pairs = {
        "pairs": PAIRS,
        "pool": POOL,
        "references": REFERENCES,
        "answers": [
            f"<results>/answers/{task}/{id_}/{part}.parquet"
            for id_ in measured
            for task in TASKS
            for part in run.images.batches
        ],
        "judge_scores": [f"<results>/judge_scores/{id_}.parquet" for id_ in labels],
        "scores": scores,
    }
    shown = (
        "one image of the pool under all dimensions"
        if settings.pairs == "generated"
        else "an image of each dimension, the first by a hash,"
    )
    return [
        figure(
            "figure1",
            "Figure 1",
            inputs={"scores": scores, "chance": CHANCE},
            settings={"labels": labels},
            subcategory="Robustness",
            caption=f"""
            **Figure 1**, as the data show it: models from the highest to the lowest (R_a + R_r) / 2, with
            their rank, and 100 times this mean over all items and under each dimension; darker is more
            robust. Dimensions are by step ({STEPS}); their mark is their low-level group. {STARRED} A
            dimension has few items, so that neighbouring values may differ by chance alone (table `effect`
            has intervals). {MARKED}
            """,
        ),
        figure(
            "figure3",
            "Figure 3",
            inputs=pairs,
            settings={"labels": labels},
            subcategory="Examples",
            caption="""
            **Figure 3**: a pair of each task with the replies of the first four models to the reference and
            to the distorted image. ref and dis: the score of either reply against the truth; com: that of the
            second against the first, all in [0, 1]. R_a is dis, R_r is ref times com. Judgements are as the
            judge gave them; ? is one that is not readable, which counts 0. The pair is the first of the
            highest strength by a hash: neither replies nor scores decide it.
            """,
        ),
        figure(
            "figure4a",
            "Figure 4a",
            inputs={"scores": scores, "chance": CHANCE},
            settings={"labels": labels, "draws": bootstrap.draws, "seed": bootstrap.seed},
            subcategory="Robustness",
            caption=f"""
            **Figure 4a**: absolute robustness R_a and relative robustness R_r of each model, means over all
            items in [0, 1], from the highest to the lowest mean of both. Lines are 90 % intervals: the 5th to
            the 95th percentile of {bootstrap.draws} resamples of the items, the replies to the reference and
            the distorted image drawn together. {MARKED}
            """,
        ),
        figure(
            "figure4bc",
            "Figures 4b and 4c",
            inputs={"scores": scores, "chance": CHANCE},
            settings={"labels": labels},
            subcategory="Robustness",
            caption=f"""
            **Figures 4b and 4c**: R_a and R_r by step ({STEPS}), in [0, 1] from the centre. Lines are the
            seven models with the highest (R_a + R_r) / 2, the area is the range of the others. Stand-ins for
            dimensions that the authors photographed are left out, and a step without others is not shown.
            {MARKED}
            """,
        ),
        figure(
            "figure5ad",
            "Figures 5a to 5d",
            inputs={"scores": scores},
            settings={"labels": labels},
            subcategory="Corruptions",
            caption=f"""
            **Figures 5a to 5d**: Spearman's rank correlation, over models, of the mean R_a or R_r of each two
            steps and each two low-level groups ({GROUPS}). 1: both rank the models equally. An empty cell is
            a step or group under which all models have the same mean; those without items are not shown.
            Fewer than four models have no such figure.
            """,
        ),
        figure(
            "figure5ef",
            "Figures 5e and 5f",
            inputs={"scores": scores},
            settings={"labels": labels},
            subcategory="Corruptions",
            caption=f"""
            **Figures 5e and 5f**: the first two principal components of the dimensions, rows of a matrix of
            mean R_a (R_r) whose columns are the models; columns are centred and not scaled. Of each component
            the largest loading is positive, so that dimensions under which models are robust are on the
            right where most loadings are. Marks are low-level groups, numbers those of the dimensions; the
            eight farthest from the centre are named. {STARRED}
            """,
        ),
        figure(
            "figure6",
            "Figure 6",
            inputs={"features": "<results>/image_features.parquet"},
            subcategory="Corruptions",
            caption="""
            **Figure 6**: low-level features of the distorted images (filled) of each step and low-level
            group, and of the reference images of the same items (dashed); marks are their means. Light and
            contrast are the mean and the standard deviation of luma, in [0, 255]; colour is colourfulness
            (Hasler and Suesstrunk, 2003); sharpness is log10 of 1 plus the variance of luma's Laplacian;
            spatial information is the standard deviation of its Sobel gradient. Densities have one scale in a
            panel. Without stand-ins for dimensions that the authors photographed, and without quality by
            Q-Align, which needs its weights.
            """,
        ),
        figure(
            "figure8",
            "Figure 8",
            inputs={"gallery": "<results>/gallery.parquet"},
            subcategory="Examples",
            caption=f"""
            **Figure 8**: {shown} at the highest strength, by step ({STEPS}). {STARRED}
            """,
        ),
    ]
