"""Measure the stage that corrupts a pool: image formats, throughput, and storing or recomputing images.

    python speed/corrupt_stage.py [--parts forms stage cores files] [--photos FOLDER]

forms: size and time of lossless image formats, on clean and corrupted photographs.
stage: images per second of one process, from encoded photographs to a Parquet file, compared with the usual
    loop: the imagecorruptions package, and a PNG by Pillow per image. The two alternate.
cores: the same with one and two worker processes, with and without their start-up time.
files: reading a stored image compared with recomputing it, also extrapolated to the paper's run.

Prints Markdown for docs/benchmarks.md. One thread per process; on a loaded machine only ratios are
meaningful.
"""

import argparse
import io
import os
import platform
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy's libraries load
os.environ["OPENBLAS_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cv2
import numpy as np
import pyarrow as pa
from imagecorruptions import corrupt as peer_corrupt
from machine import processor
from photographs import photographs
from PIL import Image

from benchc.corruptions.apply import apply
from benchc.corruptions.chunks import IMAGES_PER_CHUNK, CorruptionSpec, write_corrupted
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import corruptions_of, recipe_of
from benchc.corruptions.variants import variants_of_image
from benchc.image_keys import derived_key
from benchc.images import Codec, Pixels, decode, pixel_hash
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.pool_images import EncodedImage

PARTS = ("forms", "stage", "cores", "files")
# Those that compress best and worst, used at the mildest and the strongest severity.
MIX = ("gaussian_noise", "impulse_noise", "contrast", "fog", "spatter", "motion_blur", "pixelate", "frost")
# Measured once, as they take seconds per megapixel.
SLOW = ("PNG, level 9", "WebP, method 4", "WebP, method 6", "WebP, OpenCV")
PAPER_ITEMS, PAPER_VARIANTS, PAPER_SELECTORS = 4_000, 95, 3


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/corrupt_stage.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument(
        "--photos", type=Path, help="folder of photographs or of TSV files; default: bundled ones"
    )
    parser.add_argument(
        "--limit", type=int, default=12, help="maximum number of photographs; default: %(default)s"
    )
    parser.add_argument("--types", nargs="+", default=corruptions_of("imagenet-c"), help="default: the 19")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions; default: %(default)s")
    parser.add_argument("--items", type=int, default=480, help="of part cores; default: %(default)s")
    parser.add_argument(
        "--megapixels",
        type=float,
        help="median size of the planned run's images; default: of the photographs",
    )
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cv2.setNumThreads(1)
    photos = photographs(arguments.photos)[: arguments.limit]
    images: list[EncodedImage] = [(derived_key(name, 0), data) for name, data in photos]
    pixels = [decode(data) for _, data in photos]
    sizes = [image.size / 3e6 for image in pixels]
    print(
        f"{date.today()}, {processor()}, Python {platform.python_version()}; {len(photos)} photographs of ",
        end="",
    )
    print(f"{min(sizes):.2f} to {max(sizes):.2f} megapixels, median {median(sizes):.2f}\n")
    if "forms" in arguments.parts:
        print_forms(pixels, arguments.rounds)
    if "stage" in arguments.parts:
        print_stage(images, arguments.types, arguments.rounds)
    if "cores" in arguments.parts:
        print_cores(images, arguments.items, arguments.rounds)
    if "files" in arguments.parts:
        print_files(images, arguments.types, arguments.rounds, arguments.megapixels or median(sizes))


Encoder = Callable[[Pixels], bytes]


def pillow(file_format: str, **options: object) -> Encoder:
    def encode(image: Pixels) -> bytes:
        buffer = io.BytesIO()
        Image.fromarray(image, "RGB").save(buffer, file_format, **options)
        return buffer.getvalue()

    return encode


def opencv(suffix: str, *options: int) -> Encoder:
    def encode(image: Pixels) -> bytes:
        data: bytes = cv2.imencode(suffix, cv2.cvtColor(image, cv2.COLOR_RGB2BGR), options)[1].tobytes()
        return data

    return encode


def forms() -> dict[str, Encoder]:
    """Return the lossless formats to compare, by their names in the table."""
    level, strategy, quality = cv2.IMWRITE_PNG_COMPRESSION, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_WEBP_QUALITY
    found = {f"PNG, level {k}, Pillow": pillow("PNG", compress_level=k) for k in (0, 1, 2, 3, 6, 9)}
    strategies = {"Huffman only": zlib.Z_HUFFMAN_ONLY, "run lengths": zlib.Z_RLE, "filtered": zlib.Z_FILTERED}
    for name, number in strategies.items():
        found[f"PNG, level 1, {name}, Pillow"] = pillow("PNG", compress_level=1, compress_type=number)
    for k in (0, 1, 3, 6):
        found[f"PNG, level {k}, OpenCV"] = opencv(".png", level, k, strategy, 0)
    found["PNG, level 1, run lengths, OpenCV"] = opencv(".png", level, 1, strategy, zlib.Z_RLE)
    for method, effort in ((0, 0), (0, 20), (0, 50), (1, 0), (2, 0), (4, 0), (6, 0)):
        name = f"WebP, method {method}, quality {effort}, Pillow"
        found[name] = pillow("WEBP", lossless=True, method=method, quality=effort)
    found["WebP, OpenCV"] = opencv(".webp", quality, 101)
    found["TIFF, LZW and differences"] = pillow("TIFF", compression="tiff_lzw", tiffinfo={317: 2})
    found["TIFF, Zstandard and differences"] = pillow("TIFF", compression="zstd", tiffinfo={317: 2})
    found["PPM"] = pillow("PPM")
    found["BMP"] = pillow("BMP")
    return found


def print_forms(photos: Sequence[Pixels], rounds: int) -> None:
    """Print size and time of every format, and the effect of Parquet's compression."""
    images = list(photos)
    for number, name in enumerate(MIX):
        recipe = recipe_of(name)
        images += [apply(recipe, photos[number % len(photos)], severity, number) for severity in (1, 5)]
    megapixels = sum(image.size for image in images) / 3e6
    print(
        f"### Format of stored images\n\n{len(images)} images, {len(photos)} of them clean; per megapixel.\n"
    )
    print("| format | bytes per pixel | encode, ms | decode, ms | after Zstandard | Zstandard, ms |")
    print("|---|---:|---:|---:|---:|---:|")
    zstandard = pa.Codec("zstd", compression_level=1)
    encoders = forms()
    seconds: dict[str, list[tuple[float, float, float]]] = {name: [] for name in encoders}
    bytes_: dict[str, tuple[int, int]] = {}
    for number in range(rounds):
        for name, encode in encoders.items():
            if number and name.startswith(SLOW):
                continue
            encoding, files = timed(lambda encode=encode: [encode(image) for image in images])
            decoding, found = timed(lambda files=files: [decode(file) for file in files])
            packing, packed = timed(lambda files=files: [zstandard.compress(file) for file in files])
            if not all(map(np.array_equal, images, found)):
                raise SystemExit(f"{name} is not lossless; take it out of the table")
            seconds[name].append((encoding, decoding, packing))
            bytes_[name] = sum(map(len, files)), sum(map(len, packed))
    for name, columns in seconds.items():
        encoding, decoding, packing = (
            1000 * median(column) / megapixels for column in zip(*columns, strict=True)
        )
        size, packed_size = (total / megapixels / 1e6 for total in bytes_[name])
        print(
            f"| {name} | {size:.2f} | {encoding:.1f} | {decoding:.1f} | {packed_size:.2f} | {packing:.1f} |"
        )
    print(flush=True)


def usual_loop(images: Sequence[EncodedImage], name: str, folder: Path) -> None:
    """Corrupt with the imagecorruptions package and save with Pillow's defaults."""
    for key, data in images:
        image = np.array(Image.open(io.BytesIO(data or b"")).convert("RGB"))
        for severity in range(1, 6):
            corrupted = peer_corrupt(image, corruption_name=name, severity=severity)
            Image.fromarray(corrupted).save(folder / f"{key.replace('/', '_')}-{severity}.png")


def print_stage(images: Sequence[EncodedImage], types: Sequence[str], rounds: int) -> None:
    """Print images per second of the usual loop and of the stage, for every format."""
    rows: dict[str, list[float]] = {}
    codecs: tuple[Codec, ...] = ("webp", "png", "ppm")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in types:
            calls: list[Callable[[], object]] = [lambda name=name: usual_loop(images, name, folder)]
            for codec in codecs:
                spec = CorruptionSpec(recipe_of(name), 1, codec=codec)
                calls.append(lambda spec=spec: quietly(write_corrupted, images, spec, folder / "t.parquet"))
            for call in calls:
                call()
            seconds: list[list[float]] = [[] for _ in calls]
            for _ in range(rounds):
                for column, call in zip(seconds, calls, strict=True):
                    column.append(timed(call)[0])
            rows[name] = [median(column) for column in seconds]
            print(name, *(f"{value:.2f}" for value in rows[name]), file=sys.stderr)
    count = 5 * len(images)
    print("### The stage as a whole\n")
    print("Decode, five severities, encode, store: images per second of one process.\n")
    print("| type | usual loop | WebP | PNG | stored | gain of WebP | gain of PNG | gain of stored |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    whole = [sum(column) for column in zip(*rows.values(), strict=True)]
    for name, seconds_of in [*rows.items(), ("**all**", [value / len(rows) for value in whole])]:
        rates = " | ".join(f"{count / value:.1f}" for value in seconds_of)
        gains = " | ".join(f"{seconds_of[0] / value:.1f}" for value in seconds_of[1:])
        print(f"| {name} | {rates} | {gains} |")
    print(flush=True)


def print_cores(images: Sequence[EncodedImage], count: int, rounds: int) -> None:
    """Print images per second with one and two worker processes."""
    many = [(derived_key(f"{number}", 0), images[number % len(images)][1]) for number in range(count)]
    few = many[: 2 * IMAGES_PER_CHUNK]
    print("### Cores\n")
    print("Elastic transform, WebP: images per second with the start of the workers and without it.\n")
    print("| workers | with | without | gain |")
    print("|---:|---:|---:|---:|")
    spec = CorruptionSpec(recipe_of("elastic_transform"), 1)
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "t.parquet"
        seconds: dict[int, list[float]] = {1: [], 2: []}
        starts: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(rounds):
            for workers in seconds:
                starts[workers].append(
                    timed(lambda w=workers: quietly(write_corrupted, few, spec, output, w))[0]
                )
                seconds[workers].append(
                    timed(lambda w=workers: quietly(write_corrupted, many, spec, output, w))[0]
                )
    rates = {w: 5 * (len(many) - len(few)) / (median(seconds[w]) - median(starts[w])) for w in seconds}
    for workers, rate in rates.items():
        whole = 5 * len(many) / median(seconds[workers])
        print(f"| {workers} | {whole:.1f} | {rate:.1f} | {rate / rates[1]:.2f} |")
    print(flush=True)


def print_files(images: Sequence[EncodedImage], types: Sequence[str], rounds: int, megapixels: float) -> None:
    """Print the time to write, read and recompute an image, also for the paper's run."""
    seconds: dict[str, list[float]] = {"write": [], "read": [], "recompute": []}
    pixels = disk = 0.0
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "t.parquet"
        for recipe in map(recipe_of, types):
            spec = CorruptionSpec(recipe, 1)
            quietly(write_corrupted, images, spec, output)
            disk += output.stat().st_size
            times: dict[str, list[float]] = {name: [] for name in seconds}
            for _ in range(rounds):
                times["write"].append(
                    timed(lambda spec=spec: quietly(write_corrupted, images, spec, output))[0]
                )
                took, read = timed(lambda: list(map(pixel_hash, stored(output, images))))
                times["read"].append(took)
                took, made = timed(lambda recipe=recipe: list(map(pixel_hash, recomputed(images, recipe))))
                times["recompute"].append(took)
                if read != made:
                    raise SystemExit(f"{recipe.name}: recomputed pixels differ from those of the file")
            for name, column in times.items():
                seconds[name].append(median(column))
            pixels += sum(image.size / 3e6 for variant in stored(output, images) for image in variant)
    write, read, recompute = (sum(seconds[name]) / pixels for name in ("write", "read", "recompute"))
    print("### Stored or recomputed images\n")
    print("Mean over types and severities; reading and recomputing include hashing the pixels.\n")
    print("| per megapixel | write | read and decode | recompute | disk |\n|---|---:|---:|---:|---:|")
    costs = (1000 * write, 1000 * read, 1000 * recompute)
    print(f"| ms, MB | {' | '.join(f'{cost:.1f}' for cost in costs)} | {disk / pixels / 1e6:.2f} |\n")
    whole = PAPER_ITEMS * PAPER_VARIANTS * megapixels
    print(
        f"The paper's pool: {PAPER_ITEMS:,} items x {PAPER_VARIANTS} variants of {megapixels:.2f} "
        f"megapixels, for {PAPER_SELECTORS} selectors.\n"
    )
    print("| corrupted | disk, GB | core-hours to write | core-hours to read or recompute | total |")
    print("|---|---:|---:|---:|---:|")
    for name, gigabytes, once, each in (
        ("files", disk / pixels * whole / 1e9, write * whole, read * whole),
        ("on_the_fly", 0.0, 0.0, recompute * whole),
    ):
        every = each * PAPER_SELECTORS
        hours = [seconds_ / 3600 for seconds_ in (once, every, once + every)]
        print(f"| {name} | {gigabytes:,.0f} | {hours[0]:.1f} | {hours[1]:.1f} | {hours[2]:.1f} |")
    print(flush=True)


def stored(path: Path, images: Sequence[EncodedImage]) -> Iterable[list[Pixels]]:
    """Yield every image of a file, as inference reads items of one image."""
    for _, variants in images_of_items(path, {key: [key] for key, _ in images}):
        yield from variants.values()


def recomputed(images: Sequence[EncodedImage], recipe: Recipe) -> Iterable[list[Pixels]]:
    """Yield every corrupted image, recomputed."""
    for key, data in images:
        for pixels in variants_of_image(key, data, recipe, recipe.severities, 1).values():
            yield [pixels]


def timed(call: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def quietly(function: Callable[..., None], *arguments: object) -> None:
    """Call without showing progress."""
    standard, sys.stderr = sys.stderr, io.StringIO()
    try:
        function(*arguments)
    finally:
        sys.stderr = standard


if __name__ == "__main__":
    main()
