from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from PIL import Image

from benchc.demo.tiny import vilt
from benchc.demo.tiny.positions import set_positions
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import IMAGE_SIDE, TinySize
from benchc.demo.tiny.steps import pixels_of
from benchc.demo.tiny.vilt import build, closed_list, extend_positions
from benchc.demo.training_items import generate_training_set
from benchc.demo.training_set import TrainingSet, save_training_set, shrink
from benchc.demo.world import SOURCES
from benchc.errors import InputError
from benchc.models.classify import Classifier
from benchc.models.predict import load_classifying
from benchc.models.protocol import CheckpointSource
from benchc.models.question import Question, bare_prompt
from scripts.train_demo_model import train_demo_model

ROOT = Path(__file__).resolve().parents[2]
FILES = {"config.json", "model.safetensors"}
FILES |= {"processor_config.json", "tokenizer.json", "tokenizer_config.json"}
SIZE = {"hidden": 48, "vision_layers": 1, "text_layers": 1, "patch": 8}
TRAINING = {"text_share": 0.5, "steps": 40, "batch": 12, "learning_rate": 0.01, "noise": 0.0}
HINTED = Question("Which colour is the door?", ("red", "blue"), "The picture shows a house.")


@pytest.fixture(scope="module")
def training_set() -> TrainingSet:
    """Items with one image and, of one category, with two."""
    names = {"shape colour", "small detail", "more balls"}
    groups = [(s, c, n) for s in SOURCES for c in SOURCES[s] if c.name in names for n in range(10)]
    return generate_training_set(groups, seed=1)


@pytest.fixture(scope="module")
def trained(training_set: TrainingSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the script wrote."""
    folder = tmp_path_factory.mktemp("vilt")
    save_training_set(training_set, folder / "set.npz")
    train(folder / "set.npz", folder / "tiny")
    return folder / "tiny"


def train(file: Path, folder: Path, family: str = "vilt", scoring: str = "classify", seed: int = 3) -> None:
    threads = torch.get_num_threads()
    training = TrainingSettings(scoring=scoring, seed=seed, **TRAINING)  # type: ignore[arg-type]
    given = {"training_set": file, "family": family, "size": TinySize(**SIZE), "training": training}
    try:
        train_demo_model(**given, folder=folder)  # type: ignore[arg-type]
    finally:
        torch.set_num_threads(threads)


def test_training_lowers_the_loss_and_never_shows_two_images(training_set, monkeypatch):
    shown: list[int] = []

    def recorded(training_set: TrainingSet, items: Any, *rest: Any) -> torch.Tensor:
        shown.extend((training_set.item_images[items] >= 0).sum(axis=1))
        return pixels_of(training_set, items, *rest)

    monkeypatch.setattr(vilt, "pixels_of", recorded)
    torch.manual_seed(1)
    size = TinySize(**SIZE, image_side=IMAGE_SIDE)
    answers = closed_list(training_set)
    assert answers == ["blue", "green", "orange", "purple", "red", "yellow"]  # to one image
    model, processor = build(training_set.questions, answers, size)
    set_positions(model, IMAGE_SIDE // size.patch)
    settings = TrainingSettings("text", 0.5, steps=120, batch=12, learning_rate=0.01, noise=0.2, seed=3)
    losses = vilt.train(model, processor, training_set, settings)
    assert np.mean(losses[-10:]) < 0.7 * np.mean(losses[:10])
    assert set(shown) == {1}


def test_the_saved_model_is_loaded_and_answers_from_its_list(trained):
    assert {path.name for path in trained.iterdir()} == FILES
    model = load_classifying(CheckpointSource(str(trained), family="vilt"), "vilt")
    assert isinstance(model, Classifier)
    image = np.random.default_rng(1).integers(0, 256, (75, 60, 3), dtype=np.uint8)
    (reply,) = model.replies(HINTED, [[image]])
    assert reply.text in model.chat.labels
    # The pixels and tokens of the training.
    inputs = model.encode(HINTED, [[image]]).inputs
    pixels = inputs["pixel_values"][0].permute(1, 2, 0).numpy()
    assert np.abs((pixels + 1) * 127.5 - shrink(Image.fromarray(image))).max() < 1
    tokenizer = model.chat.tokenizer
    assert inputs["input_ids"][0].tolist() == tokenizer(bare_prompt(HINTED))["input_ids"]
    assert inputs["input_ids"][0, 0] == tokenizer.bos_token_id


def test_long_questions_and_photographs_of_any_usual_shape_are_answered(trained):
    classifier = load_classifying(CheckpointSource(str(trained)), "vilt")
    long = Question("Is there a person to the left of the very small traffic light? " * 4, ())
    for question in (Question("What is it?", ()), long):
        for width, height in ((640, 358), (358, 640), (640, 480), (900, 310), (48, 64)):
            images = [[np.full((height, width, 3), grey, np.uint8)] for grey in (0, 200)]
            replies = classifier.replies(question, images)
            assert {reply.text for reply in replies} <= set(classifier.chat.labels)


def test_the_same_arguments_give_the_same_weights(trained, tmp_path):
    train(trained.parent / "set.npz", tmp_path / "tiny")
    train(trained.parent / "set.npz", tmp_path / "other", seed=4)
    folders = (trained, tmp_path / "tiny", tmp_path / "other")
    first, same, other = ((folder / "model.safetensors").read_bytes() for folder in folders)
    assert first == same != other


@pytest.mark.parametrize(("family", "scoring"), [("vilt", "text"), ("llava", "classify")])
def test_a_family_is_trained_only_as_it_answers(family, scoring, tmp_path):
    message = f"--family {family} is not trained for --training.scoring {scoring}"
    with pytest.raises(InputError, match=message):
        train(tmp_path / "none.npz", tmp_path / "tiny", family=family, scoring=scoring)


def test_the_catalogue_has_the_number_of_parameters(every_kind):
    entry = yaml.safe_load((ROOT / "config/demo-models.yaml").read_text())["tiny-vilt"]
    names = ("hidden", "vision_layers", "text_layers", "patch")
    size = TinySize(*(entry["train"][name] for name in names), IMAGE_SIDE)
    with torch.device("meta"):
        model, _ = build(every_kind.questions, closed_list(every_kind), size)
        extend_positions(model)
    counted = sum(parameter.numel() for parameter in model.parameters())
    assert entry["parameters_b"] == pytest.approx(counted / 1e9, rel=0.02)
