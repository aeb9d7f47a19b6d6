import hashlib
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from benchc.images import ImageError, decode, encode_png
from benchc.sources.error import SourceError
from benchc.sources.item_images import image_facts, image_of, pixel_digest

CHANNELS = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4}
# Few values and sizes, so that many images are equal.
SIZES = st.sampled_from([(1, 1), (1, 2), (2, 1)])


@st.composite
def stored_images(draw: st.DrawFn) -> tuple[tuple[str, tuple[int, ...], bytes], bytes]:
    """Return what an image file stores (mode, shape and values), and the file, in one of several formats."""
    size, mode = draw(SIZES), draw(st.sampled_from([*CHANNELS]))
    shape = (*size, CHANNELS[mode])
    count = int(np.prod(shape))
    values = draw(st.lists(st.sampled_from([7, 255]), min_size=count, max_size=count))
    pixels = np.array(values, dtype=np.uint8).reshape(shape)
    image = Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode)
    forms = ["PNG", "TIFF", "turned"] + (["palette"] if mode in ("RGB", "RGBA") else [])
    form = draw(st.sampled_from(forms))
    options = {}
    if form == "turned":  # stored on its side, with the EXIF tag that turns it
        image = image.transpose(Image.Transpose.ROTATE_90)
        exif = Image.Exif()
        exif[0x0112] = 6
        options = {"exif": exif}
    elif form == "palette":
        image = with_palette(pixels, draw(st.booleans()))
    file = io.BytesIO()
    image.save(file, "TIFF" if form == "TIFF" else "PNG", **options)
    return (mode, shape, pixels.tobytes()), file.getvalue()


def with_palette(pixels: np.ndarray, backwards: bool) -> Image.Image:
    """Return a palette image of ``pixels``, whose palette may begin with the last colour."""
    colours, indices = np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0, return_inverse=True)
    if backwards:
        colours, indices = colours[::-1], len(colours) - 1 - indices
    image = Image.fromarray(indices.reshape(pixels.shape[:2]).astype(np.uint8), "P")
    image.putpalette(colours[:, :3].tobytes())
    if pixels.shape[-1] == 4:
        image.info["transparency"] = colours[:, 3].tobytes()
    return image


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        *((cell, (b"x", None)) for cell in (b"x", {"bytes": b"x"}, {"bytes": b"x", "path": 3})),
        ({"bytes": b"x", "path": "a.png"}, (b"x", "a.png")),
        *((cell, None) for cell in (None, "x", b"", {"bytes": b""}, {"bytes": "x"}, {"path": "a.png"})),
    ],
)
def test_the_image_file_of_a_cell_has_bytes(cell: object, found: tuple[bytes, str | None] | None) -> None:
    if found is None:
        with pytest.raises(SourceError, match=r"^row 3: has no image bytes; fetch the file with its images"):
            image_of("row 3", cell)
    else:
        assert image_of("row 3", cell) == found


def test_a_png_with_a_wrong_checksum_is_refused() -> None:
    data = bytearray(encode_png(np.zeros((9, 9, 3), dtype=np.uint8)))
    data[data.index(b"IEND") - 5] ^= 1  # the last byte of the checksum of the pixels
    with pytest.raises(ImageError):
        pixel_digest(bytes(data))


def test_the_size_is_that_of_the_image_as_it_is_shown() -> None:
    file, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (3, 2)).save(file, "JPEG", exif=exif)
    facts = image_facts(file.getvalue())
    assert (facts.width, facts.height) == (2, 3)


@given(stored_images(), stored_images())
def test_digests_are_equal_if_and_only_if_pixels_are(first, second) -> None:
    (pixels, file), (others, other) = first, second
    assert (pixel_digest(file) == pixel_digest(other)) == (pixels == others)
    if pixels == others:
        for alpha in ("drop", "white"):
            assert np.array_equal(decode(file, alpha), decode(other, alpha))


def png(image: Image.Image, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", **options)
    return file.getvalue()


def test_a_colour_that_is_transparent_counts() -> None:
    image = Image.new("RGB", (4, 4), (9, 9, 9))
    plain, other = png(image), png(image, transparency=(9, 9, 9))
    assert not np.array_equal(decode(plain, "white"), decode(other, "white"))
    assert pixel_digest(plain) != pixel_digest(other)


def test_the_transparency_of_a_palette_counts() -> None:
    digests = {
        pixel_digest(png(with_palette(np.array([[[9, 9, 9, one], [200, 0, 0, other]]], np.uint8), False)))
        for one, other in ([128, 64], [64, 128])
    }
    assert len(digests) == 2


def test_the_digest_of_a_large_image_is_that_of_all_its_rows() -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (601, 97, 3), dtype=np.uint8)
    expected = hashlib.sha256(b"RGB (97, 601) None" + pixels.tobytes()).hexdigest()
    assert pixel_digest(encode_png(pixels)) == expected
    bits = Image.fromarray(pixels[..., 0] > 127)
    expected = hashlib.sha256(b"1 (97, 601) None" + bits.tobytes()).hexdigest()
    assert pixel_digest(png(bits)) == expected
