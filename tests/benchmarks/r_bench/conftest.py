"""A small run of R-Bench on the real pipeline: three tasks, two dimensions, two models."""

from pathlib import Path

import pytest
import yaml

from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.conftest import (  # noqa: F401  (fixtures)
    TRAINED,
    checkpoints,
    made_once,
    small_checkout,
)

CONFIG = "config/pairs.yaml"
TYPES = ["white_noise", "jpeg"]
MODELS = ["texts", "trained"]
# Scores also where no output is declared that takes them.
TARGETS = ("all", *(f"results/pairs/scores/{model}.parquet" for model in MODELS))


def pairs_checkout(folder: Path, checkpoints: Path) -> Checkout:  # noqa: F811
    """Return a fresh checkout with the small configuration, in which nothing has been run."""
    checkout = small_checkout(folder, checkpoints)
    config = yaml.safe_load((ROOT / "config/demo-r-bench.yaml").read_text())
    config |= {
        "name": "pairs",
        "catalogues": {"sources": "config/small-sources.yaml", "models": "config/small-models.yaml"},
        "sources": ["drawn-text", "shapes", "drawn-captions"],
        "pool": {"per_task": 2, "total": None},
        "corruptions": {**config["corruptions"], "types": TYPES},
        "tasks": {"shapes": "vqa", "drawn-captions": "cap"},
        "assignment": {"per_task": 3, "per_item": 1},
        "answers": {task: {**answer, "max_new_tokens": 4} for task, answer in config["answers"].items()},
        "models": MODELS,
        "tables": {"bootstrap": {"draws": 100, "seed": 0}},
        "demo": {"seed": 1, "training_set": {"items_per_category": 8}},
    }
    sources = yaml.safe_load((folder / "config/small-sources.yaml").read_text())
    drawn = yaml.safe_load((ROOT / "config/demo-sources.yaml").read_text())["drawn-captions"]
    sources["drawn-captions"] = {**drawn, "generated": {"groups": 2}}
    models = yaml.safe_load((folder / "config/small-models.yaml").read_text())
    models["trained"]["train"]["captions"] = True
    for file, content in (
        (CONFIG, config),
        ("config/small-sources.yaml", sources),
        ("config/small-models.yaml", models),
    ):
        (folder / file).write_text(yaml.safe_dump(content, sort_keys=False))
    return Checkout.existing(folder, CONFIG, checkout.python)


@pytest.fixture(scope="session")
def finished_pairs(tmp_path_factory: pytest.TempPathFactory, checkpoints: Path, python: Path) -> Checkout:  # noqa: F811
    """A checkout in which the small run has finished; read only."""

    def make(folder: Path) -> None:
        checkout = pairs_checkout(folder / "benchc", checkpoints)
        checkout.python = python
        checkout.make(*TARGETS, cores=2)

    return Checkout.existing(made_once(tmp_path_factory, "pairs", make) / "benchc", CONFIG, python)
