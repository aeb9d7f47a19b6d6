"""Images of the page: from files and made by the job, shared by items, assigned, withheld and chosen."""

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.images import encode_png
from benchc.models.asking import ShownImages
from benchc.rendering.results_page.pictures import picture_name
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SampleFooter
from scripts.corrupt import corrupt
from scripts.page_images import page_images

LEVELS, SEED = [1, 3], 7
GROUPS = {"gaussian_noise": "noise", "gaussian_blur": "blur", "contrast": "digital"}
# p/2 and p/3 have two images each and share one, as p/3 and p/4; p/0 and p/1 share their only one.
KEYS = {
    "p/0": ["p://x"],
    "p/1": ["p://x"],
    "p/2": ["p/2#0", "p://y"],
    "p/3": ["p://y", "p://z"],
    "p/4": ["p://z"],
    "c/5": ["c/5#0"],
}
ALL = [*dict.fromkeys(key for own in KEYS.values() for key in own)]


def picture(key: str) -> np.ndarray:
    side = 20 + len(key)  # small, so that WebP keeps the pixels
    return np.random.default_rng(sum(key.encode())).integers(0, 256, (side, 24, 3), np.uint8)


def recipe(name: str) -> Recipe:
    whole = recipe_of(name)
    return whole if name == CLEAN else replace(whole, parameters={at: whole.parameters[at] for at in LEVELS})


