import ast
import io
import math
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import EpsImagePlugin, Image, ImageFile

from benchc.images import (
    CODECS,
    FORMATS,
    MAX_PIXELS,
    MAX_SIDE,
    WEBP_MAX_SIDE,
    Codec,
    ImageError,
    Pixels,
    decode,
    encode,
    encode_png,
    opened,
    pixel_hash,
    readable_suffixes,
)


def encoded(image: Image.Image, file_format: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, file_format, **options)
    return buffer.getvalue()


def sample_image(height: int = 6, width: int = 9) -> Pixels:
    return np.random.default_rng(height).integers(0, 256, (height, width, 3), np.uint8)


@given(height=st.integers(1, 20), width=st.integers(1, 20), codec=st.sampled_from(CODECS))
def test_every_codec_is_lossless(height: int, width: int, codec: Codec) -> None:
    image = sample_image(height, width)
    np.testing.assert_array_equal(decode(encode(image, codec)), image)
    np.testing.assert_array_equal(decode(encode(image, codec), alpha="white"), image)


def test_an_image_too_long_for_webp_becomes_a_png() -> None:
    for width, start in ((WEBP_MAX_SIDE, b"RIFF"), (WEBP_MAX_SIDE + 1, b"\x89PNG")):
        image = sample_image(1, width)
        data = encode(image, "webp")
        assert data.startswith(start)
        np.testing.assert_array_equal(decode(data), image)
        np.testing.assert_array_equal(decode(encode_png(image)), image)


def test_exif_rotation_is_applied() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show rotated by 90 degrees clockwise
    image = np.zeros((16, 32, 3), np.uint8)
    image[:, :16] = 255
    upright = decode(encoded(Image.fromarray(image), "JPEG", exif=exif, quality=95))
    assert upright.shape == (32, 16, 3)
    assert upright[:15].min() > 250
    assert upright[17:].max() < 5


def test_palette_becomes_colours() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 40, 50, 60])
    image.putdata([1, 0])
    assert decode(encoded(image)).tolist() == [[[40, 50, 60], [10, 20, 30]]]


def test_grey_becomes_three_equal_channels() -> None:
    assert decode(encoded(Image.fromarray(np.array([[0, 77]], np.uint8)))).tolist() == [[[0] * 3, [77] * 3]]
    assert decode(encoded(Image.new("1", (1, 1), 1))).tolist() == [[[255] * 3]]


def test_cmyk_becomes_rgb() -> None:
    image = Image.new("CMYK", (8, 8), (0, 255, 255, 0))
    pixels = decode(encoded(image, "TIFF"))
    assert pixels[0, 0].tolist() == [255, 0, 0]


def test_16_bit_values_keep_their_upper_byte() -> None:
    values = np.array([[0, 255, 256, 0x1234, 65535]], np.uint16)
    for file_format in ("PNG", "TIFF"):
        pixels = decode(encoded(Image.fromarray(values), file_format))
        assert pixels[0, :, 0].tolist() == [0, 0, 1, 0x12, 255]


def test_alpha_is_dropped_and_not_blended() -> None:
    image = Image.new("RGBA", (1, 1), (200, 100, 50, 0))
    assert decode(encoded(image)).tolist() == [[[200, 100, 50]]]
    assert decode(encoded(Image.new("LA", (1, 1), (90, 3)))).tolist() == [[[90] * 3]]


def test_transparency_of_a_palette_is_dropped_too() -> None:
    image = Image.new("P", (1, 1))
    image.putpalette([10, 20, 30])
    assert decode(encoded(image, transparency=0)).tolist() == [[[10, 20, 30]]]


TRANSLUCENT = Image.new("RGBA", (1, 1), (200, 100, 50, 51))  # a fifth of the colour over white


@pytest.mark.parametrize(
    ("image", "options", "expected"),
    [
        (TRANSLUCENT, {}, [244, 224, 214]),
        (Image.new("LA", (1, 1), (90, 0)), {}, [255] * 3),
        (Image.new("RGB", (1, 1), (9, 8, 7)), {"transparency": (9, 8, 7)}, [255] * 3),
        (Image.new("RGB", (1, 1), (9, 8, 7)), {"transparency": (9, 8, 6)}, [9, 8, 7]),
        (Image.new("L", (1, 1), 9), {"transparency": 9}, [255] * 3),
        (Image.new("P", (1, 1), 0), {"transparency": 0}, [255] * 3),
        (Image.new("P", (1, 1), 0), {"transparency": b"\xff"}, [0] * 3),
        (Image.fromarray(np.array([[0x1234]], np.uint16)), {}, [0x12] * 3),
    ],
    ids=["RGBA", "LA", "RGB, its colour", "RGB, another colour", "L", "P", "P, opaque", "16-bit"],
)
def test_with_alpha_white_transparency_shows_white(
    image: Image.Image, options: dict[str, object], expected: list[int]
) -> None:
    assert decode(encoded(image, **options), alpha="white").tolist() == [[expected]]


def test_with_alpha_white_transparency_of_a_16_bit_image_shows_white() -> None:
    data = encoded(Image.fromarray(np.array([[0x1234, 0x1235]], np.uint16)))
    header = 8 + 4 + 4 + 13 + 4  # signature and IHDR; Pillow writes no tRNS for 16 bits
    chunk = b"tRNS" + struct.pack(">H", 0x1234)
    data = data[:header] + struct.pack(">I", 2) + chunk + struct.pack(">I", zlib.crc32(chunk)) + data[header:]
    assert decode(data, alpha="white")[0, :, 0].tolist() == [255, 0x12]
    assert decode(data)[0, :, 0].tolist() == [0x12, 0x12]


