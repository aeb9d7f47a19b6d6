"""Render contact sheets: one image under the corruptions of a suite, at every severity.

The image is a file, or that of an item in a pool. Its corrupted pixels are those of scripts.corrupt with the
same seed. A page shows up to eleven corruptions, and keeps groups together where they fit. Page N is written
to PREFIX_N.png (300 dpi) and PREFIX_N.pdf.
"""

from collections.abc import Sequence
from pathlib import Path

from benchc.corruptions.apply import apply
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.registry import (
    SUITES,
    Engine,
    corruptions_of,
    group_of,
    recipe_of,
    type_of,
)
from benchc.corruptions.suite import Suite
from benchc.errors import InputError
from benchc.image_keys import derived_key, image_seed
from benchc.images import ALPHAS, Alpha, ImageError, decode
from benchc.pixels import Pixels
from benchc.rendering.contact_pages import pages_of
from benchc.rendering.contact_sheet import Row, contact_sheet
from benchc.rendering.example_image import CANDIDATES, SIDE, example_image
from benchc.rendering.save import save
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    image = parser.add_mutually_exclusive_group(required=True)
    image.add_argument("--image", type=Path, metavar="FILE", help="image to corrupt")
    image.add_argument("--items", type=Path, metavar="FILE", help="pool/items.parquet")
    parser.add_argument(
        "--item",
        metavar="ID",
        help=f"item in the pool; default: among the first {CANDIDATES}, the first whose image has at least "
        f"{SIDE} pixels a side, or else the one with the largest image",
    )
    parser.add_argument("--suite", choices=list(SUITES), default="imagenet-c", help="default: %(default)s")
    parser.add_argument(
        "--own-files",
        type=Path,
        nargs="*",
        default=[],
        metavar="FILE",
        help="Python files with corruptions of your own (docs/corruptions.md), which --corruptions may name",
    )
    parser.add_argument(
        "--engine", choices=["benchc", "imgaug"], default="benchc", help="default: %(default)s"
    )
    parser.add_argument("--corruptions", nargs="+", metavar="NAME", help="default: the suite's default set")
    parser.add_argument("--severities", type=int, nargs="+", metavar="N", help="default: all of the suite")
    parser.add_argument("--seed", type=int, default=0, help="the run's seed; default: %(default)s")
    parser.add_argument(
        "--alpha", choices=ALPHAS, default="drop", help="how to handle transparency; default: %(default)s"
    )
    parser.add_argument("--page", type=int, metavar="N", help="only this page, counted from 1")
    parser.add_argument("--output-prefix", required=True, metavar="PREFIX", help="prefix of the output paths")
    arguments = parser.parse_args()

    if arguments.item and not arguments.items:
        parser.error("--item needs --items")
    suite = suite_with(arguments.suite, arguments.own_files)
    severities = arguments.severities or list(suite.severities)
    if not set(severities) <= set(suite.severities):
        parser.error(f"--severities: {suite.name} has {', '.join(map(str, suite.severities))}")
    try:
        names = _sorted(arguments.corruptions or corruptions_of(suite), suite)
        for name in names:
            recipe_of(name, suite, arguments.engine)
    except ValueError as error:
        parser.error(f"--corruptions: {error}")
    pages = pages_of([group_of(name, suite) for name in names])
    if arguments.page is not None and not 1 <= arguments.page <= len(pages):
        parser.error(f"--page: there are {len(pages)} pages, counted from 1")

    key, clean = _image(arguments.image, arguments.items, arguments.item, arguments.alpha)
    for number, page in enumerate(pages, start=1):
        if arguments.page not in (None, number):
            continue
        rows = [
            _row(names[row], suite, arguments.engine, key, clean, severities, arguments.seed) for row in page
        ]
        figure = contact_sheet(clean, rows, severities=severities)
        path = f"{arguments.output_prefix}_{number}"
        save(figure, png=f"{path}.png", pdf=f"{path}.pdf")


def _sorted(names: Sequence[str], suite: Suite) -> list[str]:
    order = [type_.name for type_ in suite.types()]
    return sorted({type_of(name, suite).name for name in names}, key=order.index)


def _row(
    name: str, suite: Suite, engine: Engine, key: str, clean: Pixels, severities: Sequence[int], seed: int
) -> Row:
    recipe = recipe_of(name, suite, engine)
    images = [
        apply(recipe, clean, severity, image_seed(seed, key, name, severity)) for severity in severities
    ]
    return Row(group_of(name, suite), name, images)


def _image(file: Path | None, pool: Path | None, item: str | None, alpha: Alpha) -> tuple[str, Pixels]:
    """Return the key of the image, which seeds its corruptions, and its pixels."""
    if file is not None:
        try:
            return derived_key(file.name, 0), decode(file.read_bytes(), alpha)
        except (OSError, ImageError) as error:
            raise InputError(f"{file}: {error}; give another --image") from error
    assert pool is not None  # one of the two is required
    return example_image(pool, item, alpha)


if __name__ == "__main__":
    run(main)
