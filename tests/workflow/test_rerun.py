"""Rerun only what changed: one edit at a time, the jobs it reruns, its predictions, and what stays the same.

The edits build on each other, as a user's do: each test edits, checks the plan, runs it and compares. They
are those of the table in README's section "Rerun only what changed"; test_edits.py plans more of them.
"""

import re
from collections import Counter
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
OF_THREE_TARGETS = {"score": 3, "score_unselected": 3, "infer_orders": 3}
# Inference jobs, in the order in which they run.
SELECTORS = ("pool/letters", "pool/texts")
TARGETS = ("selected/other", "selected/trained", "unselected/other", "unselected/trained")


@pytest.fixture(scope="module")
def checkout(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return finished.copy(tmp_path_factory.mktemp("rerun") / "benchc")


@pytest.fixture(scope="module")
def ledger() -> "Ledger":
    return Ledger()


def run(
    checkout: Checkout, expected: dict[str, int], *, predictions_only: bool = False
) -> dict[str, tuple[int, int]]:
    """Assert the plan, run it, assert that nothing else changed; return the predictions of its jobs.

    The plan of the next edit shows that this one is made, and that of the last test.
    ``predictions_only`` leaves what follows from predictions to the next edit, which must plan it too.
    """
    assert checkout.plan() == expected
    before = checkout.hashes()
    for log in checkout.folder.glob("logs/*/infer/*/*/*.log"):
        log.unlink()
    if predictions_only:
        checkout.make(*prediction_files(checkout))
        assert "infer" not in checkout.plan()
        return checkout.predictions()
    checkout.make()
    after = checkout.hashes()
    changed = {file for file in before | after if before.get(file) != after.get(file)}
    allowed = "|".join(OUTPUTS[rule] for rule in expected)
    assert [file for file in sorted(changed) if not re.search(rf"results/small/({allowed})", file)] == []
    assert changed, "the edit was meant to change a result"
    return checkout.predictions()


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


def test_the_ras_module_reruns_scores_and_what_shows_them(checkout):
    checkout.edit(
        RAS,
        "np.maximum(delta_c, 0.0) * np.maximum(-delta_s, 0.0)",
        "np.maximum(delta_c, 0.0) * np.maximum(-delta_s, 0.0) * 0.5",
    )
    assert run(checkout, FROM_RAS) == {}


def test_a_figure_module_reruns_its_figure(checkout):
    checkout.edit(
        "benchc/benchmarks/bench_c/figures/figure8.py", "candidates, height=0.76", "candidates, height=0.7"
    )
    assert run(checkout, {"figure8": 1}) == {}


def test_the_greedy_module_reruns_the_selection_and_predicts_only_new_items(checkout, ledger):
    before = kept(checkout)
    checkout.edit(
        "benchc/benchmarks/bench_c/selection/greedy.py",
        "return alpha[0] * values, tuple",
        "return -alpha[0] * values, tuple",
    )
    predictions = run(checkout, FROM_SELECTION, predictions_only=True)
    assert new(predictions) == ledger.new(checkout, *TARGETS)
    assert kept(checkout) != before


def test_alpha_reruns_the_selection_and_predicts_only_new_items(checkout, ledger):
    checkout.edit(
        "benchc/benchmarks/bench_c/selection/greedy.py",
        "return -alpha[0] * values, tuple",
        "return alpha[0] * values, tuple",
    )
    checkout.configure(selection={"alpha_kappa": 0.1, "alpha_diversity": 2.0})
    assert new(run(checkout, SETTING | FROM_SELECTION)) == ledger.new(checkout, *TARGETS)


def test_swapping_two_numbers_reruns_the_selection(checkout):
    checkout.configure(selection={"alpha_kappa": 2.0, "alpha_diversity": 0.1})
    assert checkout.plan() == SETTING | FROM_SELECTION
    checkout.configure(selection={"alpha_kappa": 0.1, "alpha_diversity": 2.0})
    assert checkout.plan() == {}


def test_selecting_first_stops_if_the_selection_is_unchanged(checkout):
    before = kept(checkout)
    module = checkout.folder / "benchc/benchmarks/bench_c/selection/select.py"
    module.write_text(module.read_text() + "\nADDED = 1\n")
    assert checkout.plan() == FROM_SELECTION
    checkout.make("select", "selection_stability")
    assert checkout.plan() == {}
    assert kept(checkout) == before


def test_the_letter_scorer_reruns_letter_models_and_all_their_predictions(checkout, ledger):
    checkout.edit("benchc/models/letter.py", "vocabulary[:, tokens]  #", "0.9 * vocabulary[:, tokens]  #")
    ledger.edits["letters"] += 1
    predictions = run(checkout, {"kappa": 1, **FROM_SELECTION, "infer": 5}, predictions_only=True)
    assert new(predictions) == ledger.new(checkout, "pool/letters", *TARGETS)


def test_a_familys_file_reruns_its_own_models(checkout, ledger):
    (checkout.folder / "benchc/models/families/internvl.py").write_text(
        "from benchc.models import checkpoint\n\n\ndef load(source):\n"
        "    chat = checkpoint.load(source)\n    chat.processor.image_processor.rescale_factor = 0.005\n"
        "    return chat\n"
    )
    ledger.edits["texts"] += 1
    predictions = run(checkout, {"kappa": 1, **FROM_SELECTION, "infer": 5}, predictions_only=True)
    assert new(predictions) == ledger.new(checkout, "pool/texts", *TARGETS)


def test_a_custom_corruption_reruns_only_the_contact_sheet_until_it_is_used(checkout):
    before = checkout.plan()  # of the edit before
    suite = checkout.folder / "benchc/corruptions/suites/imagenet_c.py"
    mine = """CorruptionType(
            "mine",
            "Averages the colours.",
            "benchc.corruptions.kernels.mine.mine",
            {"weight": decided("equal steps", 0.2, 0.4, 0.6, 0.8, 1.0)},
        ),
        CONTRAST,"""
    suite.write_text(suite.read_text().replace("(BRIGHTNESS, CONTRAST,", f"(BRIGHTNESS, {mine}"))
    (checkout.folder / "benchc/corruptions/kernels/mine.py").write_text(
        "import numpy as np\n\n\ndef mine(image, *, weight):\n"
        "    grey = image.mean(axis=2, keepdims=True)\n"
        "    return np.uint8((1 - weight) * image + weight * grey)\n"
    )
    assert "contact_sheet" not in before and checkout.plan() == before | {"contact_sheet": 1}


def test_a_kernel_reruns_its_corruption_and_predicts_only_on_its_images(checkout, ledger):
    checkout.edit("benchc/corruptions/kernels/noise.py", EDITED, EDIT)
    ledger.edits["gaussian_noise"] += 1
    other = checkout.hashes("results/small/corrupted")["results/small/corrupted/shot_noise.parquet"]
    # The module contains a family's kernels; shot noise is rerun, with the same bytes.
    predictions = run(checkout, {"corrupt": 2, **FROM_IMAGES}, predictions_only=True)
    assert checkout.hashes("results/small/corrupted")["results/small/corrupted/shot_noise.parquet"] == other
    jobs = (*SELECTORS, *TARGETS)
    assert new(predictions) == ledger.new(checkout, *jobs)
    assert new(predictions)["pool/texts"] == len(pool(checkout)) * SEVERITIES


def test_a_number_of_a_suite_reruns_its_corruption_alone(checkout, ledger):
    checkout.edit("benchc/corruptions/suites/imagenet_c.py", "published(_CODE, 60, 25, 12, 5, 3)", PHOTONS)
    predictions = run(checkout, {"corrupt": 1, **FROM_IMAGES}, predictions_only=True)
    # Only the images of one severity are new, but all severities of an item are predicted together.
    ledger.edits["shot_noise"] += 1
    jobs = (*SELECTORS, *TARGETS)
    assert new(predictions) == ledger.new(checkout, *jobs)


def test_one_more_corruption_predicts_only_on_its_images(checkout, ledger):
    checkout.configure(corruptions={"types": [*corruptions(checkout), "mine"]})
    predictions = run(checkout, SETTING | {"corrupt": 1, **FROM_IMAGES})
    jobs = (*SELECTORS, *TARGETS)
    assert new(predictions) == ledger.new(checkout, *jobs)
    assert new(predictions)["pool/texts"] == len(pool(checkout)) * SEVERITIES


def test_one_more_target_reruns_its_own_jobs_and_the_comparisons(checkout, ledger):
    checkout.configure(targets=["other", "trained", "more"])
    own = {"infer": 2, "infer_orders": 1, "score": 1, "score_unselected": 1}
    # Figures 3 to 5 are about one target each.
    outputs = {name: 1 for name in SCORED if name not in ("figure3", "figure4", "figure5")}
    predictions = run(checkout, SETTING | {"describe_models": 1, **own, **outputs})
    assert new(predictions) == ledger.new(checkout, "selected/more", "unselected/more")


def test_one_more_selector_predicts_on_the_pool_and_on_newly_selected_items(checkout, ledger):
    checkout.configure(selectors=["letters", "texts", "other"])
    jobs = ("pool/other", *TARGETS, "selected/more", "unselected/more")
    expected = {"kappa": 1, **FROM_SELECTION, "infer": len(jobs), **OF_THREE_TARGETS}
    predictions = run(checkout, SETTING | expected, predictions_only=True)
    assert new(predictions) == ledger.new(checkout, *jobs)
    # Its predictions as a target are not computed again for the selection.
    assert new(predictions)["pool/other"] < len(pool(checkout)) * (1 + 4 * SEVERITIES)


def test_only_a_changed_item_of_a_source_is_predicted_again(checkout, ledger):
    item = next(id_ for id_ in pool(checkout) if id_.startswith("shapes/"))
    tsv = checkout.folder / "data/shapes.tsv"
    rows = pl.read_csv(tsv, separator="\t", infer_schema=False)
    mark = pl.when(pl.col("index") == Path(item).name).then(pl.lit("?")).otherwise(pl.lit(""))
    rows.with_columns(pl.col("question") + mark).write_csv(tsv, separator="\t", quote_style="always")
    ledger.edits[item] += 1
    before_corrupt = checkout.hashes("results/small/corrupted")
    # The selector of the edit before is not yet in the run's record.
    expected = {**SETTING, "read_source": 1, "pool": 1, "corrupt": 5, "embed": 1, **FROM_IMAGES}
    jobs = (*SELECTORS, "pool/other", *TARGETS, "selected/more", "unselected/more")
    predictions = run(checkout, {**expected, "infer": len(jobs), **OF_THREE_TARGETS}, predictions_only=True)
    assert new(predictions) == ledger.new(checkout, *jobs)
    assert new(predictions)["pool/texts"] == 1 + 4 * SEVERITIES
    assert checkout.hashes("results/small/corrupted") == before_corrupt