def test_the_first_frame_of_an_animation_is_decoded() -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ((255, 0, 0), (0, 0, 255))]
    data = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert decode(data)[0, 0].tolist() == [255, 0, 0]


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
@pytest.mark.parametrize("file_format", ["PNG", "JPEG", "GIF", "WEBP", "TIFF", "BMP"])
def test_truncated_bytes_are_refused(file_format: str) -> None:
    data = encoded(Image.fromarray(sample_image(64, 64)), file_format)
    decode(data)
    for length in (0, 10, len(data) // 2, len(data) * 9 // 10):
        with pytest.raises(ImageError, match="not a complete image"):
            decode(data[:length])


def png_header(width: int, height: int) -> bytes:
    """Return a PNG without pixels after its header."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [struct.pack(">I", 13) + header, struct.pack(">I", 0) + b"IDAT"]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk + struct.pack(">I", zlib.crc32(chunk[4:])) for chunk in chunks
    )


@pytest.mark.parametrize(
    "size", [(13_000, 13_000), (20_000, 20_000), (1, MAX_SIDE + 1), (MAX_SIDE + 1, 1), (60_000, 1)]
)
def test_an_image_above_the_limit_is_refused_from_its_header(size: tuple[int, int]) -> None:
    with pytest.raises(ImageError, match=f"{MAX_PIXELS:,}.*scale it down"):
        decode(png_header(*size))


@pytest.mark.parametrize("size", [(7680, 4320), (MAX_SIDE, 1220)])
def test_an_image_of_an_8k_frame_is_within_the_limit(size: tuple[int, int]) -> None:
    with opened(png_header(*size)) as file:
        assert file.size == size


def test_memory_is_bounded_at_the_limit() -> None:
    side = math.isqrt(MAX_PIXELS)
    data = encoded(Image.new("1", (side, side)))
    assert len(data) < 20_000
    code = (
        "import resource, sys; from benchc.images import decode; data = sys.stdin.buffer.read();"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; decode(data);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    kib = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True, check=True).stdout
    assert int(kib) * 1024 < 15 * MAX_PIXELS


def test_a_format_outside_the_list_is_refused_without_its_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    # Pillow gives EPS to Ghostscript.
    monkeypatch.setattr(
        EpsImagePlugin, "Ghostscript", lambda *_, **__: pytest.fail("Ghostscript was started")
    )
    eps = encoded(Image.new("RGB", (4, 4)), "EPS")
    with pytest.raises(ImageError, match=r"not a complete image in a known format \(AVIF, BMP, "):
        decode(eps)


def test_every_image_is_opened_with_a_list_of_formats() -> None:
    root = Path(__file__).parents[1]
    calls = [
        (path, node)
        for path in [*root.glob("benchc/**/*.py"), *root.glob("scripts/**/*.py")]
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Image.open")
    ]
    assert calls
    for path, call in calls:
        assert "formats" in [keyword.arg for keyword in call.keywords], f"{path}, line {call.lineno}"


def test_a_file_without_a_known_range_is_refused() -> None:
    with pytest.raises(ImageError, match="floating-point"):
        decode(encoded(Image.new("F", (2, 2), 0.5), "TIFF"))
    with pytest.raises(ImageError, match="signed or 32-bit values, whose range is unknown"):
        decode(encoded(Image.new("I", (2, 2), 252), "TIFF"))
    # One with 16 bits has a known range.
    assert (decode(encoded(Image.new("I;16", (2, 2), 252 << 8), "TIFF")) == 252).all()


def test_an_unknown_treatment_of_alpha_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha is one of drop, white, not 'black'"):
        decode(encode_png(sample_image()), alpha="black")  # type: ignore[arg-type]


def test_suffixes_are_of_formats_whose_pixels_are_read() -> None:
    suffixes = readable_suffixes()
    assert {".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".gif", ".avif", ".ppm"} <= suffixes
    for name in FORMATS:
        factory, _ = Image.OPEN[name]
        assert not (isinstance(factory, type) and issubclass(factory, ImageFile.StubImageFile))
    assert not suffixes & {".eps", ".h5", ".grib", ".mpg", ".wmf", ".bufr", ".pdf", ".txt"}


def test_the_hash_depends_on_shape_order_and_every_pixel() -> None:
    image = sample_image(6, 9)
    other = image.copy()
    other[5, 8, 2] ^= 1
    lists = [
        [image],
        [other],
        [image.reshape(9, 6, 3)],
        [image, other],
        [other, image],
        [image[:3], image[3:]],
        [],
    ]
    assert len({pixel_hash(images) for images in lists}) == len(lists)
    assert pixel_hash([image[:, ::-1][:, ::-1]]) == pixel_hash([image])


def test_the_hash_is_stable() -> None:
    assert pixel_hash([np.arange(12, dtype=np.uint8).reshape(2, 2, 3)]) == "5fb4a6da6038d643535f5158f057b706"


def test_only_uint8_can_be_hashed() -> None:
    with pytest.raises(ValueError, match="float64"):
        pixel_hash([np.zeros((2, 2, 3))])  # type: ignore[list-item]
