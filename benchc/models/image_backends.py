"""The libraries with which an image processor of transformers resizes. Imports nothing heavy."""

from typing import Literal

ImageBackend = Literal["pil", "torchvision"]
