import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

from benchc.benchmarks.naturalbench.curation.embed import embedded
from benchc.benchmarks.naturalbench.curation.embeddings import read_embeddings
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.pixels import Pixels
from benchc.schemas.parquet import write_table
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.drawn import embeddings_footer


class Colours:
    """Sees an image's mean colour and, as a second query, its complement; counts letters of a text."""

    name = "Colours"

    def __init__(self) -> None:
        self.seen = 0

    def encode_images(self, images: Iterable[Pixels]) -> Iterator[np.ndarray]:
        for image in images:
            self.seen += 1
            mean = image.mean(axis=(0, 1))
            yield np.stack([mean, mean[::-1]]).astype(np.float32)

    def encode_texts(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        for text in texts:
            scale = np.nan if text == "nan" else 1
            yield np.array([scale * text.count(letter) for letter in "abc"], np.float32)

    def is_truncated(self, text: str) -> bool:
        return len(text) > 3


def captions(*rows: tuple[str, str, bytes, str]) -> pl.DataFrame:
    return frame_of(CAPTIONS, ((id_, "set", key, None, *rest, "English") for id_, key, *rest in rows))


def plain(colour: tuple[int, int, int]) -> bytes:
    return encode_png(np.full((2, 3, 3), colour, np.uint8))


ROWS = (
    ("s/1#0", "s://1", plain((30, 40, 0)), "aab"),
    ("s/1#1", "s://1", plain((30, 40, 0)), "cccc"),
    ("s/2#0", "s://2", plain((0, 0, 9)), "b"),
    ("s/2#1", "s://2", plain((0, 0, 9)), "bb"),
)


def test_vectors_have_unit_length_and_an_image_is_encoded_once(tmp_path: Path) -> None:
    encoder = Colours()
    frame, queries = embedded(captions(*ROWS), encoder, "drop")
    assert (queries, encoder.seen) == (2, 2)
    np.testing.assert_allclose(frame["image"].to_list()[0], [0.6, 0.8, 0, 0, 0.8, 0.6], atol=1e-7)
    assert frame["image"].to_list()[1] == frame["image"].to_list()[0]
    texts = [[2 / 5**0.5, 1 / 5**0.5, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]
    np.testing.assert_allclose(frame["text"].to_list(), texts)
    assert frame["truncated"].to_list() == [False, True, False, False]
    path = tmp_path / "e.parquet"
    write_table(frame, path, EMBEDDINGS, embeddings_footer("colours", queries))
    for ids in (frame["id"].to_list(), ["s/1#0", "s/1#1"], ["s/2#0", "s/1#0"]):
        found = read_embeddings(path, ids)
        assert (found.name, found.images.shape) == ("colours", (len(ids), 2, 3))
        wanted = frame.filter(pl.col("id") == ids[0])
        np.testing.assert_array_equal(found.images[0].ravel(), wanted["image"][0].to_numpy())
        np.testing.assert_array_equal(found.texts[0], wanted["text"][0].to_numpy())
    with pytest.raises(InputError, match=r"e\.parquet: has no sample 's/3#0'; delete it"):
        read_embeddings(path, ["s/1#0", "s/3#0"])


@pytest.mark.parametrize(
    ("image", "text", "message"),
    [
        (plain((0, 0, 0)), "a", "Colours gives the image of sample 's/3#0' an embedding of length 0"),
        (plain((1, 1, 1)), "xyz", "Colours gives the caption of sample 's/3#0' an embedding of length 0"),
        (plain((1, 1, 1)), "nan", "the caption of sample 's/3#0' an embedding of length nan"),
        (b"x", "a", r"sample 's/3#0': its image is not as it was .*not a complete image"),
    ],
)
def test_what_has_no_vector_names_its_sample(image: bytes, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        embedded(captions(*ROWS, ("s/3#0", "s://3", image, text)), Colours(), "drop")


def test_transparency_is_as_the_run_reads_it() -> None:
    file = io.BytesIO()
    Image.new("RGBA", (3, 2), (30, 40, 0, 0)).save(file, "PNG")
    sample = captions(("s/1", "s://1", file.getvalue(), "a"))
    drop, white = (embedded(sample, Colours(), alpha)[0]["image"][0][:3] for alpha in ("drop", "white"))
    np.testing.assert_allclose(drop, [0.6, 0.8, 0], atol=1e-7)
    np.testing.assert_allclose(white, [3**-0.5] * 3, atol=1e-7)
