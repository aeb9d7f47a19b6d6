"""A small run of the real pipeline: generated sources, three corruptions of two families, random models.

Random weights are inconsistent on every item, which is what kappa needs, and cost no training; one target is
trained, so that the demo's rules run too.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from filelock import FileLock

from tests.models.conftest import save_checkpoint
from tests.workflow.checkout import ROOT, Checkout

CONFIG = "config/small.yaml"
FLY = "config/fly.yaml"
MODELS = {
    "letters": {"label": "Letters", "family": "llava", "scoring": "letter"},
    "texts": {"label": "Texts", "family": "internvl", "scoring": "text"},
    "other": {"label": "Other", "family": "idefics3", "scoring": "text"},
    "more": {"label": "More", "family": "idefics3", "scoring": "letter"},
}
TRAINED = {
    "label": "Trained",
    "family": "llava",
    "scoring": "text",
    "train": {
        "hidden": 48,
        "vision_layers": 1,
        "text_layers": 1,
        "patch": 12,
        "steps": 20,
        "batch": 16,
        "learning_rate": 0.01,
        "seed": 1,
    },
}


def small_checkout(folder: Path, checkpoints: Path) -> Checkout:
    """Return a fresh checkout with the small configuration, in which nothing has been run."""
    checkout = Checkout(folder, CONFIG)
    config = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    config |= {
        "name": "small",
        "catalogues": {"sources": "config/small-sources.yaml", "models": "config/small-models.yaml"},
        "sources": ["drawn-text", "shapes"],
        "pool": {"per_task": 3, "total": None},
        "corruptions": {**config["corruptions"], "types": ["gaussian_noise", "shot_noise", "gaussian_blur"]},
        "selectors": ["letters", "texts"],
        "targets": ["other", "trained"],
        "diagnostics": {"random_subset": 3, "option_order": 2},
        "figures": {
            "figure3": {"target": "other"},
            "figure4": {"target": "other", "corruption": "gaussian_blur", "severity": 5},
            "figure5": {"target": "trained", "item": None, "corruptions": None},
        },
        "demo": {"seed": 1, "training_set": {"items_per_category": 8}, "image_encoder": {"steps": 3}},
    }
    sources = {
        "drawn-text": {"label": "Text", "generated": {"groups": 2}, "task_column": "category"},
        "shapes": {"label": "Shapes", "path": "data/shapes.tsv", "task_column": "category"},
    }
    models = {name: {**entry, "path": f"checkpoints/{name}"} for name, entry in MODELS.items()}
    for file, content in (
        (CONFIG, config),
        ("config/small-sources.yaml", sources),
        ("config/small-models.yaml", {**models, "trained": TRAINED}),
    ):
        (folder / file).write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / "checkpoints").symlink_to(checkpoints)
    (folder / "data").mkdir()
    (folder / "data/shapes.tsv").write_bytes((checkpoints / "shapes.tsv").read_bytes())
    return checkout


def made_once(tmp_path_factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that the first of pytest's processes makes, and all of them read."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = root / name
    with FileLock(root / f"{name}.lock"):
        if not folder.exists():
            scratch = root / f"{name}.scratch"
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            make(scratch)
            scratch.rename(folder)
    return folder


def make_checkpoints(folder: Path) -> None:
    from benchc.demo.source import generate_source

    for name, entry in MODELS.items():
        save_checkpoint(folder / name, str(entry["family"]))
    generate_source("drawn-shapes", seed=5, groups=2).write_csv(
        folder / "shapes.tsv", separator="\t", quote_style="always"
    )


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with MODELS and a source; read only."""
    return made_once(tmp_path_factory, "checkpoints", make_checkpoints)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, checkpoints: Path, python: Path) -> Checkout:
    """A checkout in which the small run and FLY, whose jobs generate images, have finished; read only."""

    def make(folder: Path) -> None:
        checkout = small_checkout(folder / "benchc", checkpoints)
        checkout.python = python
        checkout.make(cores=2)
        config = yaml.safe_load((checkout.folder / CONFIG).read_text())
        config |= {"name": "fly", "corruptions": {**config["corruptions"], "corrupted": "on_the_fly"}}
        (checkout.folder / FLY).write_text(yaml.safe_dump(config, sort_keys=False))
        checkout.make("--configfile", FLY, cores=2)

    return Checkout.existing(made_once(tmp_path_factory, "finished", make) / "benchc", CONFIG, python)
