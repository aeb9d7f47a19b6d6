"""A run of released pairs imports the corrupted images, and corrupts none."""

import base64
from pathlib import Path

import polars as pl
import pytest

from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import read_footer, write_table
from tests.benchmarks.r_bench.test_rb_asking import CONFIG
from tests.corruptions.test_imported import picture
from tests.workflow.checkout import Checkout

TARGETS = [f"results/trial/corrupted/{name}.parquet" for name in ("clean", "jpeg", "lens_shaking")]
SOURCE = "s: {label: S, path: s.tsv, task_column: category}"
# In place of the benchmark's rules, so that the cells are those of the test.
ASSIGN = """
rule assign:
    input:
        "cells.parquet",
    output:
        "<results>/pool/assignment.parquet",
    shell:
        "cp {input} {output}"
"""


def write_pairs(path: Path, *cells: tuple[str, str, int]) -> None:
    # The photograph has another size than the item's own image.
    sizes = {"jpeg": (6, 9), "lens_shaking": (8, 9)}
    rows = [(*cell, {"bytes": picture(5, *sizes[cell[1]]), "path": None}) for cell in cells]
    write_table(
        pl.DataFrame(rows, schema=pl.Schema(IMPORTED_IMAGES.columns), orient="row"), path, IMPORTED_IMAGES
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    checkout = Checkout(tmp_path, "config/trial.yaml")
    (tmp_path / "sources.yaml").write_text(SOURCE)
    (tmp_path / "rules/r_bench.smk").write_text(ASSIGN)
    text = CONFIG.replace("models.yaml", "config/demo-models.yaml").replace(
        "tasks: {drawn-charts: cap}\n", ""
    )
    (tmp_path / checkout.config).write_text(text)
    checkout.configure(
        sources=["s"],
        pairs="released",
        released="pairs.parquet",
        models=["tiny-llava-s"],
        corruptions={"types": ["jpeg", "lens_shaking"]},
    )
    image = base64.b64encode(picture(5)).decode()
    rows = [(number, image, "Which?", "red", "blue", "A", "mcq") for number in (1, 2, 3)]
    columns = ["index", "image", "question", "A", "B", "answer", "category"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    frame.write_csv(tmp_path / "s.tsv", separator="\t")
    return checkout


def test_images_are_imported_and_made_again_if_the_file_changes(checkout: Checkout) -> None:
    cells = [("s/1", "jpeg", 1), ("s/3", "lens_shaking", 3)]
    table = pl.DataFrame(cells, schema=pl.Schema(ASSIGNMENT.columns), orient="row")
    write_table(table, checkout.folder / "cells.parquet", ASSIGNMENT)
    write_pairs(checkout.folder / "pairs.parquet", *cells)
    checkout.make(*TARGETS)
    clean, jpeg, shaking = (checkout.folder / target for target in TARGETS)
    assert read_footer(clean)["recipe"]["kernel"] is None and "imported" not in read_footer(clean)
    assert read_footer(jpeg)["recipe"]["imported"] and read_footer(shaking)["imported"]
    assert pl.read_parquet(jpeg)["image_key", "severity"].rows() == [("s/1#0", 1)]
    log = checkout.folder / "logs/trial/import_images/lens_shaking.log"
    assert "lens_shaking: 1 photograph of another size than the item's own image" in log.read_text()
    assert checkout.plan(*TARGETS) == {}
    write_pairs(checkout.folder / "pairs.parquet", *cells, ("s/2", "jpeg", 1))
    assert checkout.plan(*TARGETS) == {"import_images": 2}
