"""The figures of a run of MLLM-IC but Figure 3."""

from collections.abc import Mapping

from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label, run_levels
from benchc.benchmarks.mllm_ic.settings import Settings
from benchc.rendering.declaration import Output, figure, in_order_of
from benchc.workflow.run import Run

OUTCOMES = "<results>/outcomes/{}.parquet"
CAPABILITIES = "<results>/pool/capabilities.parquet"
POOL = "<results>/pool/items.parquet"
GALLERY = "<results>/gallery.parquet"
CHANCE = "<results>/tables/chance.csv"
# Of the paper, where the run has them.
FIGURE_5 = ("motion_blur", "snow", "gaussian_noise")
FIGURE_10 = "deepseek-vl-7b-chat"
WITH_MODELS = ("figure4", "figure6", "figure7", "figure8", "figure9")
OVERALL = "the mean over mid-level capabilities, each the mean over its low-level ones"
RADAR = """All charts of the figure have one scale, in per cent, whose centre is not always 0; the rim is as
            far from the last circle as circles are from each other."""
MARKED = "A † marks models that are not above chance (table `chance`)."


def figure_outputs(run: Run, settings: Settings, labels: Mapping[str, str]) -> list[Output]:
    """Return the declarations; ``labels``: of all models by id, in the order of figures."""
    bootstrap, types = settings.tables.bootstrap, settings.corruptions.types
    categories = run.images.groups
    both = {"categories": categories, "levels": run_levels(categories, run.images.suite)}
    left_out = [labels[id_] for id_ in settings.figures.left_out]
    shown = {id_: label for id_, label in labels.items() if id_ not in settings.figures.left_out}
    without = f"Without {' and '.join(left_out)} (`figures.left_out`)." if left_out else ""
    radars = f"{RADAR} {MARKED} {without}"
    figure5 = settings.figures.figure5.types or [name for name in FIGURE_5 if name in types] or types[:3]
    figure10 = settings.figures.figure10.model or (FIGURE_10 if FIGURE_10 in labels else next(iter(labels)))

    def outcomes(ids: Mapping[str, str]) -> dict[str, str | list[str]]:
        files = [OUTCOMES.format(id_) for id_ in ids]
        return {"outcomes": files, "capabilities": CAPABILITIES}

    with_chance = outcomes(shown) | {"chance": CHANCE}
    every = [
        figure(
            "figure1",
            "Figure 1",
            inputs={"pool": POOL, "capabilities": CAPABILITIES},
            subcategory="The benchmark",
            caption="""
            **Figure 1**: the capabilities that this run asks about, high-level, mid-level and low-level, with
            the number of questions of each (circular copies count), and a question of each mid-level one with
            the right answer in bold: the first by a hash that is short enough to be shown whole, if there is
            one.
            """,
        ),
        figure(
            "figure2",
            "Figure 2",
            inputs={"gallery": GALLERY},
            settings=both,
            subcategory="The benchmark",
            caption="""
            **Figure 2**: the levels, categories and types of corruption of this run, each type at the highest
            severity on one image of the pool (Figure 5 has it clean).
            """,
        ),
        figure(
            "figure4",
            "Figure 4",
            inputs=outcomes(labels) | {"chance": CHANCE},
            settings={"labels": labels, "draws": bootstrap.draws, "seed": bootstrap.seed},
            subcategory="Models",
            caption=f"""
            **Figure 4**: overall accuracy on clean images and, as the mean over all types of corruption, at
            each severity: {OVERALL}. Lines are 95 % percentile intervals from {bootstrap.draws} resamples of
            the pictures. Numbers are those of clean images and of the highest severity. {MARKED} Table
            `severities` has all values.
            """,
        ),
        figure(
            "figure5",
            "Figure 5",
            inputs={"gallery": GALLERY},
            settings={"types": figure5, "categories": categories},
            subcategory="The benchmark",
            caption=f"""
            **Figure 5**: an image of the pool under {", ".join(corruption_label(name) for name in figure5)}
            at each severity, as models see it.
            """,
        ),
        figure(
            "figure6",
            "Figure 6",
            inputs=with_chance,
            settings={"labels": shown},
            subcategory="Capabilities",
            caption=f"""
            **Figure 6**: accuracy by mid-level capability at severities 1, 3 and 5, mean over all types of
            corruption. {radars}
            """,
        ),
        figure(
            "figure7",
            "Figure 7",
            inputs=with_chance,
            settings={"labels": shown} | both,
            subcategory="Corruptions",
            caption=f"""
            **Figure 7**: overall accuracy by category of corruption at severities 1, 3 and 5, mean over the
            category's types: {OVERALL}. {radars}
            """,
        ),
        figure(
            "figure8",
            "Figure 8",
            inputs=with_chance,
            settings={"labels": shown},
            subcategory="Capabilities",
            caption=f"""
            **Figure 8**: accuracy by capability, mean over all types of corruption and severities: (a)
            mid-level, as in Table 2, and low-level of (b) perception and (c) reasoning. {radars}
            """,
        ),
        figure(
            "figure9",
            "Figure 9",
            inputs=with_chance,
            settings={"labels": shown} | both,
            subcategory="Corruptions",
            caption=f"""
            **Figure 9**: overall accuracy by (a) category of corruption, as in Table 3, and by type on each
            level, mean over severities: {OVERALL}. {radars}
            """,
        ),
        figure(
            "figure10",
            "Figure 10",
            inputs=outcomes({figure10: labels[figure10]}),
            settings={"labels": {figure10: labels[figure10]}, "categories": categories},
            subcategory="Models",
            caption=f"""
            **Figure 10**: accuracy of {labels[figure10]} by capability, on clean images and by category of
            corruption and severity. A cell is the mean over the types of its category; its questions are
            those of the capability.
            """,
        ),
    ]
    return in_order_of("models", every, WITH_MODELS)
