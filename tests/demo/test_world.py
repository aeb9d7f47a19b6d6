import ast
import base64
import io
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from benchc.closure import source_closure
from benchc.demo.source import COLUMNS, generate_source
from benchc.demo.world import LARGE_SIDE, SOURCES, generate_group, render_images
from benchc.letters import LETTERS

GROUPS = 21
SHARED = ["question", "hint", *LETTERS[:6], "category", "l2-category"]
EVERY_CATEGORY = [(source, category) for source in SOURCES for category in SOURCES[source]]


def files_of(cell: str) -> list[bytes]:
    texts = ast.literal_eval(cell) if cell.startswith("[") else [cell]
    return [base64.b64decode(text) for text in texts]


def options_of(row: dict[str, str]) -> list[str]:
    return [row[letter] for letter in LETTERS[:6] if row[letter]]


@pytest.fixture(scope="module")
def world() -> dict[str, pl.DataFrame]:
    return {source: generate_source(source, seed=1, groups=GROUPS) for source in SOURCES}


@pytest.fixture(scope="module")
def images(world: dict[str, pl.DataFrame]) -> list[list[Image.Image]]:
    cells = [cell for frame in world.values() for cell in frame["image"]]
    return [[Image.open(io.BytesIO(file)) for file in files_of(cell)] for cell in cells]


def test_the_benchmarks_are_large_and_varied_files_of_the_published_format(world):
    items = pl.concat(world.values())
    assert items.height >= 1200
    assert items["category"].n_unique() >= 12
    assert {len(options_of(row)) for row in items.iter_rows(named=True)} == {2, 3, 4, 5, 6}
    templates = items.group_by("category").agg(pl.col("question").n_unique())
    assert (templates["question"] >= 2).all()
    for frame in world.values():
        assert frame["category"].n_unique() >= 2
        assert tuple(frame.columns) == COLUMNS
        assert set(frame.dtypes) == {pl.String}
        assert frame["index"].to_list() == [str(index) for index in range(frame.height)]
        assert frame.null_count().sum_horizontal().item() == 0


def test_images_vary_in_size_mode_format_and_number(images):
    sizes = [image.size for item in images for image in item]
    ordinary = [size for size in sizes if max(size) < LARGE_SIDE]
    assert min(min(size) for size in ordinary) >= 48
    assert max(max(size) for size in ordinary) <= 256
    assert len(set(ordinary)) > 100
    assert 0.002 < 1 - len(ordinary) / len(sizes) < 0.03
    assert {image.mode for item in images for image in item} == {"L", "RGB", "RGBA"}
    assert {image.format for item in images for image in item} == {"PNG", "JPEG"}
    assert {len(item) for item in images} == {1, 2}


def test_without_images_accuracy_is_at_chance(world, images):
    """Any function of the text and the image sizes is right for 1 of the K items of a group."""
    rows = pl.concat(world.values()).to_dicts()
    seen: dict[str, Counter[str]] = {}
    position = 0
    while position < len(rows):
        options = options_of(rows[position])
        group = rows[position : position + len(options)]
        sizes = [[image.size for image in item] for item in images[position : position + len(options)]]
        assert all(size == sizes[0] for size in sizes)
        assert all(row[column] == group[0][column] for row in group for column in SHARED)
        assert sorted(row["answer"] for row in group) == list(LETTERS[: len(options)])
        seen.setdefault(group[0]["category"], Counter())[str(len(options))] += 1
        position += len(options)
    assert all(sum(counter.values()) == GROUPS for counter in seen.values())


@given(seed=st.integers(0, 2**40), number=st.integers(0, 10**6), place=st.sampled_from(EVERY_CATEGORY))
@settings(max_examples=100)
def test_any_group_is_balanced_and_in_the_canonical_order(seed, number, place):
    source, category = place
    group = generate_group(source, category, number, seed)
    assert group == generate_group(source, category, number, seed)
    assert sorted(group.answers) == list(range(len(group.options)))
    assert group.options in category.option_sets
    assert len(set(group.options)) == len(group.options)
    assert "{" not in group.question


def test_seeds_positions_and_size_decide_the_images():
    small, large = (generate_source("drawn-charts", seed=5, groups=groups) for groups in (2, 3))
    shared = large.join(small, on=small.columns[1:], how="semi")
    assert shared.height == small.height < large.height
    assert generate_source("drawn-charts", seed=5, groups=2).equals(small)
    images = pl.concat(generate_source("drawn-shapes", seed=seed, groups=3) for seed in (1, 2))["image"]
    assert images.n_unique() == len(images)
    with pytest.raises(ValueError, match=r"'drawn-cats' is not a source of the demo; choose one of drawn"):
        generate_source("drawn-cats", seed=1, groups=1)


@pytest.mark.parametrize(("source", "category"), EVERY_CATEGORY, ids=lambda v: getattr(v, "name", v))
def test_the_answers_of_a_group_have_different_images(source, category):
    group = generate_group(source, category, 4, 1)
    rendered = [render_images(source, category, 4, i, group, 1) for i in range(len(group.answers))]
    assert len({tuple(image.tobytes() for image in item) for item in rendered}) == len(group.answers)
    assert all(image.mode == group.mode for item in rendered for image in item)
    assert all(tuple(image.size for image in item) == group.sizes for item in rendered)


def test_generating_a_benchmark_imports_no_models():
    closure = source_closure(["benchc/demo/source.py"], Path(__file__).parents[2])
    assert "benchc/letters.py" in closure
    assert [file for file in closure if file.startswith("benchc/models/")] == []
