"""Which images are shown, in which order: those of the units of the same pool."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.corruptions.recipe import clean_recipe
from benchc.corruptions.registry import recipe_of
from benchc.images import decode, pixel_hash
from benchc.models.asking import ShownImages
from benchc.models.shown_images import shown_images
from benchc.models.units import Recipes
from tests.models import test_units
from tests.models.test_units import RECIPE, SHOWN, hashes, write_pool


@pytest.mark.parametrize(("alpha", "seed"), [(None, 5), ("white", 0)])
def test_the_first_image_of_each_item_is_shown_clean_and_under_its_corruptions(
    tmp_path, alpha, seed, monkeypatch
):
    def transparent(key: str) -> bytes:
        file, noise = io.BytesIO(), np.random.default_rng(sum(key.encode()))
        Image.fromarray(noise.integers(0, 256, (36, 40, 4), np.uint8), "RGBA").save(file, "PNG")
        return file.getvalue()

    monkeypatch.setattr(test_units, "png", transparent)
    pool: Path = tmp_path / "pool.parquet"
    write_pool(pool, ["a", "b"])
    recipes = {each.name: each for each in (clean_recipe(), RECIPE)}
    cells = [("p/4", RECIPE.name, 2), ("p/4", RECIPE.name, 1), ("p/5", RECIPE.name, 3)]
    table = pl.DataFrame(cells, schema=["id", "corruption", "severity"], orient="row")
    found = shown_images(pool, table, [], ShownImages(recipes=recipes, seed=seed, alpha=alpha))
    as_usual = alpha or "drop"
    made = hashes(tmp_path, Recipes([RECIPE], seed=seed, alpha=as_usual))
    clean = {id_: pixel_hash([decode(transparent(SHOWN[id_][0]), as_usual)]) for id_ in ("p/4", "p/5")}
    assert [(id_, name, level, pixel_hash([pixels])) for id_, name, level, pixels in found] == [
        *((id_, "clean", 0, own) for id_, own in clean.items()),
        *(
            (id_, RECIPE.name, level, made[id_][level][0])
            for id_, level in (("p/4", 1), ("p/4", 2), ("p/5", 3))
        ),
    ]


def test_one_corruption_is_shown_after_the_other_and_clean_images_first(tmp_path):
    write_pool(tmp_path / "pool.parquet", ["a", "b"])
    names = ["pixelate", "gaussian_noise", "contrast", "brightness"]
    cells = [(id_, name, 1) for name in names for id_ in ("p/5", "p/6")]
    table = pl.DataFrame(cells, schema=["id", "corruption", "severity"], orient="row")
    images = ShownImages(
        recipes={each.name: each for each in (clean_recipe(), *map(recipe_of, names))}, seed=5
    )
    found = [(id_, name) for id_, name, *_ in shown_images(tmp_path / "pool.parquet", table, [], images)]
    assert found == [(id_, name) for name in ("clean", *names) for id_ in ("p/5", "p/6")]
