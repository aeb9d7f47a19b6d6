import base64
import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchc.demo.source import draw_source
from benchc.demo.training_items import draw_training_set, training_groups
from benchc.demo.training_set import PICTURE_SIDE, TrainingSet, load_training_set, save_training_set, shrink
from benchc.demo.world import SOURCES


@pytest.fixture(scope="module")
def drawn() -> TrainingSet:
    return draw_training_set(training_groups(12), seed=1)


def test_every_category_has_its_share(drawn: TrainingSet) -> None:
    groups = training_groups(40)
    for source, categories in SOURCES.items():
        for category in categories:
            numbers = [n for s, c, n in groups if (s, c) == (source, category)]
            items = sum(len(category.option_sets[n % len(category.option_sets)]) for n in numbers)
            assert 38 <= items <= 52
    assert drawn.pictures.shape[1:] == (PICTURE_SIDE, PICTURE_SIDE, 3)
    assert len(drawn.item_answer) == len(drawn.item_pictures) == len(drawn.item_question)


def test_every_picture_belongs_to_one_item_and_every_answer_exists(drawn: TrainingSet) -> None:
    rows = drawn.item_pictures[drawn.item_pictures >= 0]
    assert sorted(rows) == list(range(len(drawn.pictures)))
    for question, answer in zip(drawn.item_question, drawn.item_answer, strict=True):
        assert 0 <= answer < len(drawn.questions[question].options)


def test_it_repeats_no_picture_of_the_world_with_its_seed() -> None:
    frame = draw_source("drawn-tables", seed=1, groups=4)
    world = {shrink(Image.open(io.BytesIO(base64.b64decode(cell)))).tobytes() for cell in frame["image"]}
    groups = [group for group in training_groups(12) if group[0] == "drawn-tables"]
    training = {picture.tobytes() for picture in draw_training_set(groups, seed=1).pictures}
    assert not world & training


def test_it_comes_back_from_its_file(drawn: TrainingSet, tmp_path: Path) -> None:
    save_training_set(drawn, tmp_path / "folder" / "set.npz")
    loaded = load_training_set(tmp_path / "folder" / "set.npz")
    assert loaded.questions == drawn.questions
    for name in ("pictures", "item_pictures", "item_question", "item_answer"):
        assert np.array_equal(getattr(loaded, name), getattr(drawn, name))
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["set.npz"]
