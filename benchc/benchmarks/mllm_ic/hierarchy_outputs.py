"""Figure 3 with its numbers, and the cube explorer of a run of MLLM-IC."""

from collections.abc import Mapping

from benchc.benchmarks.mllm_ic.corruption_tree import run_levels
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.rendering.declaration import Output, figure, page, table
from benchc.workflow.run import Run

FEATURES = "<results>/hierarchy/features.parquet"
TSNE = "<results>/hierarchy/tsne.parquet"


def hierarchy_outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; those of Figure 3 where the run has ``hierarchy``.

    ``labels``: of all models by id, in the order of tables.
    """
    bootstrap = settings.tables.bootstrap
    explorer = page(
        "cube_explorer",
        "the cube explorer",
        inputs={
            "outcomes": [f"<results>/outcomes/{id_}.parquet" for id_ in labels],
            "capabilities": "<results>/pool/capabilities.parquet",
            "samples": "<results>/samples.parquet",
            "pool": "<results>/pool/items.parquet",
        },
        settings={
            "labels": labels,
            "categories": run.images.groups,
            "levels": run_levels(run.images.groups, run.images.suite),
            "draws": bootstrap.draws,
            "seed": bootstrap.seed,
        },
        data=["benchc/benchmarks/mllm_ic/pages/cube_explorer.html"],
        caption=f"""
        **Cube explorer** (not in the paper): any two of severity, capability and corruption, at any of their
        levels, as a heat map, the third fixed or averaged: accuracy, its difference to clean pictures or that
        of two models, with 95 % intervals from {bootstrap.draws} resamples of the pictures. A click on a cell
        shows pictures, questions and outcomes behind it, chosen by a hash. One HTML file that needs no
        network.
        """,
    )
    if settings.hierarchy is None:
        return [explorer]
    cifar = settings.hierarchy.images is not None
    pictures = (
        "CIFAR-10 and a WRN-40-2" if cifar else "pictures of the pool and the image encoder of the demo"
    )
    return [
        figure(
            "figure3",
            "Figure 3",
            inputs={"tsne": TSNE},
            subcategory="Corruptions",
            caption=f"""
            **Figure 3**: a t-SNE of the mean features of the same pictures in each scenario, of {pictures}.
            Severities of a type are joined, marks grow with severity, and weather is left out, as in the
            paper. Distances between far groups have no meaning in a t-SNE. The paper's repeat on ImageNet is
            not made.
            """,
        ),
        table(
            "hierarchy",
            "Figure 3 in numbers",
            inputs={"features": FEATURES, "tsne": TSNE},
            caption="""
            **Figure 3 in numbers** (not in the paper), on the features and on the map: silhouettes of
            scenarios by level, category and type, and the mean distance from clean pictures by severity, as a
            share of that at severity 5.
            """,
        ),
        explorer,
    ]
