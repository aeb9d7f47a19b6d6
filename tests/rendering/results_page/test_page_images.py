"""The images of the results page, from a small pool."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.suites.imagenet_c import IMAGENET_C
from benchc.corruptions.variants import variants_of_image
from benchc.images import encode_png
from benchc.models.asking import ShownImages
from benchc.rendering.results_page.pictures import picture_name
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.footer import ImageFooter
from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL, PoolFooter
from benchc.schemas.subset import SampleFooter
from scripts.page_images import page_images

SEED = 5
PICTURES = {
    key: np.random.default_rng(number).integers(0, 256, (40, 60, 3), np.uint8)
    for number, key in enumerate("kmn")
}


def recipes(*names: str) -> dict[str, Recipe]:
    found = {name: recipe_of(name, IMAGENET_C, "benchc", True) for name in names}
    return {CLEAN: recipe_of(CLEAN, IMAGENET_C, "benchc", True), **found}


def run(
    folder: Path, keys: Mapping[str, Sequence[str]], *names: str, **changes: object
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Write the page's images, and return what images.js lists, and each strip by its name."""
    files = {key: {"bytes": encode_png(picture), "path": None} for key, picture in PICTURES.items()}
    rows = {
        "id": [*keys],
        "source": [id_.partition("/")[0] for id_ in keys],
        "task": ["t"] * len(keys),
        "question": ["?"] * len(keys),
        "hint": [None] * len(keys),
        "options": [["a", "b"]] * len(keys),
        "answer": [0] * len(keys),
        "category": [None] * len(keys),
        "l2_category": [None] * len(keys),
        "images": [[files[key] for key in own] for own in keys.values()],
        "image_keys": [[f"s://{key}" for key in own] for own in keys.values()],
    }
    pool, chosen = folder / "items.parquet", folder / "chosen.parquet"
    write_table(pl.DataFrame(rows, schema=dict(POOL.columns)), pool, POOL, PoolFooter(cap=None))
    items = pl.DataFrame({"id": [*keys], "sample": [*keys]})
    write_table(items, chosen, PAGE_ITEMS, SampleFooter(candidates=len(keys)))
    given = {"longest_side": 480, "groups": dict.fromkeys(names, "group")} | changes
    images = ShownImages(recipes=recipes(*names), seed=SEED)
    page_images(chosen=chosen, pool=pool, images=images, output=folder / "images", **given)  # type: ignore[arg-type]
    text = (folder / "images/images.js").read_text()
    strips = {path.stem: np.array(Image.open(path)) for path in (folder / "images").glob("*.webp")}
    return json.loads(text[text.index("{") : text.rindex("}") + 1]), strips


def expected(key: str, name: str, levels: Sequence[int]) -> np.ndarray:
    recipe = recipes(name)[name]
    found = variants_of_image(f"s://{key}", encode_png(PICTURES[key]), recipe, levels, SEED, "drop")
    return np.concatenate([PICTURES[key], *(found[level] for level in levels)])


def test_a_strip_has_the_clean_image_above_its_severities(tmp_path: Path) -> None:
    listed, strips = run(tmp_path, {"s/0": "k", "s/1": "m"}, "fog", "gaussian_noise")
    assert listed["strips"] == {
        picture_name(f"s://{key}"): {"fog": [1, 2, 3, 4, 5], "gaussian_noise": [1, 2, 3, 4, 5]}
        for key in "km"
    }
    assert len(strips) == 4
    for key in "km":
        for name in ("fog", "gaussian_noise"):
            found = strips[f"{picture_name(f's://{key}')}_{name}"]
            np.testing.assert_array_equal(found, expected(key, name, [1, 2, 3, 4, 5]))


def test_items_that_share_one_of_several_images(tmp_path: Path) -> None:
    listed, strips = run(tmp_path, {"s/0": "km", "s/1": "m", "s/2": "nm"}, "fog")
    assert len(strips) == len(listed["strips"]) == 3
    for key in "kmn":
        np.testing.assert_array_equal(
            strips[f"{picture_name(f's://{key}')}_fog"], expected(key, "fog", [1, 2, 3, 4, 5])
        )


def test_assigned_severities_are_those_of_all_items_with_the_image(tmp_path: Path) -> None:
    rows = [("s/0", "fog", 1), ("s/1", "fog", 3), ("s/2", "snow", 2)]
    assignment = tmp_path / "assignment.parquet"
    frame = pl.DataFrame(rows, schema=dict(ASSIGNMENT.columns), orient="row")
    write_table(frame, assignment, ASSIGNMENT, ImageFooter(pool="x"))
    keys = {"s/0": "k", "s/1": "k", "s/2": "m", "s/3": "n"}
    listed, strips = run(tmp_path, keys, "fog", "snow", assignment=assignment)
    names = {key: picture_name(f"s://{key}") for key in "kmn"}
    assert listed["strips"] == {
        names["k"]: {"fog": [1, 3]},
        names["m"]: {"snow": [2]},
        names["n"]: {"clean": []},
    }
    np.testing.assert_array_equal(strips[f"{names['k']}_fog"], expected("k", "fog", [1, 3]))
    # An image under no corruption is there alone.
    np.testing.assert_array_equal(strips[f"{names['n']}_clean"], PICTURES["n"])


def test_without_corruptions_and_without_withheld_sources(tmp_path: Path) -> None:
    listed, strips = run(tmp_path, {"s/0": "k", "t/0": "m"}, withheld=("t",), shown="redistributable")
    assert [*strips] == [f"{picture_name('s://k')}_clean"]
    assert listed == {
        "corruptions": [],
        "strips": {picture_name("s://k"): {"clean": []}},
        "withheld": ["t"],
        "shown": "redistributable",
    }


@pytest.mark.parametrize("chosen", [["snow"], None])
def test_chosen_corruptions_are_shown(tmp_path: Path, chosen: list[str] | None) -> None:
    listed, strips = run(tmp_path, {"s/0": "k"}, "fog", "snow", corruptions=chosen)
    assert listed["corruptions"] == (chosen or ["fog", "snow"])
    assert len(strips) == len(chosen or ["fog", "snow"])
