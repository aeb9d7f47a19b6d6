"""Print how strongly each severity of a suite's corruptions changes photographs, as Markdown.

    python speed/severity_ssim.py mllm-ic [type ...]

The distance is 1 - SSIM (scikit-image's structural_similarity over three channels), the median over the
photographs of the tests, cropped to 240 x 320. Severities of one photograph share a seed, and so
random choices, such as the direction of a rotation.
"""

import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from PIL import Image
from skimage.metrics import structural_similarity

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import suite_of, type_of
from benchc.corruptions.suite import CorruptionType
from benchc.images import Pixels
from tests.corruptions.photos import PHOTOS, photo

HEIGHT, WIDTH = 240, 320


def median_distances(
    type_: CorruptionType, severities: Sequence[int], photos: Sequence[Pixels]
) -> list[float]:
    """Return the median of 1 - SSIM over the photos, uint8[H, W, 3] each, at every severity, mildest first.

    Results of another size are first resized to the size of the photo.
    """
    calls = {severity: type_.at(severity) for severity in severities}
    recipe = Recipe(type_.name, type_.kernel, type_.noise, calls, type_.resizes)
    return [
        float(
            np.median(
                [_distance(image, apply(recipe, image, severity, seed)) for seed, image in enumerate(photos)]
            )
        )
        for severity in severities
    ]


def problems(distances: Sequence[float]) -> list[str]:
    """Return where distances, mildest first, do not grow with severity."""
    return [
        f"{severity + 1} not above {severity}"
        for severity, (milder, stronger) in enumerate(pairwise(distances), 1)
        if stronger <= milder
    ]


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit("usage: python speed/severity_ssim.py SUITE [TYPE ...]")
    suite = suite_of(sys.argv[1])
    types = [type_of(name, suite.name) for name in sys.argv[2:]] or suite.types()
    photos = [photo(name, HEIGHT, WIDTH) for name in PHOTOS]
    print(f"1 - SSIM, median over {len(photos)} photographs of {HEIGHT} x {WIDTH}\n")
    print("| type | " + " | ".join(map(str, suite.severities)) + " | last : first | problem |")
    print("|---|" + "---:|" * (len(suite.severities) + 1) + "---|")
    for type_ in types:
        distances = median_distances(type_, suite.severities, photos)
        ratio = distances[-1] / distances[0] if distances[0] else float("nan")
        cells = [f"{distance:.3f}" for distance in distances] + [f"{ratio:.2f}"]
        broken = "no strength" if not type_.ordered else "; ".join(problems(distances))
        print(f"| {type_.name} | " + " | ".join(cells) + f" | {broken} |", flush=True)


def _distance(image: Pixels, corrupted: Pixels) -> float:
    if corrupted.shape != image.shape:
        height, width, _ = image.shape
        corrupted = np.array(Image.fromarray(corrupted).resize((width, height), Image.Resampling.BILINEAR))
    return 1.0 - float(structural_similarity(image, corrupted, channel_axis=2))


if __name__ == "__main__":
    main()
