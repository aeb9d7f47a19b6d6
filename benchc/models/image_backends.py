"""The libraries with which an image processor of transformers resizes. Imports nothing heavy."""

from typing import Literal, get_args

ImageBackend = Literal["pil", "torchvision"]

IMAGE_BACKENDS: tuple[str, ...] = get_args(ImageBackend)
