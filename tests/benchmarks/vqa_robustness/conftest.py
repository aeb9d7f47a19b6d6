"""A small run of VQA-robustness on the real pipeline: two models in words, one from a list, one imported."""

import random
from pathlib import Path

import polars as pl
import pytest
import yaml

from benchc.schemas.parquet import read_table
from benchc.schemas.references import REFERENCES
from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.conftest import TRAINED, checkpoints, made_once, small_checkout  # noqa: F401  (fixture)

CONFIG = "config/open.yaml"
TYPES = ["shot_noise", "snow", "zoom_blur", "grayscale"]
VARIANTS = [("clean", 0), *((name, severity) for name in TYPES for severity in range(1, 6))]
IMPORTED = "answers/other.csv"


def open_checkout(folder: Path, checkpoints: Path) -> Checkout:  # noqa: F811
    """Return a fresh checkout with the small configuration, in which nothing has been run."""
    checkout = small_checkout(folder, checkpoints)
    config = yaml.safe_load((ROOT / "config/demo-vqa-robustness.yaml").read_text())
    config |= {
        "name": "open",
        "catalogues": {"sources": "config/small-sources.yaml", "models": "config/small-models.yaml"},
        "sources": ["drawn-text", "shapes"],
        "pool": {"per_task": 3, "total": None},
        "corruptions": {**config["corruptions"], "types": TYPES},
        "models": ["texts", "trained", "listed"],
        "answers": {**config["answers"], "max_new_tokens": 4},
        "answers_from": {"other": {"label": "Other program", "file": IMPORTED}},
        "tables": {"bootstrap": {"draws": 100, "seed": 0}},
        "demo": {"seed": 1, "training_set": {"items_per_category": 8}},
    }
    models = yaml.safe_load((folder / "config/small-models.yaml").read_text())
    models["listed"] = {**TRAINED, "label": "Listed", "family": "vilt", "scoring": "classify"}
    (folder / "config/small-models.yaml").write_text(yaml.safe_dump(models, sort_keys=False))
    (folder / CONFIG).write_text(yaml.safe_dump(config, sort_keys=False))
    return Checkout.existing(folder, CONFIG, checkout.python)


def write_imported(checkout: Checkout) -> None:
    """Write the answers of another program, right less often at a higher severity."""
    references = read_table(checkout.folder / "results/open/pool/references.parquet", REFERENCES)
    chance = random.Random(5)
    rows = [
        (id_, corruption, severity, truth if chance.random() > 0.2 + 0.1 * severity else "nothing")
        for id_, truth in references.select("id", "truth").iter_rows()
        for corruption, severity in VARIANTS
    ]
    path = checkout.folder / IMPORTED
    path.parent.mkdir(exist_ok=True)
    pl.DataFrame(rows, schema=["id", "corruption", "severity", "answer"], orient="row").write_csv(path)


@pytest.fixture(scope="session")
def finished_open(tmp_path_factory: pytest.TempPathFactory, checkpoints: Path, python: Path) -> Checkout:  # noqa: F811
    """A checkout in which the small run has finished; read only."""

    def make(folder: Path) -> None:
        checkout = open_checkout(folder / "benchc", checkpoints)
        checkout.python = python
        checkout.make("results/open/pool/references.parquet")
        write_imported(checkout)
        checkout.make(cores=2)

    return Checkout.existing(made_once(tmp_path_factory, "open", make) / "benchc", CONFIG, python)
