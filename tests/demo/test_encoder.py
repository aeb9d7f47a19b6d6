import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch

from benchc.demo import encoder as demo_encoder
from benchc.demo.encoder import TrainedEncoder, captioned_images, save_encoder, train_encoder
from benchc.demo.training_set import TrainingSet
from benchc.errors import InputError
from benchc.models.encoders.encoders import load_image_encoder
from benchc.models.question import Question
from benchc.pixels import Pixels

SIDE = 24
COLOURS = {"red": (200, 30, 30), "green": (30, 180, 30), "blue": (40, 60, 220), "white": (240, 240, 240)}
PLACES = {"top left": (0, 0), "top right": (0, 12), "bottom left": (12, 0), "bottom right": (12, 12)}


def world(count: int, seed: int) -> tuple[np.ndarray, list[str]]:
    """Squares of four colours in four corners on noise: 16 captions."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 90, (count, SIDE, SIDE, 3), np.uint8)
    captions = []
    for image in images:
        colour, place = rng.choice(list(COLOURS)), rng.choice(list(PLACES))
        y, x = np.add(PLACES[place], rng.integers(0, 4, 2))
        image[y : y + 8, x : x + 8] = COLOURS[colour]
        captions.append(f"{colour}, {place}. What is where?")
    return images, captions


@pytest.fixture(scope="module")
def encoder() -> TrainedEncoder:
    torch.set_num_threads(1)
    images, captions = world(600, seed=1)
    return train_encoder(images, captions, steps=60, seed=5, batch=48)


@pytest.fixture(scope="module")
def folder(encoder: TrainedEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("encoder") / "model"
    save_encoder(encoder, path)
    return path


def test_held_out_images_find_their_captions(encoder: TrainedEncoder, folder: Path) -> None:
    import open_clip

    images, captions = world(160, seed=2)
    texts = sorted(set(captions))
    assert len(texts) == 16
    pixels = torch.from_numpy(images[:5]).permute(0, 3, 1, 2) / 127.5 - 1
    with torch.inference_mode():
        text = encoder.model.encode_text(open_clip.SimpleTokenizer(context_length=24)(texts), normalize=True)
        expected = encoder.model.encode_image(pixels).numpy()
    image = np.stack(list(load_image_encoder(str(folder)).encode(images)))
    # The saved model gives the vectors of the trained one.
    np.testing.assert_allclose(image[:5], expected, atol=1e-4)
    nearest = (image @ text.numpy().T).argmax(axis=1)
    right = np.mean([texts[index] == caption for index, caption in zip(nearest, captions, strict=True)])
    assert right > 0.5  # chance is 1 of 16


def test_images_of_any_size_have_vectors_that_do_not_depend_on_their_neighbours(folder: Path) -> None:
    rng = np.random.default_rng(0)
    images: list[Pixels] = [
        rng.integers(0, 256, (int(height), int(width), 3), np.uint8)
        for height, width in rng.integers(1, 90, (40, 2))
    ]
    encode = load_image_encoder(str(folder)).encode
    together = np.stack(list(encode(images)))
    assert together.shape == (40, 64)
    np.testing.assert_array_equal(together, np.stack(list(encode(images))))
    np.testing.assert_allclose(together, np.stack(list(encode(images[::-1])))[::-1], atol=1e-5)
    np.testing.assert_allclose(together[33], next(encode(images[33:34])), atol=1e-5)


def test_training_is_reproducible_and_keeps_torchs_random_state(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    images, captions = world(60, seed=1)
    hashes = []
    for run, seed in enumerate((5, 5, 6)):
        torch.manual_seed(run)
        state = torch.get_rng_state()
        save_encoder(train_encoder(images, captions, steps=3, seed=seed, batch=16), tmp_path / str(run))
        assert torch.equal(torch.get_rng_state(), state)
        data = (tmp_path / str(run) / "open_clip_model.safetensors").read_bytes()
        hashes.append(hashlib.sha256(data).hexdigest())
    assert hashes[0] == hashes[1] != hashes[2]


def test_every_image_of_an_item_is_captioned_with_its_answer_and_question() -> None:
    pixels = np.arange(3, dtype=np.uint8)[:, None, None, None] * np.ones((1, 6, 6, 3), np.uint8)
    items = {"item_images": [[2, -1], [0, 1]], "item_question": [1, 0], "item_answer": [0, 1]}
    questions = (Question("Same?", ("yes", "no")), Question("Which colour?", ("red", "blue")))
    given = {name: np.array(values) for name, values in items.items()}
    training_set = TrainingSet(images=pixels, **given, questions=questions)
    images, captions = captioned_images(training_set)
    assert images[:, 0, 0, 0].tolist() == [2, 0, 1]
    assert captions == ["red. Which colour?", "no. Same?", "no. Same?"]


@pytest.mark.parametrize(
    ("error", "message", "given"),
    [
        (ValueError, "16 images need as many captions, not 15", {"captions": slice(15)}),
        (InputError, r"has 16 images, but a batch has 32; increase `demo.training_set", {"batch": 32}),
        (ValueError, r"uint8\[16, 24, 20, 3\]", {"width": 20}),
        (InputError, "2 steps are too few", {"steps": 2}),
    ],
)
def test_arguments_that_do_not_match_are_refused(error, message, given) -> None:
    images, captions = world(16, seed=1)
    images, captions = images[:, :, : given.pop("width", SIDE)], captions[given.pop("captions", slice(None))]
    with pytest.raises(error, match=message):
        train_encoder(images, captions, **{"steps": 3, "seed": 0, "batch": 8} | given)


@pytest.mark.parametrize("steps", [3, 10, 11])
def test_any_number_of_steps_from_three_trains(steps: int) -> None:
    train_encoder(*world(16, seed=1), steps=steps, seed=0, batch=8)


def test_a_loss_that_is_not_finite_stops_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_encoder, "LEARNING_RATE", float("inf"))
    message = "train the image encoder: the loss of step 2 is nan; change the seed"
    with pytest.raises(InputError, match=message):
        train_encoder(*world(16, seed=1), steps=5, seed=0, batch=8)
