import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.demo.source import generate_source
from benchc.demo.tiny.size import IMAGE_SIDE
from benchc.demo.training_items import generate_training_set, training_groups
from benchc.demo.training_set import TrainingSet, load_training_set, save_training_set, shrink
from benchc.demo.world import SOURCES
from benchc.errors import InputError


@pytest.fixture(scope="module")
def training_set() -> TrainingSet:
    return generate_training_set(training_groups(12), seed=1)


def test_every_category_has_its_share(training_set: TrainingSet) -> None:
    groups = training_groups(40)
    for source, categories in SOURCES.items():
        for category in categories:
            numbers = [n for s, c, n in groups if (s, c) == (source, category)]
            items = sum(len(category.option_sets[n % len(category.option_sets)]) for n in numbers)
            assert 38 <= items <= 52
    assert training_set.images.shape[1:] == (IMAGE_SIDE, IMAGE_SIDE, 3)
    assert len(training_set.item_answer) == len(training_set.item_images) == len(training_set.item_question)


def test_every_image_belongs_to_one_item_and_every_answer_exists(training_set: TrainingSet) -> None:
    rows = training_set.item_images[training_set.item_images >= 0]
    assert sorted(rows) == list(range(len(training_set.images)))
    for question, answer in zip(training_set.item_question, training_set.item_answer, strict=True):
        assert 0 <= answer < len(training_set.questions[question].options)


def test_no_training_image_is_in_the_benchmark_of_the_same_seed() -> None:
    frame = generate_source("drawn-tables", seed=1, groups=4)
    world = {shrink(Image.open(io.BytesIO(base64.b64decode(cell)))).tobytes() for cell in frame["image"]}
    groups = [group for group in training_groups(12) if group[0] == "drawn-tables"]
    training = {image.tobytes() for image in generate_training_set(groups, seed=1).images}
    assert not world & training


def test_the_file_round_trips(training_set: TrainingSet, tmp_path: Path) -> None:
    save_training_set(training_set, tmp_path / "folder" / "set.npz")
    loaded = load_training_set(tmp_path / "folder" / "set.npz")
    assert loaded.questions == training_set.questions
    for name in ("images", "item_images", "item_question", "item_answer"):
        assert np.array_equal(getattr(loaded, name), getattr(training_set, name))
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["set.npz"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "array", "empty", "other keys"])
def test_a_damaged_training_set_is_refused(training_set: TrainingSet, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "set.npz"
    save_training_set(training_set, path)
    content = path.read_bytes()
    middle = len(content) // 2
    if damage == "cut":
        path.write_bytes(content[:middle])
    elif damage == "flipped":
        path.write_bytes(content[:middle] + bytes(100) + content[middle + 100 :])
    elif damage == "array":
        with path.open("wb") as file:
            np.save(file, np.zeros(3))
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        with path.open("wb") as file:
            np.savez(file, images=np.zeros(3))
    with pytest.raises(
        InputError, match=r"set.npz: is not a complete training set; delete it and run snakemake"
    ):
        load_training_set(path)
