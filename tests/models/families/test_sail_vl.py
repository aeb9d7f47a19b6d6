"""Tiles, prompt and row of SAIL-VL; a whole model is in test_remote_code.py."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.models.families.sail_vl import SailVL, grids, nearest_grid, tiles

SIDE = 448


@pytest.mark.parametrize(
    ("size", "most", "grid"),
    [
        ((448, 448), 10, (1, 1)),
        ((896, 448), 10, (2, 1)),
        ((448, 1344), 10, (1, 3)),
        # Of the square grids 1 x 1, 2 x 2 and 3 x 3, the last that the image fills over half of.
        ((1400, 1400), 10, (3, 3)),
        ((900, 900), 10, (2, 2)),
        ((1400, 1400), 4, (2, 2)),
        # 5:1 and 6:1 fit into ten tiles, so that the nearest is chosen by ratio, not by area.
        ((5000, 900), 10, (6, 1)),
        ((5000, 900), 4, (4, 1)),
    ],
)
def test_the_grid_is_that_of_the_nearest_aspect_ratio(size, most, grid):
    assert nearest_grid(size, SIDE, grids(most)) == grid


def test_several_tiles_are_followed_by_a_copy_of_the_whole():
    image = Image.fromarray(np.zeros((448, 896, 3), np.uint8))
    image.paste((255, 0, 0), (0, 0, 448, 448))
    left, right, whole = tiles(image, SIDE, 10, twice=False)
    assert {left.size, right.size, whole.size} == {(SIDE, SIDE)}
    colours = [(SIDE * SIDE, (255, 0, 0))], [(SIDE * SIDE, (0, 0, 0))]
    assert (left.getcolors(), right.getcolors()) == colours
    assert 0 < np.array(whole)[..., 0].mean() < 255
    assert len(tiles(image, SIDE, most=1, twice=False)) == 1
    # All grids are tried, smaller ones first.
    assert grids(5) == [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 4), (2, 2), (4, 1), (1, 5), (5, 1)]


@pytest.mark.parametrize(
    ("size", "most", "count"),
    [
        # 2 x 1, then the nearest of those that do not divide it, which is 4 x 2, and the whole.
        ((896, 448), 10, 2 + 8 + 1),
        ((448, 896), 10, 2 + 8 + 1),
        # 1 x 1 alone has no copy: it comes last, after the nearest other, 2 x 2 or 3 x 3 by area.
        ((448, 448), 10, 4 + 1),
        # The image does not fill more than half of 2 x 2, which is as near as 3 x 1.
        ((896, 448), 4, 2 + 3 + 1),
        # There is no other grid.
        ((896, 448), 1, 1 + 1),
    ],
)
def test_use_msac_adds_a_second_grid(size, most, count):
    assert len(tiles(Image.new("RGB", size), SIDE, most, twice=True)) == count


def test_tiles_are_in_the_order_of_reading_and_the_whole_is_the_last():
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (8, 8, 3), dtype=np.uint8))
    corners = [image.crop((x, y, x + 4, y + 4)).tobytes() for y in (0, 4) for x in (0, 4)]
    whole = image.resize((4, 4)).tobytes()
    assert [tile.tobytes() for tile in tiles(image, 4, 4, twice=False)] == [*corners, whole]
    # The second grid, of those that do not divide 2 x 2, is 3 x 3.
    nine = image.resize((12, 12))
    thirds = [nine.crop((x, y, x + 4, y + 4)).tobytes() for y in (0, 4, 8) for x in (0, 4, 8)]
    assert [tile.tobytes() for tile in tiles(image, 4, 9, twice=True)] == [*corners, *thirds, whole]


class Template:
    """As of conversation.py in the checkpoint."""

    roles = ("<user>", "<assistant>")

    def __init__(self) -> None:
        self.system_message = "another"
        self.turns: list[str] = []

    def copy(self) -> "Template":
        return Template()

    def append_message(self, role: str, text: str | None) -> None:
        self.turns.append(f"{role}{text or ''}")

    def get_prompt(self) -> str:
        return "|".join([self.system_message, *self.turns])


class Words:
    """A tokenizer of words; an image's context is one."""

    def __call__(self, text: str, return_tensors: str) -> dict[str, torch.Tensor]:
        assert return_tensors == "pt"
        marked = text.replace("<IMG_CONTEXT>", " 99 ").replace("<img>", " 1 ").replace("</img>", " 2 ")
        ids = torch.tensor([[int(word) if word.isdigit() else 5 for word in marked.split()]])
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}

    def convert_tokens_to_ids(self, token: str) -> int:
        assert token == "<IMG_CONTEXT>"
        return 99