RECIPES = {name: recipe(name) for name in (CLEAN, *GROUPS)}


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder with the pool, the items that are shown (all but p/9), and an assignment."""
    keys = {**KEYS, "p/9": ["p://w"]}
    columns: dict[str, object] = {
        "id": [*keys],
        "source": [id_.partition("/")[0] for id_ in keys],
        "task": ["t"] * len(keys),
        "question": ["?"] * len(keys),
        "images": [
            [{"bytes": encode_png(picture(key)), "path": None} for key in own] for own in keys.values()
        ],
        "image_keys": [*keys.values()],
    }
    absent = {name: pl.lit(None, dtype) for name, dtype in POOL.columns.items() if name not in columns}
    frame = pl.DataFrame(columns, schema={name: POOL.columns[name] for name in columns})
    write_table(frame.with_columns(**absent).select(*POOL.columns), tmp_path / "pool.parquet", POOL)
    chosen = pl.DataFrame({"id": [*KEYS], "sample": [*KEYS]})
    write_table(chosen, tmp_path / "chosen.parquet", PAGE_ITEMS, SampleFooter(candidates=7))
    cells = [
        *(("p/0", "gaussian_noise", 1), ("p/1", "gaussian_noise", 3), ("p/2", "gaussian_noise", 1)),
        *(("p/3", "gaussian_noise", 3), ("p/4", "gaussian_blur", 1), ("p/9", "contrast", 1)),
    ]
    assigned = pl.DataFrame(cells, schema=dict(ASSIGNMENT.columns), orient="row")
    write_table(assigned, tmp_path / "assignment.parquet", ASSIGNMENT)
    return tmp_path


def written(run: Path, name: str, stored: bool = False, **changes: Any) -> Path:
    """Write the images, from files where ``stored``, and return their folder."""
    files: tuple[Path, ...] = ()
    if stored:
        for each, of in RECIPES.items():
            corrupt(
                pool=run / "pool.parquet",
                assignment=changes.get("assignment"),
                recipe=of,
                seed=SEED,
                output=run / f"corrupted/{each}.parquet",
            )
        files = tuple(run / f"corrupted/{each}.parquet" for each in RECIPES)
    page_images(
        chosen=run / "chosen.parquet",
        pool=run / "pool.parquet",
        corrupted=files,
        images=ShownImages(recipes=RECIPES, seed=SEED),
        groups=GROUPS,
        longest_side=480,
        threads=2,
        output=run / name,
        **changes,
    )
    return run / name


def listed(folder: Path) -> Any:
    found = re.fullmatch(r'benchcData\("images", (.*)\);\n', (folder / "images.js").read_text())
    assert found is not None
    return json.loads(found[1])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def frames(folder: Path, key: str, name: str) -> np.ndarray:
    """Return the frames of a strip, uint8[frames, H, W, 3]."""
    path = folder / f"{picture_name(key)}_{name}.webp"
    pixels = np.array(Image.open(io.BytesIO(path.read_bytes())).convert("RGB"))
    return pixels.reshape(-1, *picture(key).shape)


def corrupted(key: str, name: str, level: int) -> np.ndarray:
    return variants_of_image(key, encode_png(picture(key)), RECIPES[name], [level], SEED, "drop")[level]


def test_each_image_is_written_once_with_its_clean_one_first(run: Path) -> None:
    folder = written(run, "fly")
    assert listed(folder) == {
        "corruptions": [*GROUPS],
        "strips": {picture_name(key): dict.fromkeys(GROUPS, LEVELS) for key in ALL},
        "withheld": [],
        "shown": "redistributable",
    }
    assert len(contents(folder)) == 1 + len(ALL) * len(GROUPS)
    for key in ("p://x", "p://y", "p://z"):
        found = frames(folder, key, "gaussian_noise")
        np.testing.assert_array_equal(found[0], picture(key))
        for place, level in enumerate(LEVELS, start=1):
            np.testing.assert_array_equal(found[place], corrupted(key, "gaussian_noise", level))


@pytest.mark.parametrize("assigned", [False, True])
def test_files_and_jobs_that_make_images_give_the_same_bytes(run: Path, assigned: bool) -> None:
    changes = {"assignment": run / "assignment.parquet"} if assigned else {}
    fly, files = written(run, "fly", **changes), written(run, "files", stored=True, **changes)
    assert contents(fly) == contents(files) and len(contents(fly)) > len(ALL)


def test_an_assigned_image_has_the_severities_of_all_its_items_and_no_others(run: Path) -> None:
    folder = written(run, "images", assignment=run / "assignment.parquet")
    noise = {"p://x": [1, 3], "p/2#0": [1], "p://y": [1, 3], "p://z": [3]}
    expected = {picture_name(key): {"gaussian_noise": levels} for key, levels in noise.items()}
    expected[picture_name("p://z")]["gaussian_blur"] = [1]
    # Without a corruption, an image is there alone.
    expected[picture_name("c/5#0")] = {"clean": []}
    assert listed(folder)["strips"] == expected
    assert len(frames(folder, "p://z", "gaussian_noise")) == 2 and len(frames(folder, "c/5#0", CLEAN)) == 1
    assert len(contents(folder)) == 1 + 6
    np.testing.assert_array_equal(
        frames(folder, "p://z", "gaussian_noise")[1], corrupted("p://z", "gaussian_noise", 3)
    )


def test_images_of_withheld_sources_are_left_out(run: Path) -> None:
    folder = written(run, "images", withheld=("p",))
    assert {*listed(folder)["strips"]} == {picture_name("c/5#0")} and listed(folder)["withheld"] == ["p"]
    nothing = written(run, "nothing", withheld=("p", "c"))
    assert listed(nothing)["strips"] == {} and [*contents(nothing)] == ["images.js"]


@pytest.mark.parametrize("stored", [False, True])
def test_the_corruptions_given_are_shown(run: Path, stored: bool) -> None:
    folder = written(run, "images", stored, corruptions=["gaussian_blur"])
    assert listed(folder)["corruptions"] == ["gaussian_blur"]
    assert {*map(tuple, listed(folder)["strips"].values())} == {("gaussian_blur",)}


def test_a_run_without_corruptions_shows_clean_images(run: Path) -> None:
    page_images(
        chosen=run / "chosen.parquet",
        pool=run / "pool.parquet",
        images=ShownImages(recipes={CLEAN: RECIPES[CLEAN]}, seed=SEED),
        groups={},
        longest_side=480,
        output=run / "images",
    )
    assert listed(run / "images")["strips"] == {picture_name(key): {"clean": []} for key in ALL}
    np.testing.assert_array_equal(frames(run / "images", "p://y", CLEAN)[0], picture("p://y"))
