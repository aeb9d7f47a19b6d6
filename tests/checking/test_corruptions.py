import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.checking import corruptions, image_time
from benchc.checking.corruptions import check_corruptions
from benchc.checking.image_time import ImageTime
from benchc.config.settings import Corruptions
from benchc.corruptions import apply
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.schemas.pool import POOL
from tests.checking.collected import collected, lines
from tests.corruptions.own_files import written


def items_of(*shapes: tuple[int, int]) -> pl.DataFrame:
    noise = np.random.default_rng(1)
    images = [encode_png(noise.integers(0, 256, (*shape, 3), np.uint8)) for shape in shapes]
    keys = [[f"s/{number}#0"] for number in range(len(images))]
    columns = {"image_keys": keys, "images": [[{"bytes": image, "path": None}] for image in images]}
    return pl.DataFrame(columns, schema_overrides={"images": POOL.columns["images"]})


def chosen(*types: str) -> Corruptions:
    keys = {"suite": "imagenet-c", "engine": "benchc", "corrupted": "files", "alpha": "drop"}
    return Corruptions(**keys, types=list(types), severities=[1, 5])  # type: ignore[arg-type]


TRIED = "of imagenet-c, tried on"
NONE = Corruptions.model_construct(**dict(chosen("pixelate")) | {"types": []})


@pytest.mark.parametrize(
    ("given", "key", "generated", "text"),
    [
        (chosen("pixelate", "brightness"), None, False, f"2 corruptions {TRIED} image 1 of item s/1"),
        (chosen("pixelate"), "s://dog.jpg", False, f"1 corruption {TRIED} the image dog.jpg of s"),
        (chosen("pixelate"), "s://dog.jpg", True, f"1 corruption {TRIED} a generated image"),
        (NONE, None, False, "no corruptions: images are clean"),
    ],
)
def test_all_are_applied_to_the_smallest_image(given, key, generated, text) -> None:
    items = items_of((64, 64), (32, 32))
    if key is not None:
        items = items.tail(1).with_columns(image_keys=pl.Series([[key]]))
    (found,) = check_corruptions(given, 1, items, generated=generated)
    assert (found.level, found.subject, found.text) == ("ok", "all", text)


def test_corruptions_of_own_files_are_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = """
@corruption({"strength": [0.1, 0.2, 0.3, 0.4, 0.5]})
def darken(image, *, strength):
    return np.rint(image * (1 - strength)).astype(np.uint8)
"""
    own_files = [Path(written(tmp_path, code)).name]
    own = chosen("brightness", "darken").model_copy(update={"own_files": own_files})
    assert lines(list(check_corruptions(own, 1, items_of((32, 32))))) == [
        "all: 2 corruptions of imagenet-c and mine.py, tried on image 1 of item s/0"
    ]


def test_a_kernel_whose_library_is_missing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    apply.kernel_functions.cache_clear()
    monkeypatch.setitem(sys.modules, "benchc.corruptions.kernels.digital", None)
    (found,) = check_corruptions(chosen("pixelate", "brightness"), 1, items_of((32, 32)))
    assert (found.level, found.subject) == ("error", "pixelate")
    apply.kernel_functions.cache_clear()


def test_the_time_of_images_is_that_of_the_drawn_items(monkeypatch: pytest.MonkeyPatch) -> None:
    time = ImageTime(1.0, 1.0, 1.0)
    measured: list[dict[str, bytes]] = []

    def time_of_images(chosen: Corruptions, seed: int, images: dict[str, bytes]) -> ImageTime:
        measured.append(images)
        if len(measured) > 2:
            raise InputError("its process was ended; run the check again")
        return time

    monkeypatch.setattr(corruptions, "time_of_images", time_of_images)
    items, drawn = items_of((32, 32), (16, 16)), items_of((48, 48))
    for settings in (chosen("pixelate"), NONE):
        assert collected(check_corruptions(settings, 1, items, drawn=drawn))[1] is time
        assert collected(check_corruptions(settings, 1, items))[1] is None
    assert measured == [image_time.images_of(drawn)] * 2
    (_, found), time_found = collected(check_corruptions(NONE, 1, items, drawn=drawn))
    assert time_found is None and (found.level, found.subject) == ("warning", "all")
    assert found.text == "the time of images was not measured: its process was ended; run the check again"