def model(**settings: Any) -> SailVL:
    config = SimpleNamespace(vision_config=SimpleNamespace(image_size=4))
    network = SimpleNamespace(
        config=config, conv_template=Template(), system_message="system", num_image_token=2
    )
    given = {"use_msac": False, "max_num": 10} | settings
    return SailVL(network, None, {"model": "m"}, settings=given, words=Words())


@pytest.mark.parametrize(
    ("images", "marks"),
    # vlmeval/vlm/sail_vl.py counts from one, and several images alone.
    [(0, ""), (1, "<image>\n"), (2, "Image-1: <image>\nImage-2: <image>\n")],
)
def test_images_are_numbered_where_there_are_several(images, marks):
    assert model().prompt("Which?", images) == f"system|<user>{marks}Which?|<assistant>"


@pytest.mark.parametrize(
    ("settings", "sizes", "counts"),
    [
        ({}, [(8, 4)], [3]),
        ({"max_num": 1}, [(8, 4)], [1]),
        ({"max_num": 40}, [(160, 4)], [41]),
        ({}, [(4, 4), (8, 4)], [1, 3]),
        # The second grid is of one image alone.
        ({"use_msac": True}, [(8, 4)], [11]),
        ({"use_msac": True}, [(8, 4), (8, 4)], [3, 3]),
        # All images of an item have 64 tiles at most: of 33, each has one.
        ({}, [(8, 4)] * 33, [1] * 33),
        ({}, [(8, 4)] * 32, [3] * 32),
        ({"max_num": 40}, [(160, 4)] * 5, [13] * 5),
        ({}, [(8, 4)] * 65, [1] * 65),
    ],
)
def test_each_mark_becomes_the_context_of_the_tiles_of_its_image(settings, sizes, counts):
    images = [Image.new("RGB", size, (number, 0, 0)) for number, size in enumerate(sizes)]
    row = model(**settings).row("Which?", "<image> " * len(images) + "Which?", images)
    assert row["pixel_values"].shape == (sum(counts), 3, 4, 4)
    contexts = [[1, *[99] * (2 * count), 2] for count in counts]
    assert row["input_ids"].tolist() == [[*[token for each in contexts for token in each], 5]]
    assert row["attention_mask"].shape == row["input_ids"].shape
    # In the order of the images, as ImageNet's mean and deviation have them.
    red = (row["pixel_values"][:, 0, 0, 0] * 0.229 + 0.485) * 255
    expected = [float(number) for number, count in enumerate(counts) for _ in range(count)]
    assert red.tolist() == pytest.approx(expected, abs=1e-3)
    green, blue = row["pixel_values"][0, 1:, 0, 0].tolist()
    assert (green, blue) == pytest.approx((-0.456 / 0.224, -0.406 / 0.225), rel=1e-5)
    # It reads no text alone, of which the caller tells by the error of torch.
    with pytest.raises(RuntimeError, match="non-empty"):
        model().row("Which?", "Which?", [])


def test_the_features_of_the_tiles_take_the_places_of_the_context():
    given = {}

    def language(**inputs: Any) -> Any:
        given.update(inputs)
        return SimpleNamespace(logits="logits")

    table = torch.nn.Embedding(101, 4)
    language.get_input_embeddings = lambda: table  # type: ignore[attr-defined]
    sail = model()
    sail.model.language_model = language
    sail.model.extract_feature = lambda pixels: pixels.reshape(2, 1, 4).double()
    batch = {
        "input_ids": torch.tensor([[5, 99, 1], [99, 5, 100]]),
        "attention_mask": torch.ones(2, 3),
        "pixel_values": torch.tensor([[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0]]),
    }
    assert sail.call(batch=batch, last_only=True) == "logits"
    expected = table(batch["input_ids"]).detach().clone()
    expected[0, 1], expected[1, 0] = batch["pixel_values"]
    assert torch.equal(given.pop("inputs_embeds").detach(), expected)
    assert given.pop("attention_mask") is batch["attention_mask"]
    assert given == {"use_cache": False, "return_dict": True}
