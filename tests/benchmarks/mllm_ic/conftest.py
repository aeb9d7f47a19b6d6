"""A small run of MLLM-IC on the real pipeline: a corruption of each category, two kinds of models."""

from pathlib import Path

import pytest
import yaml

from tests.workflow.checkout import ROOT, Checkout
from tests.workflow.conftest import checkpoints, made_once, small_checkout  # noqa: F401  (fixtures)

CONFIG, CATEGORIES = "config/scenarios.yaml", "config/scenarios.csv"
TYPES = ["brightness", "rotate", "gaussian_blur", "sharpen", "cutout", "average_pooling"]
TYPES += ["fog", "jigsaw", "gaussian_noise"]
MAP = """source,category,capability,reason
drawn-text,word reading,text_recognition,
drawn-text,digit reading,ocr,
drawn-text,ink colour,image_style,
shapes,shape colour,instance_attribute,
shapes,shape kind,instance_identity,
shapes,size comparison,,left out by the test
shapes,rotation,spatial_relation,
"""


def scenarios_checkout(folder: Path, checkpoints: Path) -> Checkout:  # noqa: F811
    """Return a fresh checkout with the small configuration, in which nothing has been run."""
    checkout = small_checkout(folder, checkpoints)
    config = yaml.safe_load((ROOT / "config/demo-mllm-ic.yaml").read_text())
    config |= {
        "name": "scenarios",
        "catalogues": {"sources": "config/small-sources.yaml", "models": "config/small-models.yaml"},
        "sources": ["drawn-text", "shapes"],
        "pool": {"per_task": 2, "total": None},
        "corruptions": {**config["corruptions"], "types": TYPES, "corrupted": "on_the_fly"},
        "capabilities": {"categories": CATEGORIES},
        "models": ["letters", "words"],
        "hierarchy": {"images": "data/cifar-10-python.tar.gz", "weights": "data/wrn-40-2.pt"},  # not there
        "figures": {"figure5": {"types": ["fog", "gaussian_noise"]}},
        "tables": {"bootstrap": {"draws": 100, "seed": 0}},
        "demo": {"seed": 1, "training_set": {"items_per_category": 8}},
    }
    words = {"label": "Words", "family": "llava", "scoring": "generate", "max_new_tokens": 2}
    models = yaml.safe_load((folder / "config/small-models.yaml").read_text())
    models["words"] = {**words, "path": "checkpoints/letters"}
    for file, content in ((CONFIG, config), ("config/small-models.yaml", models)):
        (folder / file).write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / CATEGORIES).write_text(MAP)
    return Checkout.existing(folder, CONFIG, checkout.python)


@pytest.fixture(scope="session")
def finished_scenarios(
    tmp_path_factory: pytest.TempPathFactory,
    checkpoints: Path,  # noqa: F811
    python: Path,
) -> Checkout:
    """A checkout in which the small run has finished; read only."""

    def make(folder: Path) -> None:
        checkout = scenarios_checkout(folder / "benchc", checkpoints)
        checkout.python = python
        checkout.make(cores=2)

    return Checkout.existing(made_once(tmp_path_factory, "scenarios", make) / "benchc", CONFIG, python)
