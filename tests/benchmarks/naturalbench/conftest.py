"""A small run of NaturalBench on the real pipeline: drawings become groups, which two models answer."""

import csv
from pathlib import Path

import pytest
import yaml

from benchc.benchmarks.naturalbench.demo.captioned import captioned_images
from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.conftest import checkpoints, made_once, small_checkout  # noqa: F401  (fixture)

CONFIG = "config/groups.yaml"
REVIEWS = "reviews/groups"


def groups_checkout(folder: Path, checkpoints: Path) -> Checkout:  # noqa: F811
    """Return a fresh checkout with the small configuration, in which nothing has been run."""
    checkout = small_checkout(folder, checkpoints)
    config = yaml.safe_load((ROOT / "config/demo-naturalbench.yaml").read_text())
    curate = config["curate"]
    curate["captions"]["drawings"]["count"] = 30
    curate["captions"]["drawings-zh"]["count"] = 12
    curate["mine"] |= {"pairs": 8, "random_pairs": 2}
    curate["review"]["folder"] = "results/groups/curate/reviews"
    config |= {
        "name": "groups",
        "catalogues": {"sources": "config/small-sources.yaml", "models": "config/small-models.yaml"},
        "sources": ["curated"],
        "prompt": {**config["prompt"], "max_new_tokens": 4},
        "corruptions": {**config["corruptions"], "types": ["gaussian_noise"], "severities": [1, 5]},
        "models": ["texts", "trained"],
        "fine_tuning": {"models": ["trained"], "epochs": 1, "lora": {"rank": 2, "alpha": 4}},
        "blind": {"sources": ["drawn-text", "drawn-shapes"], "items": 5},
        "tables": {"bootstrap": {"draws": 100, "rank_draws": 100, "seed": 0}},
        "demo": {"seed": 1, "training_set": {"items_per_category": 8}, "image_encoder": {"steps": 3}},
    }
    sources = {
        "curated": {
            "label": "Curated",
            "path": "results/groups/curate/groups.tsv",
            "task_column": "category",
        },
        "drawn-text": {"label": "Text", "generated": {"groups": 2}, "task_column": "category"},
        "drawn-shapes": {"label": "Shapes", "generated": {"groups": 2}, "task_column": "category"},
    }
    (folder / "config/small-sources.yaml").write_text(yaml.safe_dump(sources, sort_keys=False))
    (folder / CONFIG).write_text(yaml.safe_dump(config, sort_keys=False))
    return Checkout.existing(folder, CONFIG, checkout.python)


def own_captions(checkout: Checkout) -> dict[str, dict[str, str]]:
    """Write images and their captions as files of the user; return their entry in the configuration."""
    photos = checkout.folder / "photos"
    photos.mkdir()
    rows = [("image", "caption")]
    for name, picture in captioned_images(30, 3).items():
        assert picture.image is not None
        (photos / name).write_bytes(picture.image)
        rows.append((name, picture.captions[0].text))
    with (checkout.folder / "captions.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    entry = {"label": "Own", "form": "csv", "file": "captions.csv", "images": "photos", "language": "English"}
    return {"own": entry}


@pytest.fixture(scope="session")
def finished_groups(tmp_path_factory: pytest.TempPathFactory, checkpoints: Path, python: Path) -> Checkout:  # noqa: F811
    """A checkout in which the small run has finished; read only."""

    def make(folder: Path) -> None:
        checkout = groups_checkout(folder / "benchc", checkpoints)
        checkout.python = python
        checkout.make(cores=2)

    return Checkout.existing(made_once(tmp_path_factory, "groups", make) / "benchc", CONFIG, python)
