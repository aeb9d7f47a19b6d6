import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.demo.source import generate_source
from benchc.demo.tiny.size import IMAGE_SIDE
from benchc.demo.training_items import training_groups
from benchc.demo.training_set import TrainingSet, load_training_set, save_training_set, shrink
from benchc.demo.world import SOURCES
from benchc.errors import InputError


def test_every_category_has_its_share(every_kind: TrainingSet) -> None:
    groups = training_groups(40)
    for source, categories in SOURCES.items():
        for category in categories:
            numbers = [n for s, c, n in groups if (s, c) == (source, category)]
            items = sum(len(category.option_sets[n % len(category.option_sets)]) for n in numbers)
            assert 38 <= items <= 52
    assert every_kind.images.shape[1:] == (IMAGE_SIDE, IMAGE_SIDE, 3)
    assert len(every_kind.item_answer) == len(every_kind.item_images) == len(every_kind.item_question)


def test_every_image_belongs_to_one_item_of_no_benchmark_and_every_answer_exists(every_kind):
    rows = every_kind.item_images[every_kind.item_images >= 0]
    assert sorted(rows) == list(range(len(every_kind.images)))
    for question, answer in zip(every_kind.item_question, every_kind.item_answer, strict=True):
        assert 0 <= answer < len(every_kind.questions[question].options)
    frame = generate_source("drawn-tables", seed=1, groups=4)
    world = {shrink(Image.open(io.BytesIO(base64.b64decode(cell)))).tobytes() for cell in frame["image"]}
    assert not world & {image.tobytes() for image in every_kind.images}


def test_the_file_round_trips(every_kind: TrainingSet, tmp_path: Path) -> None:
    save_training_set(every_kind, tmp_path / "folder" / "set.npz")
    loaded = load_training_set(tmp_path / "folder" / "set.npz")
    assert loaded.questions == every_kind.questions
    for name in ("images", "item_images", "item_question", "item_answer"):
        assert np.array_equal(getattr(loaded, name), getattr(every_kind, name))
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["set.npz"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "array", "empty", "other keys"])
def test_a_damaged_training_set_is_refused(every_kind: TrainingSet, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "set.npz"
    save_training_set(every_kind, path)
    content = path.read_bytes()
    middle = len(content) // 2
    cut, flipped = content[:middle], content[:middle] + bytes(100) + content[middle + 100 :]
    path.write_bytes({"cut": cut, "flipped": flipped}.get(damage, b""))
    if damage in ("array", "other keys"):
        with path.open("wb") as file:
            np.save(file, np.zeros(3)) if damage == "array" else np.savez(file, images=np.zeros(3))
    message = r"set.npz: is not a complete training set; delete it and run snakemake"
    with pytest.raises(InputError, match=message):
        load_training_set(path)
