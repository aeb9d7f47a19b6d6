"""The minimal benchmark, added as CONTRIBUTING.md describes: planned, and run to its table."""

import pytest
import yaml

from tests.workflow.checkout import ROOT, Checkout

SETTINGS = '''
from typing import Literal

from pydantic import Field

from benchc.config.settings import RunSettings


class Settings(RunSettings):
    """A run of the smallest benchmark."""

    MODEL_KEYS = ("models",)

    benchmark: Literal["my-bench"]
    models: list[str] = Field(min_length=1)
'''
WORKFLOW = """
from typing import cast

from benchc.benchmarks.my_bench.settings import Settings
from benchc.config.load import Config
from benchc.rendering.declaration import Output, page, table
from benchc.workflow.run import Benchmark
from benchc.workflow.run import Run


class Workflow(Benchmark):
    def __init__(self, config: Config) -> None:
        settings = cast(Settings, config.settings)
        self.subsets = {"pool": None}
        self.measured = settings.models

    def outputs(self, run: Run) -> list[Output]:
        pool = "<results>/pool/items.parquet"
        predictions = [
            f"<results>/predictions/pool/{model}/{part}.parquet"
            for model in self.measured
            for part in run.images.batches
        ]
        return [
            table("sizes", "sizes", inputs={"pool": pool}, settings={"least": 1}, caption="**Sizes**"),
            table("predicted", "predictions", inputs={"predictions": predictions}, caption="Predictions."),
            page("greeting", "greeting", inputs={"pool": pool}, caption="A page."),
        ]
"""
GREETING = """
from pathlib import Path


def greeting(pool: Path) -> str:
    return f"<!DOCTYPE html><title>{pool.name}</title>"
"""
TABLES = {
    "sizes": """
from typing import Annotated

import polars as pl

from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.schemas.pool import POOL


def sizes(pool: Annotated[pl.DataFrame, parquet(POOL, "id", "task")], least: int) -> Table:
    counts = pool.group_by("task").len("items").filter(pl.col("items") >= least).sort("task")
    columns = [Column("task", "Task"), Column("items", "Items")]
    return printed(counts.cast({"items": pl.Int64}), columns, caption="Sizes.", label="sizes")
""",
    "predicted": """
from pathlib import Path

import polars as pl

from benchc.rendering.output import Table


def predicted(predictions: list[Path]) -> Table:
    return Table(pl.DataFrame({"files": [len(predictions)]}), "x", "x")
""",
}


@pytest.fixture
def checkout(tmp_path, python) -> Checkout:
    checkout = Checkout(tmp_path / "benchc", "config/my-bench.yaml")
    checkout.python = python
    folder = checkout.folder / "benchc/benchmarks/my_bench"
    for kind in ("tables", "pages"):
        (folder / kind).mkdir(parents=True)
    for file, text in {
        **{"__init__.py": "", "report.rst": "My benchmark.\n", "settings.py": SETTINGS},
        "workflow.py": WORKFLOW,
        **{"tables/__init__.py": "", **{f"tables/{name}.py": text for name, text in TABLES.items()}},
        **{"pages/__init__.py": "", "pages/greeting.py": GREETING},
    }.items():
        (folder / file).write_text(text)
    (checkout.folder / "rules/my_bench.smk").write_text("")
    demo = yaml.safe_load((ROOT / "config/demo.yaml").read_text())
    shared = ("seed", "catalogues", "pool", "corruptions", "inference")
    config = {"benchmark": "my-bench", "name": "mine", **{key: demo[key] for key in shared}}
    config |= {"sources": ["drawn-text"], "models": ["tiny-llava-s"]}
    config["demo"] = {key: demo["demo"][key] for key in ("seed", "training_set")}
    config["corruptions"] |= {"types": ["fog", "snow"]}
    (checkout.folder / checkout.config).write_text(yaml.safe_dump(config, sort_keys=False))
    return checkout


def test_a_new_benchmark_is_planned_and_run(checkout):
    made = dict.fromkeys(
        ("generate_demo_source", "read_source", "pool", "generate_training_set", "train_demo_model"), 1
    )
    outputs = dict.fromkeys(
        ("infer", "sizes", "predicted", "greeting", "contact_sheet", "configuration", "describe_models"), 1
    )
    assert checkout.plan() == {**made, **outputs, "corrupt": 3}
    checkout.configure(corruptions={"corrupted": "on_the_fly"})
    assert checkout.plan() == {**made, **outputs}
    checkout.make("sizes", "greeting", cores=1)
    assert "| Task" in (checkout.folder / "results/mine/tables/sizes.md").read_text()
    page = checkout.folder / "results/mine/pages/greeting.html"
    assert page.read_text() == "<!DOCTYPE html><title>items.parquet</title>"
    assert checkout.plan("sizes", "greeting") == {}
    checkout.edit("benchc/benchmarks/my_bench/pages/greeting.py", "pool.name", "pool.stem")
    assert checkout.plan("sizes", "greeting") == {"greeting": 1}


@pytest.mark.parametrize("name", ["subsets", "measured"])
def test_an_incomplete_benchmark_is_refused(checkout, name):
    checkout.edit("benchc/benchmarks/my_bench/workflow.py", f"self.{name} =", f"self.other_{name} =")
    result = checkout.snakemake("-n", check=False)
    assert result.returncode != 0
    expected = f"benchc/benchmarks/my_bench/workflow.py does not define {name}; CONTRIBUTING.md describes it"
    assert expected in " ".join(result.stdout.split())
