"""Draw contact sheets: one picture under the corruptions of a suite, at every severity.

The picture is a file, or that of an item of a pool. Corrupted pixels are those that scripts.corrupt makes of
it with the same seed. A page takes up to eleven corruptions, and whole groups where they fit. Page N is
written to PREFIX_N.png (300 dpi) and PREFIX_N.pdf.
"""

from collections.abc import Sequence
from pathlib import Path

from benchc.corruptions.apply import apply
from benchc.corruptions.registry import (
    SUITES,
    Engine,
    corruptions_of,
    family_of,
    recipe_of,
    suite_of,
    type_of,
)
from benchc.errors import InputError
from benchc.image_keys import derived_key, image_seed
from benchc.images import ALPHAS, Alpha, ImageError, Pixels, decode
from benchc.rendering.contact_pages import pages_of
from benchc.rendering.contact_sheet import Row, contact_sheet
from benchc.rendering.save import save
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images
from scripts.command import Parser, run

# Without a choice: the first picture on which a corruption can be seen, and not all of a pool to find one.
SIDE = 200
LOOKED_AT = 50


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    picture = parser.add_mutually_exclusive_group(required=True)
    picture.add_argument("--image", type=Path, metavar="FILE", help="picture to corrupt")
    picture.add_argument("--items", type=Path, metavar="FILE", help="table of the pool with the item")
    parser.add_argument(
        "--item",
        metavar="ID",
        help=f"item of the pool; unless given, the first whose picture has at least {SIDE} pixels a side, or "
        f"else the largest of the first {LOOKED_AT}",
    )
    parser.add_argument("--suite", choices=list(SUITES), default="imagenet-c", help="default: %(default)s")
    parser.add_argument(
        "--engine", choices=["benchc", "imgaug"], default="benchc", help="default: %(default)s"
    )
    parser.add_argument(
        "--corruptions", nargs="+", metavar="NAME", help="the suite's default set unless given"
    )
    parser.add_argument(
        "--severities", type=int, nargs="+", metavar="N", help="all of the suite unless given"
    )
    parser.add_argument("--seed", type=int, default=0, help="the run's seed; default: %(default)s")
    parser.add_argument(
        "--alpha", choices=ALPHAS, default="drop", help="what becomes of transparency; default: %(default)s"
    )
    parser.add_argument("--page", type=int, metavar="N", help="this page only, counted from 1")
    parser.add_argument(
        "--output-prefix", required=True, metavar="PREFIX", help="folder, and begin of the names"
    )
    arguments = parser.parse_args()

    if arguments.item and not arguments.items:
        parser.error("--item: give the pool that it is in with --items")
    suite = suite_of(arguments.suite)
    severities = arguments.severities or list(suite.severities)
    if not set(severities) <= set(suite.severities):
        parser.error(f"--severities: {suite.name} has {', '.join(map(str, suite.severities))}")
    try:
        names = _sorted(arguments.corruptions or corruptions_of(suite.name), suite.name)
        for name in names:
            recipe_of(name, suite.name, arguments.engine)
    except ValueError as error:
        parser.error(f"--corruptions: {error}")
    pages = pages_of([family_of(name, suite.name) for name in names])
    if arguments.page is not None and not 1 <= arguments.page <= len(pages):
        parser.error(f"--page: there are {len(pages)} pages, counted from 1")

    key, clean = _picture(arguments.image, arguments.items, arguments.item, arguments.alpha)
    for number, page in enumerate(pages, start=1):
        if arguments.page not in (None, number):
            continue
        rows = [
            _row(names[row], suite.name, arguments.engine, key, clean, severities, arguments.seed)
            for row in page
        ]
        figure = contact_sheet(clean, rows, severities=severities)
        path = f"{arguments.output_prefix}_{number}"
        save(figure, png=f"{path}.png", pdf=f"{path}.pdf")


def _sorted(names: Sequence[str], suite: str) -> list[str]:
    order = [type_.name for type_ in suite_of(suite).types()]
    return sorted({type_of(name, suite).name for name in names}, key=order.index)


def _row(
    name: str, suite: str, engine: Engine, key: str, clean: Pixels, severities: Sequence[int], seed: int
) -> Row:
    recipe = recipe_of(name, suite, engine)
    images = [
        apply(recipe, clean, severity, image_seed(seed, key, name, severity)) for severity in severities
    ]
    return Row(family_of(name, suite), name, images)


def _picture(file: Path | None, pool: Path | None, item: str | None, alpha: Alpha) -> tuple[str, Pixels]:
    """Return the key on which random fields depend, and the picture."""
    if file is not None:
        try:
            return derived_key(file.name, 0), decode(file.read_bytes(), alpha)
        except (OSError, ImageError) as error:
            raise InputError(f"{file}: {error}; give another --image") from error
    assert pool is not None  # one of the two is required
    ids = read_table(pool, POOL, ["id"])["id"]
    if item is not None and item not in ids:
        raise InputError(f"{pool}: it has no item {item!r}; its first is {next(iter(ids), 'missing')!r}")
    largest: tuple[str, Pixels] | None = None
    wanted = {item} if item is not None else set(ids.head(LOOKED_AT))
    for id_, images in pool_images(pool, wanted):
        key, data = images[0]
        try:
            pixels = decode(data or b"", alpha)
        except ImageError as error:
            raise InputError(f"{pool}: item {id_!r}: {error}; mend it, or name another --item") from error
        if min(pixels.shape[:2]) >= SIDE:
            return key, pixels
        if largest is None or pixels.size > largest[1].size:
            largest = key, pixels
    if largest is None:
        raise InputError(f"{pool}: it has no items; make it again")
    return largest


if __name__ == "__main__":
    run(main)
