"""Image processors of transformers with the same pixel values, in less time.

An 8-bit value has 256 results of rescaling and normalisation, so that a table replaces several passes over
floating-point numbers; and images are resized by :mod:`benchc.models.pil_resize`. Both give the bits of the
processor's own code, which is verified on images when a processor is loaded.
"""

import copy
import importlib
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.pil_resize import FILTERS, agrees_with_pillow, resize

PilBackend = importlib.import_module("transformers.image_processing_backends").PilBackend
_FIRST = transformers.image_utils.ChannelDimension.FIRST

# Width and height of the images that are compared: wide, tall, smaller and larger than what models read.
_PROBES = ((97, 61), (40, 90), (640, 480))
# Results of the 256 values of three channels, by scale, mean and standard deviation: not among the attributes
# of a processor, which are its settings.
_TABLES: dict[tuple[object, ...], Any] = {}


def accelerated(image_processor: Any) -> Any:
    """Return an image processor with the same values in less time, or itself where there is none.

    It is itself with another backend than PIL, and where one value of its images would differ.
    """
    kind = type(image_processor)
    if not isinstance(image_processor, PilBackend) or not agrees_with_pillow():
        return image_processor
    fast = copy.copy(image_processor)
    # Methods of its own class come first; those that it inherits, or calls as those of super(), are replaced.
    fast.__class__ = type(kind.__name__, (kind, _FastPil), {"__module__": kind.__module__})
    return fast if gives_equal_values(image_processor, fast) else image_processor


class _Rescaled(np.ndarray):
    """An image uint8[3, H, W] whose values stand for themselves times ``scale``."""

    scale: float

    def __array_finalize__(self, source: Any) -> None:
        self.scale = getattr(source, "scale", 1.0)


class _FastPil(PilBackend):  # type: ignore[misc,valid-type]
    """The methods of the PIL backend that take most of the time."""

    def __call__(self, images: Any, *more: Any, **options: Any) -> Any:
        if options.get("do_normalize") in (None, self.do_normalize):
            return super().__call__(images, *more, **options)
        # Rescaling would leave its work to a normalisation that is not called.
        plain = copy.copy(self)
        plain.__class__ = type(self).__bases__[0]
        return plain(images, *more, **options)

    def resize(
        self, image: Any, size: Any, resample: Any = None, reducing_gap: Any = None, **more: Any
    ) -> Any:
        if not _is_rgb(image) or resample not in FILTERS or reducing_gap is not None:
            return super().resize(image, size, resample=resample, reducing_gap=reducing_gap, **more)
        if size.shortest_edge and not size.longest_edge:
            target = transformers.image_transforms.get_resize_output_image_size(
                image, size=size.shortest_edge, default_to_square=False, input_data_format=_FIRST
            )
        elif size.shortest_edge or size.longest_edge or size.max_height or not (size.height and size.width):
            return super().resize(image, size, resample=resample, **more)
        else:
            target = size.height, size.width
        height, width = target
        return resize(_rows(image), width, height, resample).transpose(2, 0, 1)

    def rescale(self, image: Any, scale: float, **more: Any) -> Any:
        if not _is_rgb(image) or not self.do_normalize:
            return super().rescale(image, scale, **more)
        later = image.view(_Rescaled)
        later.scale = scale
        return later

    def normalize(self, image: Any, mean: Any, std: Any, **more: Any) -> Any:
        if not isinstance(image, _Rescaled):
            return super().normalize(image, mean, std, **more)
        key = image.scale, *(tuple(np.ravel(values).tolist()) for values in (mean, std))
        if key not in _TABLES:
            values = np.broadcast_to(np.arange(256, dtype=np.uint8), (3, 1, 256))
            results = super().normalize(super().rescale(values, image.scale), mean, std, **more)
            _TABLES[key] = _rows(results)  # [1, 256, 3]
        return cv2.LUT(_rows(image.view(np.ndarray)), _TABLES[key]).transpose(2, 0, 1)


def _is_rgb(image: Any) -> bool:
    return isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.shape[:-2] == (3,)


def _rows(image: Any) -> Any:
    """Return an image [3, H, W] as contiguous [H, W, 3]."""
    return np.ascontiguousarray(image.transpose(1, 2, 0))


def gives_equal_values(image_processor: Any, other: Any) -> bool:
    """Return whether two processors give equal values for noise, also for all 8-bit values.

    They do not where one takes no such images, and where what they return cannot be compared.
    """
    generator = np.random.default_rng(0)
    for width, height in _PROBES:
        image = Image.fromarray(generator.integers(0, 256, (height, width, 3), dtype=np.uint8))
        try:
            expected = image_processor([image], return_tensors="pt")
        except Exception:  # takes no single images, or other sizes; the job's own call says why
            return False
        try:
            found = other([image], return_tensors="pt")
        except Exception:  # does what an image that is not yet rescaled does not support
            return False
        if not isinstance(expected, Mapping) or not isinstance(found, Mapping):  # as that of IDEFICS
            return False
        if expected.keys() != found.keys() or not all(_same(expected[key], found[key]) for key in expected):
            return False
    return True


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return value.dtype == other.dtype and torch.equal(value, other)
    return bool(value == other)
