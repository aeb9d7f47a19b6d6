"""Write one image of a run under a corruption, as its models see it."""

from pathlib import Path

from benchc.atomic import atomic_write
from benchc.command_line import NaturalInt
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.workflow.run_image import run_image


def image(
    run: Path,
    item: str,
    corruption: str = "clean",
    severity: NaturalInt = 0,
    /,
    *,
    index: NaturalInt = 0,
    output: Path | None = None,
) -> None:
    """Write one image of a run under a corruption, as its models see it.

    It is made again from the pool and the recorded configuration, so it works for runs that store no images,
    and for corruptions and severities of the suite that the run leaves out.
    Args:
        run: results/{name} of a run
        item: id of an item in its pool
        corruption: a corruption of the run's suite, or of its own files
        severity: of the corruption; none for the clean image
        index: which image, where the item has several; the first is 0
        output: PNG file to write; default: {item}_{corruption}_{severity}.png in the working directory
    """
    if output is not None and output.suffix.lower() != ".png":
        raise InputError(f"--output {output}: the file is a PNG; give it a name that ends in .png")
    if corruption != "clean" and severity == 0:
        raise InputError(
            f"{corruption} needs a severity of 1 or more; without a corruption, the image is clean"
        )
    pixels = run_image(run, item, corruption, severity, index)
    number = f"_{index}" if index else ""
    path = output or Path(f"{item.replace('/', '_')}{number}_{corruption}_{severity}.png")
    with atomic_write(path) as file:
        file.write(encode_png(pixels))
    height, width, _ = pixels.shape
    print(f"{path}: {width} x {height} pixels")
