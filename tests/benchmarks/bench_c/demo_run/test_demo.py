"""The demo's models see, differ and degrade, measured on a finished run: `make check-demo`.

Every model of the run predicts every item of the generated sources, not only of the pool: clean, grey, and
under blur and noise at severity 5.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.corruptions import corrupt
from benchc.images import decode
from benchc.letters import LETTERS
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.progress import track
from benchc.randomness import seed_of
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table
from benchc.workflow.run import Run
from tests.benchmarks.evaluated import own_jobs
from tests.page_clicks import click_through

ROOT = Path(__file__).resolve().parents[4]
COSTLY = ("gaussian_blur", "defocus_blur", "gaussian_noise", "impulse_noise")
VIEWS = ("clean", "grey", *COSTLY)


@pytest.fixture(scope="module")
def items(folder) -> pl.DataFrame:
    return pl.concat(read_table(path, ITEMS) for path in sorted((folder / "sources").glob("*.parquet")))


@cache
def scorer_of(family: str, scoring: str, folder: Path):
    import torch

    torch.set_num_threads(1)
    return load_scorer(family, scoring, CheckpointSource(str(folder)))


def predictions(models: list[tuple[str, str, str, Path]], items: pl.DataFrame) -> list[tuple]:
    rows = []
    for item in items.iter_rows(named=True):
        images = [decode(image["bytes"]) for image in item["images"]]
        views = [
            images,
            [np.full_like(image, 128) for image in images],
            *(
                [corrupt(image, name, 5, seed=seed_of(item["id"], name)) for image in images]
                for name in COSTLY
            ),
        ]
        question = Question(item["question"], tuple(item["options"]), item["hint"])
        for id_, *model in models:
            chosen = scorer_of(*model).score(question, views).logits.argmax(axis=1)
            rows += [
                (id_, view, item["category"], len(item["options"]), int(k), int(k) == item["answer"])
                for view, k in zip(VIEWS, chosen, strict=True)
            ]
    return rows


@pytest.fixture(scope="module")
def answers(config, items) -> pl.DataFrame:
    """One row per item, model and view: the option predicted, and whether it is right."""
    trained = Run(config).models.trained
    models = [
        (id_, model.family, model.scoring, ROOT / trained.folder(id_)) for id_, model in config.models.items()
    ]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as workers:
        parts = workers.map(partial(predictions, models), items.iter_slices(20))
        rows = [
            row
            for part in track(parts, label="world", unit="chunks", total=-(-items.height // 20))
            for row in part
        ]
    schema = ["model", "view", "category", "options", "prediction", "correct"]
    return pl.DataFrame(rows, schema=schema, orient="row")


@pytest.fixture(scope="module")
def accuracy(config, answers) -> dict[tuple[str, str], float]:
    means = answers.group_by("model", "view").agg(pl.col("correct").mean())
    found = {(model, view): value for model, view, value in means.iter_rows()}
    print(f"\nchance {chance(answers):.3f}")
    for id_ in config.models:
        views = " ".join(f"{view} {found[id_, view]:.3f}" for view in VIEWS)
        print(f"{id_:24s} {views} most predicted option {largest_share(answers, id_):.2f}")
    return found


def largest_share(answers: pl.DataFrame, model: str) -> float:
    """Return how often the model predicts its favourite option on clean images."""
    clean = answers.filter((pl.col("view") == "clean") & (pl.col("model") == model))
    return np.bincount(clean["prediction"].to_numpy()).max() / clean.height


def chance(answers: pl.DataFrame) -> float:
    return answers.select((1 / pl.col("options")).mean()).item()


def test_the_sources_are_large_and_varied(items):
    assert items.height >= 1200
    assert items["category"].n_unique() >= 12
    assert set(items["options"].list.len()) == {2, 3, 4, 5, 6}
    assert (items["images"].list.len() == 2).any()


def test_grey_images_leave_every_model_at_chance_in_every_category(answers):
    grey = answers.filter(pl.col("view") == "grey").group_by("model", "category")
    gaps = grey.agg((pl.col("correct").mean() - (1 / pl.col("options")).mean()).abs().alias("gap"))
    assert gaps["gap"].max() <= 0.05


def test_targets_are_above_chance_and_differ(config, answers, accuracy):
    above = {id_: accuracy[id_, "clean"] - chance(answers) for id_ in config.settings.targets}
    assert min(above.values()) >= 0.20, above
    assert max(above.values()) >= 0.35, above
    # Training ends elsewhere on another processor: 0.07 and 0.11 were seen. With 1,300 items, 0.05 is 2.7
    # standard errors.
    assert max(above.values()) - min(above.values()) >= 0.05, above


def test_blur_and_noise_cost_every_target_five_points(config, accuracy):
    costs = {
        (id_, name): accuracy[id_, "clean"] - accuracy[id_, name]
        for id_ in config.settings.targets
        for name in COSTLY
    }
    assert min(costs.values()) >= 0.05, costs


def test_no_model_prefers_one_option(config, answers):
    shares = {id_: largest_share(answers, id_) for id_ in config.models}
    assert max(shares.values()) <= 0.60, shares


def test_a_generated_answer_ends_and_is_one_of_the_options(config, items):
    trained = Run(config).models.trained
    for id_, model in config.models.items():
        source = CheckpointSource(str(ROOT / trained.folder(id_)))
        scorer = load_scorer(model.family, model.scoring, source)
        ask = letter_prompt if model.scoring == "letter" else text_prompt
        right = []
        for item in items.sample(40, seed=1).iter_rows(named=True):
            question = Question(item["question"], tuple(item["options"]), item["hint"])
            images = [decode(image["bytes"]) for image in item["images"]]
            inputs = scorer.chat.encode(scorer.chat.render(ask(question), len(images)), [images])
            output = scorer.chat.model.generate(**inputs, max_new_tokens=20, do_sample=False)[0]
            *answer, last = output[inputs["input_ids"].shape[1] :].tolist()
            options = question.options if model.scoring == "text" else LETTERS[: len(question.options)]
            text = scorer.chat.tokenizer.decode(answer).strip()
            right.append(last == scorer.chat.tokenizer.eos_token_id and text in options)
        assert np.mean(right) >= 0.95, (id_, right)


def test_both_scorings_and_three_architectures_take_part(config):
    assert {model.scoring for model in config.models.values()} == {"letter", "text"}
    assert len({model.family for model in config.models.values()}) >= 3
    assert len(config.settings.selectors) == 3
    assert len(config.settings.targets) == 4


def test_tables_figures_report_and_diagnostics_are_there(folder):
    names = ["1a", "3", "4", "5", "6", "7", "8", "9", "10"]
    made = [
        *(f"figures/figure{name}.{kind}" for name in names for kind in ("png", "pdf")),
        *(f"tables/table1.{kind}" for kind in ("csv", "md", "tex")),
        "report.html",
    ]
    diagnostics = ["tables/discrimination.md", "tables/option_order.md", "figures/figure_discrimination.png"]
    files = [folder / name for name in made]
    files += [ROOT / "results/demo-diagnostics" / name for name in diagnostics]
    assert [file for file in files if not file.is_file()] == []


def test_generated_answers_are_the_predictions():
    table = pl.read_csv(ROOT / "results/demo-diagnostics/tables/generated_answers.csv")
    assert table["model"].to_list() == ["tiny-llava-m", "tiny-idefics3-m"]
    # That of texts may be the text of another item's option.
    assert (table["agreement"] >= [0.75, 0.95]).all(), table
    assert (table["no_option"] <= [0.25, 0.05]).all() and (table["cut_off"] <= 0.05).all(), table


def test_another_model_needs_only_its_own_jobs(folder, tmp_path):
    assert own_jobs(folder, "tiny-llava-s", tmp_path) == {"infer", "score"}


def test_the_results_page_shows_the_run(folder, tmp_path):
    click_through(folder, tmp_path)
