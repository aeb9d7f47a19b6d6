"""Render contact sheets: one image under the corruptions of a suite, at every severity."""

from pathlib import Path

from benchc.command_line import PositiveInt, Seed
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.registry import Engine, group_of, recipe_of
from benchc.errors import InputError
from benchc.rendering.contact_pages import pages_of
from benchc.rendering.example_image import example_image, image_in_file
from benchc.transparency import Alpha


def contact_sheet(
    *,
    image: Path | None = None,
    pool: Path | None = None,
    item: str | None = None,
    suite: str = "imagenet-c",
    own_files: tuple[Path, ...] = (),
    engine: Engine = "benchc",
    scale_with_image: bool = True,
    corruptions: tuple[str, ...] = (),
    severities: tuple[PositiveInt, ...] = (),
    seed: Seed = 0,
    alpha: Alpha = "drop",
    page: PositiveInt | None = None,
    output_prefix: str,
) -> None:
    """Render contact sheets: one image under the corruptions of a suite, at every severity.

    The image is a file, or that of an item in a pool. Its corrupted pixels are those of the stage corrupt
    with the same seed. A page shows up to eleven corruptions, and keeps groups together where they fit.

    Args:
        image: image to corrupt
        pool: pool/items.parquet, instead of an image
        item: id of an item in the pool; default: of the first 100, the one whose image has the largest
            entropy of colours, on which severities can be told apart, among those of at least 128 pixels a
            side; or else the largest image
        suite: a suite in docs/corruptions.md
        own_files: Python files with corruptions of your own (docs/corruptions.md), which --corruptions may
            name
        engine: imgaug: imgaug.augmenters.imgcorruptlike, with the 19 corruptions of imagenet-c
        scale_with_image: whether sizes in pixels grow with the image, where the suite has a reference
        corruptions: default: the suite's default set
        severities: default: all of the suite
        seed: the run's
        alpha: how to handle transparency: discard the alpha channel, or composite over white
        page: only this page, counted from 1
        output_prefix: page N is written to <output_prefix>_N.png (300 dpi) and <output_prefix>_N.pdf
    """
    from benchc.rendering.contact_rows import row_of, sheet_types
    from benchc.rendering.contact_sheet import contact_sheet as drawn
    from benchc.rendering.save import save

    if item is not None and pool is None:
        raise InputError("--item is of a pool; give --pool, too")
    whole = suite_with(suite, own_files)
    shown = severities or whole.severities
    if not set(shown) <= set(whole.severities):
        raise InputError(
            f"--severities: {whole.name} has {', '.join(map(str, whole.severities))}; give some of them"
        )
    names = sheet_types(corruptions, whole, engine)
    pages = pages_of([group_of(name, whole) for name in names])
    if page is not None and page > len(pages):
        raise InputError(f"--page: there are {len(pages)} pages, counted from 1; give one of them")
    match image, pool:
        case Path(), None:
            key, clean = image_in_file(image, alpha)
        case None, Path():
            key, clean = example_image(pool, item, alpha)
        case _:
            raise InputError("one image is needed; give either --image or --pool")
    for number, rows in enumerate(pages, start=1):
        if page in (None, number):
            recipes = [recipe_of(names[row], whole, engine, scale_with_image) for row in rows]
            drawn_rows = [row_of(recipe, whole, key, clean, shown, seed) for recipe in recipes]
            path = f"{output_prefix}_{number}"
            save(drawn(clean, drawn_rows, severities=shown, name=key), png=f"{path}.png", pdf=f"{path}.pdf")
