"""A run evaluates a model with an adapter: its files and settings rerun the inference of that model alone."""

import os
from pathlib import Path

import polars as pl
import pytest
import yaml

from tests.models.test_adapter import base_model, matrices, write_adapter
from tests.workflow.checkout import Checkout
from tests.workflow.conftest import small_checkout

ADAPTED, OTHER = (f"results/small/predictions/pool/{model}/all.parquet" for model in ("letters", "more"))


@pytest.fixture
def checkout(checkpoints: Path, tmp_path: Path, python: Path) -> Checkout:
    """The small run, in which the model ``letters`` has an adapter."""
    found = small_checkout(tmp_path / "benchc", checkpoints)
    found.python = python
    found.configure(
        corruptions={"corrupted": "on_the_fly", "types": ["gaussian_blur"]},
        sources=["shapes"],
        selectors=["letters", "more"],
    )
    write_adapter(found.folder / "lora", matrices(base_model(checkpoints / "letters")))
    set_adapter(found, "lora")
    return found


def set_adapter(checkout: Checkout, adapter: str | None) -> None:
    path = checkout.folder / "config/small-models.yaml"
    models = yaml.safe_load(path.read_text())
    models["letters"]["adapter"] = adapter
    path.write_text(yaml.safe_dump(models, sort_keys=False))


def test_an_adapter_reruns_the_inference_of_its_model_alone(checkout: Checkout) -> None:
    checkout.make(ADAPTED, OTHER)
    adapted = pl.read_parquet(checkout.folder / ADAPTED)
    footer = pl.read_parquet_metadata(checkout.folder / ADAPTED)
    assert '"adapter": "lora"' in str(footer) or '"adapter":"lora"' in str(footer)
    assert checkout.plan(ADAPTED, OTHER) == {}
    set_adapter(checkout, str(checkout.folder / "lora"))
    assert checkout.plan(ADAPTED, OTHER) == {}
    # Another content, of a file that is older.
    config = checkout.folder / "lora/adapter_config.json"
    before = config.read_text()
    config.write_text(before.replace('"lora_alpha": 8', '"lora_alpha": 4'))
    os.utime(config, (1, 1))
    assert checkout.plan(ADAPTED, OTHER) == {"infer": 1}
    checkout.make(ADAPTED)
    changed = pl.read_parquet(checkout.folder / ADAPTED)
    config.write_text(before)
    set_adapter(checkout, None)
    assert checkout.plan(ADAPTED, OTHER) == {"infer": 1}
    checkout.make(ADAPTED)
    plain = pl.read_parquet(checkout.folder / ADAPTED)
    logits = [each["logits"].to_list() for each in (adapted, changed, plain)]
    assert logits[0] != logits[1] != logits[2] != logits[0]
    # An adapter on the Hub is downloaded first, and only for this model.
    set_adapter(checkout, "owner/lora")
    assert checkout.plan(ADAPTED, OTHER) == {"fetch_adapter": 1, "infer": 1}
    shown = checkout.snakemake("-n", "-p", ADAPTED).stdout
    assert "--repo=owner/lora --adapter=true" in shown
    assert "--job.adapter-file=results/small/revisions/adapters/letters.json" in shown
    set_adapter(checkout, "../nowhere")
    assert "letters.adapter is" in checkout.snakemake("-n", ADAPTED, check=False).stdout
