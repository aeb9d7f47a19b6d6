"""A small run with pictures, of which the cube explorer is made."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.mllm_ic.pages.cube_explorer import cube_explorer
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import recipe_of
from benchc.images import encode_png
from benchc.models.asking import ShownImages
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, LEVELS, items_of, run_of, write_run
from tests.corruptions.photos import PHOTOS, photo
from tests.stages import call_stage

HOSTILE = '</script><script>document.title = "taken"</script><b>&amp;'


def images_of(corruptions: Sequence[str]) -> ShownImages:
    recipes = {name: recipe_of(name, "mllm-ic") for name in corruptions}
    return ShownImages(recipes={"clean": Recipe("clean")} | recipes, seed=5, alpha="drop")


def write_explored(
    folder: Path,
    capabilities: Sequence[str] | None,
    corruptions: Sequence[str],
    models: dict[str, float],
    sides: tuple[int, int] = (60, 80),
    images: bool = True,
) -> RunOutcomes:
    """Write pool, capabilities and, with ``images``, samples of a run of random outcomes; return it."""
    run = run_of(models, items_of(capabilities, questions=4), corruptions)
    pool = [
        {
            **{"id": row["id"], "source": "made", "task": "t", "question": f"{HOSTILE} {row['id']}?"},
            **{"hint": None, "options": ["red", HOSTILE], "answer": number % 2},
            **{"category": None, "l2_category": None, "image_keys": [row["picture"]]},
            "images": [{"bytes": picture_of(row["picture"], sides), "path": None}],
        }
        for number, row in enumerate(run.items.iter_rows(named=True))
    ]
    write_table(pl.DataFrame(pool, schema=dict(POOL.columns)), folder / "items.parquet", POOL)
    write_run(folder, run)
    if not images:
        return run
    files = {"pool": folder / "items.parquet", "capabilities": folder / "capabilities.parquet"}
    output = folder / "samples.parquet"
    call_stage(
        "mllm_ic.choose_samples", **files, images=images_of(corruptions), number=2, seed=0, output=output
    )
    return run


def page_of(folder: Path, run: RunOutcomes, labels: dict[str, str], draws: int = 20) -> str:
    """Return the page of a run that :func:`write_explored` has written."""
    categories = {name: CATEGORIES[name] for name in run.corruptions}
    samples, pool = folder / "samples.parquet", folder / "items.parquet"
    return cube_explorer(run, samples, pool, labels, categories, LEVELS, draws, 0)


def picture_of(key: str, sides: tuple[int, int] = (60, 80)) -> bytes:
    return encode_png(photo(PHOTOS[sum(map(ord, key)) % len(PHOTOS)], *sides))
