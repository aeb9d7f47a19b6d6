"""SAIL-VL-1.6-8B: remote code of its checkpoint; tiles of the images as in its model card.

The upstream call, of open-compass/VLMEvalKit at 62b56ba829d869e724200e362fb49aab9e0dc81a,
vlmeval/vlm/sail_vl.py::

    pixel_values = load_image_msac(image_path, max_num=10, input_size=self.image_size)  # one image, use_msac
    # Of several: load_image of each, and 'Image-1: <image>\\nImage-2: <image>\\n' + text.
    prompt = '<image>\\n' + text
    response = self.model.chat(self.tokenizer, pixel_values=pixel_values, num_patches_list=...,
                               question=prompt, ...)

``chat`` makes the prompt with ``conv_template`` and ``system_message``, puts ``num_image_token`` tokens
``<IMG_CONTEXT>`` per tile between ``<img>`` and ``</img>``, and calls ``generate``, which replaces their
embeddings by ``extract_feature(pixel_values)`` and calls ``language_model`` (modeling_sailvl.py in
earl-juanico/rca at 7fb4cd93dc6704e2d3a6d7580a9886a1cfa331ac, SAIL-VL-1d6-8B/SAIL-VL-1d6-8B, a copy of the
checkpoint's). ``forward`` of the checkpoint is for training: it needs torch.distributed. No method of the
checkpoint tiles an image; its README.md there does, as InternVL2 does, and :func:`tiles` follows it and
``load_image_msac``.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.protocol import CheckpointSource
from benchc.models.remote_code import Batch, RemoteCodeModel, remote_code, require_parameters

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # those of ImageNet
TILES_OF_ALL_IMAGES = 64

Grid = tuple[int, int]  # columns and rows of tiles


@dataclass
class SailVL(RemoteCodeModel):
    """A loaded SAIL-VL."""

    words: Any = None

    @property
    def tokenizer(self) -> Any:
        return self.words

    def language_head(self) -> Any:
        return self.model.language_model.get_output_embeddings()

    def facts(self) -> dict[str, str]:
        return super().facts() | {"attention": str(self.model.config.llm_config._attn_implementation)}

    def prompt(self, text: str, images: int) -> str:
        several = "".join(f"Image-{number + 1}: <image>\n" for number in range(images))
        template = self.model.conv_template.copy()
        template.system_message = self.model.system_message
        template.append_message(template.roles[0], ("<image>\n" if images == 1 else several) + text)
        template.append_message(template.roles[1], None)
        rendered: str = template.get_prompt()
        return rendered

    def row(self, text: str, rendered: str, images: list[Image.Image]) -> Batch:
        side = self.model.config.vision_config.image_size
        most = max(1, min(self.settings["max_num"], TILES_OF_ALL_IMAGES // max(1, len(images))))
        twice = self.settings["use_msac"] and len(images) == 1
        pixels = [[_normalised(tile) for tile in tiles(image, side, most, twice=twice)] for image in images]
        query = rendered
        for image in pixels:
            context = "<IMG_CONTEXT>" * (self.model.num_image_token * len(image))
            query = query.replace("<image>", f"<img>{context}</img>", 1)
        row = self.tokenizer(query, return_tensors="pt")
        return {
            "input_ids": row["input_ids"],
            "attention_mask": row["attention_mask"],
            "pixel_values": torch.stack([tile for image in pixels for tile in image]),
        }

    def call(self, batch: Batch, *, last_only: bool) -> torch.Tensor:
        language = self.model.language_model
        ids = batch["input_ids"]
        embeddings = language.get_input_embeddings()(ids).clone()
        context = self.tokenizer.convert_tokens_to_ids("<IMG_CONTEXT>")
        features = self.model.extract_feature(batch["pixel_values"])
        embeddings[ids == context] = features.reshape(-1, embeddings.shape[-1]).to(embeddings.dtype)
        logits: torch.Tensor = language(
            inputs_embeds=embeddings,
            attention_mask=batch["attention_mask"],
            use_cache=False,
            return_dict=True,
        ).logits
        return logits


def tiles(image: Image.Image, side: int, most: int, *, twice: bool) -> list[Image.Image]:
    """Return an image as square tiles of ``side`` pixels, and of several tiles a small copy of the whole.

    The grid of at most ``most`` tiles is that whose aspect ratio is nearest. ``twice``: before the copy,
    also the tiles of the nearest grid of which the first is no multiple (``use_msac``).
    """
    first = nearest_grid(image.size, side, grids(most))
    found = _cut(image, side, first)
    if len(found) > 1:
        found.append(image.resize((side, side)))
    if not twice:
        return found
    others = [grid for grid in grids(most) if first[0] % grid[0] or first[1] % grid[1]]
    return [*found[:-1], *_cut(image, side, nearest_grid(image.size, side, others)), found[-1]]


def grids(most: int) -> list[Grid]:
    """Return all grids of 1 to ``most`` tiles, smaller ones first."""
    sizes = range(1, most + 1)
    # The order of equal products is that of a set in the model card, where it is arbitrary.
    found = {(columns, rows) for columns in sizes for rows in sizes if columns * rows <= most}
    return sorted(sorted(found), key=lambda grid: grid[0] * grid[1])


def nearest_grid(size: tuple[int, int], side: int, candidates: list[Grid]) -> Grid:
    """Return the grid with the nearest aspect ratio; of equals, a later one of which the image fills half."""
    width, height = size
    best, least = (1, 1), float("inf")
    for columns, rows in candidates:
        difference = abs(width / height - columns / rows)
        if difference < least:
            best, least = (columns, rows), difference
        elif difference == least and width * height > 0.5 * side * side * columns * rows:
            best = (columns, rows)
    return best


def _cut(image: Image.Image, side: int, grid: Grid) -> list[Image.Image]:
    columns, rows = grid
    resized = image.resize((side * columns, side * rows))
    return [
        resized.crop((column * side, row * side, (column + 1) * side, (row + 1) * side))
        for row in range(rows)
        for column in range(columns)
    ]


def _normalised(tile: Image.Image) -> torch.Tensor:
    pixels = torch.from_numpy(np.array(tile)).permute(2, 0, 1).float() / 255
    return (pixels - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]


def load(source: CheckpointSource) -> SailVL:
    """Load a checkpoint of the family."""
    with remote_code(source) as found:
        settings = found.settings(use_msac=True, max_num=10)
        words = transformers.AutoTokenizer.from_pretrained(source.location, use_fast=False, **found.options)
        config = transformers.AutoConfig.from_pretrained(source.location, **found.options)
        # The checkpoint asks for flash attention, which its code cannot do without once it is asked for.
        config.llm_config._attn_implementation = "sdpa"
        model = found.model("AutoModel", config=config)
        require_parameters(source.location, model.extract_feature, "pixel_values")
        return SailVL.of(found, model, words, settings=settings, words=words)
