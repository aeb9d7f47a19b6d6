"""Rerun only what changed: the jobs that an edit reruns, its predictions, and what stays the same.

The edits are those of the table in docs/rerun.md. Each is planned alone, here or
in test_edits.py. Two runs then make them all; what each model predicts on each corruption tells them apart.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.workflow.checkout import Checkout
from tests.workflow.declared import following, outputs_of, running

SEVERITIES = 5
# Of gaussian noise alone, in the module of all noises.
EDITED = "np.float32(values[i]) + offsets[field[i]]"
EDIT = "np.float32(values[i]) + offsets[field[i]] + np.float32(3)"
PHOTONS = "published(_CODE, 60, 25, 12, 5, 2)"

# As those of the small run.
OUTPUTS_OF_CONFIG = outputs_of(
    "config/demo-diagnostics.yaml", diagnostics={"random_subset": 3, "option_order": 2}
)
RAS = "benchc/benchmarks/bench_c/metrics/ras.py"
SUITE = "benchc/corruptions/suites/imagenet_c.py"
MINE = "benchc/corruptions/kernels/mine.py"
TSV = "data/shapes.tsv"
# Where each rule writes: the files that an edit may change.
OUTPUTS = {
    "read_source": r"sources/",
    "pool": r"pool/",
    "corrupt": r"corrupted/",
    "infer": r"predictions/",
    "kappa": r"selection/kappa",
    "embed": r"selection/embeddings",
    "select": r"(selection|subsets)/selected",
    "sample_unselected": r"subsets/unselected",
    "infer_orders": r"orders/",
    "score": r"scores/\w+.parquet",
    "score_unselected": r"scores/unselected/",
    **{output.name: rf"{output.kind}s/{output.name}[._]" for output in OUTPUTS_OF_CONFIG},
    "contact_sheet": r"figures/contact_sheet_1",
    "describe_models": r"models.json",
    "configuration": r"config(-sources|-models)?.yaml",
    "results_page": r"page/",
}
# Outputs that follow from the scores, and from the selection, as the benchmark declares them.
SCORED = following(OUTPUTS_OF_CONFIG, "scores/", "orders/")
SELECTION_FIGURES = {"figure1a": 1, "figure7": 1, "figure8": 1, "figure9": 1}
FROM_SCORES = {"score": 2, "score_unselected": 2, **following(OUTPUTS_OF_CONFIG, "scores/")}
FROM_RAS = FROM_SCORES | following(OUTPUTS_OF_CONFIG, "scores/", names=running(OUTPUTS_OF_CONFIG, RAS))
FROM_SELECTION = {
    **{"select": 1, "selection_stability": 1, "sample_unselected": 1, "infer": 4, "infer_orders": 2},
    **FROM_SCORES,
    **SCORED,
    **SELECTION_FIGURES,
}
FROM_IMAGES = {"contact_sheet": 1, "kappa": 1, **FROM_SELECTION, "infer": 6}
SETTING = {"configuration": 1}
# Inference jobs, in the order in which they run.
SELECTORS = ("pool/letters", "pool/texts")
TARGETS = ("selected/other", "selected/trained", "unselected/other", "unselected/trained")


@pytest.fixture(scope="module")
def checkout(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished.copy(tmp_path_factory.mktemp("rerun") / "benchc")


@pytest.fixture(scope="module")
def ledger() -> "Ledger":
    return Ledger()


def run(checkout: Checkout, *targets: str) -> dict[str, tuple[int, int]]:
    """Run the targets, or all, and return the predictions of the jobs."""
    for log in checkout.folder.glob("logs/*/infer/*/*/*.log"):
        log.unlink()
    checkout.make(*targets)
    return checkout.predictions()


def changed_outputs(checkout: Checkout, before: dict[str, str], rules: Iterable[str]) -> set[str]:
    """Return the files of the results that changed, which must be outputs of the rules."""
    after = checkout.hashes()
    changed = {file for file in before | after if before.get(file) != after.get(file)}
    allowed = "|".join(OUTPUTS[rule] for rule in (*rules, "results_page"))
    assert [file for file in sorted(changed) if not re.search(rf"results/small/({allowed})", file)] == []
    return changed


def new(predictions: dict[str, tuple[int, int]]) -> dict[str, int]:
    """Return the predictions that each job computed."""
    return {job: count for job, (_, count) in predictions.items()}


def prediction_files(checkout: Checkout) -> list[str]:
    config = yaml.safe_load((checkout.folder / checkout.config).read_text())
    jobs = [("pool", model) for model in config["selectors"]]
    jobs += [(subset, model) for subset in ("selected", "unselected") for model in config["targets"]]
    return [f"results/small/predictions/{subset}/{model}/all.parquet" for subset, model in jobs]


class Ledger:
    """What each model has predicted so far, and so what a run still has to compute.

    A prediction is known by its item, its corruption, and by how often an edit has changed the item's text,
    the corruption's kernel and the model's scorer.
    """

    def __init__(self) -> None:
        self.predicted: dict[str, set[tuple[object, ...]]] = {}
        self.edits: Counter[str] = Counter()  # of a model, a corruption or an item

    def new(self, checkout: Checkout, *jobs: str) -> dict[str, int]:
        """Return how many new predictions each job needs, `pool/model` first, and record them as done."""
        counts = {}
        for job in jobs:
            subset, model = job.split("/")
            items = ITEMS[subset](checkout)
            needed = {
                (item, corruption, self.edits[item], self.edits[corruption], self.edits[model])
                for item in items
                for corruption in ["clean", *corruptions(checkout)]
            }
            missing = needed - self.predicted.setdefault(model, set())
            counts[job] = sum(1 if corruption == "clean" else SEVERITIES for _, corruption, *_ in missing)
            self.predicted[model] |= needed
        return counts


def pool(checkout: Checkout) -> list[str]:
    return pl.read_parquet(checkout.folder / "results/small/pool/items.parquet", columns=["id"])[
        "id"
    ].to_list()


def kept(checkout: Checkout) -> list[str]:
    selected = pl.read_parquet(checkout.folder / "results/small/selection/selected.parquet")
    return selected.filter("selected")["id"].to_list()


def unselected(checkout: Checkout) -> list[str]:
    return pl.read_parquet(checkout.folder / "results/small/subsets/unselected.parquet")["id"].to_list()


ITEMS = {"pool": pool, "selected": kept, "unselected": unselected}


def corruptions(checkout: Checkout) -> list[str]:
    return yaml.safe_load((checkout.folder / checkout.config).read_text())["corruptions"]["types"]


def test_a_second_run_does_nothing(checkout, ledger):
    assert checkout.plan() == {}
    jobs = (*SELECTORS, *TARGETS)
    assert new(checkout.predictions()) == ledger.new(checkout, *jobs)


def test_resources_rerun_nothing(checkout):
    models = checkout.folder / "config/small-models.yaml"
    before = models.read_text()
    content = yaml.safe_load(before)
    content["texts"] |= {"mem_mb": 3000}
    models.write_text(yaml.safe_dump(content))
    assert checkout.plan("--set-resources", "infer:runtime=5", "corrupt:mem_mb=500") == {}
    models.write_text(before)


def test_selecting_first_stops_if_the_selection_is_unchanged(checkout):
    before = kept(checkout)
    module = checkout.folder / "benchc/benchmarks/bench_c/selection/select.py"
    module.write_text(module.read_text() + "\nADDED = 1\n")
    assert checkout.plan() == FROM_SELECTION
    checkout.make("select", "selection_stability")
    assert checkout.plan() == {}
    assert kept(checkout) == before


# A file, what it contains, what replaces it, and the jobs that rerun.
CODE = {
    "RAS": (
        RAS,
        "np.maximum(delta_c, 0.0) * np.maximum(-delta_s, 0.0)",
        "np.maximum(delta_c, 0.0) * np.maximum(-delta_s, 0.0) * 0.5",
        FROM_RAS,
    ),
    "a figure": (
        "benchc/benchmarks/bench_c/figures/figure8.py",
        "candidates, height=0.76",
        "candidates, height=0.7",
        {"figure8": 1},
    ),
    "the greedy selection": (
        "benchc/benchmarks/bench_c/selection/greedy.py",
        "return alpha[0] * values, tuple",
        "return -alpha[0] * values, tuple",
        FROM_SELECTION,
    ),
}


@pytest.mark.parametrize("name", CODE)
def test_an_edit_of_code_reruns_its_jobs(checkout, name):
    *edit, expected = CODE[name]
    assert checkout.plan_of_edit(*edit) == expected


TEMPLATE = "benchc/rendering/results_page/page.html.j2"
# The jobs of the results page that an edit reruns.
PAGE_OF_CODE = {
    "a figure": ("results_page",),
    "RAS": ("page_samples", "results_page"),
    "the greedy selection": ("choose_page_items", "page_images", "page_samples", "results_page"),
}


@pytest.mark.parametrize("name", PAGE_OF_CODE)
def test_the_results_page_follows_what_it_shows(checkout, name):
    file, old, new, others = CODE[name]
    with checkout.restored(file):
        checkout.edit(file, old, new)
        assert checkout.plan(with_page=True) == others | dict.fromkeys(PAGE_OF_CODE[name], 1)


def test_the_results_page_is_made_again_alone(checkout):
    assert checkout.plan_of_edit(TEMPLATE, "<h2>Samples</h2>", "<h2>All samples</h2>") == {"results_page": 1}
    with checkout.restored(checkout.config):
        checkout.configure(results_page={"longest_side": 100})
        of_images = {"configuration": 1, "page_images": 1, "results_page": 1}
        assert checkout.plan(with_page=True) == of_images
        checkout.configure(results_page={"samples": 2})
        every = {"configuration": 1, "choose_page_items": 1, "page_images": 1, "page_samples": 1}
        assert checkout.plan(with_page=True) == every | {"results_page": 1}


TARGET = {"targets": ["other", "trained", "more"]}
SELECTOR = {"selectors": ["letters", "texts", "other"]}
SETTINGS = {
    "alpha": ({"selection": {"alpha_kappa": 2.0, "alpha_diversity": 0.1}}, FROM_SELECTION),
    "one more target": (
        TARGET,
        {
            "describe_models": 1,
            **{"infer": 2, "infer_orders": 1, "score": 1, "score_unselected": 1},
            # Figures 3 to 5 are about one target each.
            **{name: 1 for name in SCORED if name not in ("figure3", "figure4", "figure5")},
        },
    ),
    "one more selector": (SELECTOR, {"kappa": 1, **FROM_SELECTION, "infer": 5}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_reruns_its_jobs(checkout, name):
    changes, expected = SETTINGS[name]
    assert checkout.plan_of_settings(**changes) == SETTING | expected


def add_a_corruption(checkout: Checkout) -> None:
    mine = """CorruptionType(
            "mine",
            "Averages the colours.",
            "benchc.corruptions.kernels.mine.mine",
            {"weight": decided("equal steps", 0.2, 0.4, 0.6, 0.8, 1.0)},
        ),
        CONTRAST,"""
    checkout.edit(SUITE, "(BRIGHTNESS, CONTRAST,", f"(BRIGHTNESS, {mine}")
    (checkout.folder / MINE).write_text(
        "import numpy as np\n\n\ndef mine(image, *, weight):\n"
        "    grey = image.mean(axis=2, keepdims=True)\n"
        "    return np.uint8((1 - weight) * image + weight * grey)\n"
    )


def test_a_custom_corruption_reruns_only_the_contact_sheet_until_it_is_used(checkout):
    with checkout.restored(SUITE):
        add_a_corruption(checkout)
        assert checkout.plan() == {"contact_sheet": 1}
    (checkout.folder / MINE).unlink()


def change_an_item(checkout: Checkout) -> str:
    item = next(id_ for id_ in pool(checkout) if id_.startswith("shapes/"))
    tsv = checkout.folder / TSV
    rows = pl.read_csv(tsv, separator="\t", infer_schema=False)
    mark = pl.when(pl.col("index") == Path(item).name).then(pl.lit("?")).otherwise(pl.lit(""))
    rows.with_columns(pl.col("question") + mark).write_csv(tsv, separator="\t", quote_style="always")
    return item


def test_an_item_of_a_source_reruns_what_shows_it(checkout):
    with checkout.restored(TSV):
        change_an_item(checkout)
        assert checkout.plan() == {"read_source": 1, "pool": 1, "corrupt": 4, "embed": 1, **FROM_IMAGES}


def test_scores_and_a_figure_are_made_again_without_predictions(checkout):
    before = checkout.hashes()
    for name in ("RAS", "a figure"):
        checkout.edit(*CODE[name][:3])
    assert run(checkout) == {}
    assert checkout.plan() == {}
    changed = changed_outputs(checkout, before, FROM_RAS | {"figure8": 1})
    assert {"results/small/scores/other.parquet", "results/small/figures/figure8.png"} <= changed


def test_a_familys_file_reruns_its_own_models(checkout, ledger):
    (checkout.folder / "benchc/models/families/internvl.py").write_text(
        "from benchc.models import checkpoint\n\n\ndef load(source):\n"
        "    chat = checkpoint.load(source)\n    chat.processor.image_processor.rescale_factor = 0.005\n"
        "    return chat\n"
    )
    ledger.edits["texts"] += 1
    assert checkout.plan() == {"kappa": 1, **FROM_SELECTION, "infer": 5}


def test_edits_of_code_and_of_alpha_predict_again_only_what_they_change(checkout, ledger):
    """With the family's file: each model and each corruption shows whether another one's edit reached it."""
    before = kept(checkout)
    checkout.configure(selection={"alpha_kappa": 0.1, "alpha_diversity": 2.0})
    checkout.edit("benchc/models/letter.py", "vocabulary[:, tokens]  #", "0.9 * vocabulary[:, tokens]  #")
    checkout.edit("benchc/corruptions/kernels/noise.py", EDITED, EDIT)
    # Only the images of one severity are new, but all severities of an item are predicted together.
    checkout.edit(SUITE, "1.0, 2.0, 3.0, 4.0, 6.0", "1.0, 2.0, 3.0, 4.0, 5.0")
    ledger.edits.update(["letters", "gaussian_noise", "gaussian_blur"])
    assert checkout.plan() == SETTING | FROM_IMAGES | {"corrupt": 3}
    images = checkout.hashes("results/small/corrupted")
    predictions = run(checkout, *prediction_files(checkout))
    assert "infer" not in checkout.plan()
    assert kept(checkout) != before
    # The module contains a family's kernels; shot noise is rerun, with the same bytes.
    assert {
        Path(file).stem
        for file, hash_ in checkout.hashes("results/small/corrupted").items()
        if images[file] != hash_
    } == {"gaussian_noise", "gaussian_blur"}
    assert new(predictions) == ledger.new(checkout, *SELECTORS, *TARGETS)
    assert new(predictions)["pool/texts"] == len(pool(checkout)) * (1 + 3 * SEVERITIES)


def test_swapping_two_numbers_reruns_the_selection(checkout):
    swapped = {"selection": {"alpha_kappa": 2.0, "alpha_diversity": 0.1}}
    with checkout.restored(checkout.config):
        assert checkout.plan("select") == {}
        checkout.configure(**swapped)
        assert checkout.plan("select") == {"select": 1}


def test_additions_and_a_changed_item_are_predicted_alone(checkout, ledger):
    """To the end: nothing changes but the outputs of the jobs that are planned."""
    add_a_corruption(checkout)
    checkout.configure(corruptions={"types": [*corruptions(checkout), "mine"]}, **TARGET, **SELECTOR)
    ledger.edits[change_an_item(checkout)] += 1
    before = checkout.hashes()
    jobs = (*SELECTORS, "pool/other", *TARGETS, "selected/more", "unselected/more")
    expected = {
        **SETTING,
        **{"read_source": 1, "pool": 1, "corrupt": 5, "embed": 1, "describe_models": 1},
        **FROM_IMAGES,
        **{"infer": len(jobs), "infer_orders": 3, "score": 3, "score_unselected": 3},
    }
    assert checkout.plan() == expected
    predictions = run(checkout)
    assert checkout.plan() == {}
    assert new(predictions) == ledger.new(checkout, *jobs)
    items = len(pool(checkout))
    assert new(predictions)["pool/texts"] == (items - 1) * SEVERITIES + 1 + 4 * SEVERITIES
    # Its predictions as a target are not computed again for the selection.
    assert new(predictions)["pool/other"] < items * (1 + 4 * SEVERITIES)
    changed = changed_outputs(checkout, before, expected)
    assert {file for file in changed if "/corrupted/" in file} == {"results/small/corrupted/mine.parquet"}
