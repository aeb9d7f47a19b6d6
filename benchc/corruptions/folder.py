"""Corrupt the images of a folder into another folder, without the pipeline."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from PIL import Image

from benchc.atomic import whole_file, write_text
from benchc.corruptions.portions import code_digest, library_versions
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import Engine, corruptions_of, recipe_of
from benchc.corruptions.variants import variants_of_item
from benchc.corruptions.workers import ordered_map
from benchc.errors import InputError
from benchc.images import Alpha, ImageError, encode_png
from benchc.progress import track

ALL = "all"
SHOWN = 20  # refused images in one message


@dataclass(frozen=True)
class Work:
    """One image under one corruption, at the severities that are not there yet."""

    source: Path
    name: str  # the image's path in its folder: what its seeds are drawn for
    recipe: Recipe
    targets: dict[int, Path]  # by severity
    seed: int
    alpha: Alpha


Choice = tuple[Recipe, tuple[int, ...]]  # a corruption and its wanted severities


def choose(
    names: Sequence[str],
    severities: Sequence[int] | None = None,
    suite: str = "imagenet-c",
    engine: Engine = "benchc",
) -> list[Choice]:
    """Return what ``names`` stand for: corruptions of the suite, or ``all``, its default set.

    Severities are the suite's unless given. Raises ValueError for what the suite or the engine does not have.
    """
    chosen = corruptions_of(suite) if ALL in names else tuple(dict.fromkeys(names))
    choices = []
    for recipe in (recipe_of(name, suite, engine) for name in chosen):
        for severity in severities or ():
            if severity not in recipe.severities:
                there = ", ".join(map(str, recipe.severities))
                raise ValueError(f"{recipe.name} has the severities {there}, not {severity}")
        choices.append((recipe, tuple(sorted(set(severities or recipe.severities)))))
    return choices


def corrupt_folder(
    images: Path,
    output: Path,
    choices: Sequence[Choice],
    *,
    seed: int = 0,
    alpha: Alpha = "drop",
    workers: int = 1,
) -> None:
    """Write every image of ``images`` as ``output/{corruption}/{severity}/{image}.png``, without loss.

    Files are images if Pillow reads their suffix; subfolders keep their place. Files that are there already
    stay, so a run that was stopped goes on where it was; ``output/{corruption}/corruption.json`` says how
    they were made.

    Raises InputError where the folder holds no images, two of one name, files that were made in another way,
    or images that cannot be read: these are left out and named at the end.
    """
    files = _images(images, output)
    for recipe, _ in choices:
        _claim(output / recipe.name / "corruption.json", recipe, seed, alpha)
    work = [
        Work(source, name, recipe, missing, seed, alpha)
        for recipe, severities in choices
        for name, source in files.items()
        if (missing := _missing(output / recipe.name, name, severities))
    ]
    done = track(ordered_map(_corrupt, work, workers), label="corrupt", unit="images", total=len(work))
    refused = dict(failure for failure in done if failure is not None)
    if refused:
        listed = "; ".join(f"{name}: {reason}" for name, reason in list(refused.items())[:SHOWN])
        raise InputError(
            f"{images}: {len(refused)} of {len(files)} images were left out, the others are done: {listed}; "
            "mend or remove them"
        )


def _images(folder: Path, output: Path) -> dict[str, Path]:
    """Return the image files by their path in the folder, in its order."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of images; name one that is there")
    if output.resolve() == folder.resolve():
        raise InputError(f"{folder}: is to be read and written at once; give another --output")
    readable = {suffix for suffix, kind in Image.registered_extensions().items() if kind in Image.OPEN}
    found: dict[str, Path] = {}
    taken: dict[Path, str] = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in place.parts)
        if path.suffix.lower() not in readable or hidden or not path.is_file() or output in path.parents:
            continue
        name, target = place.as_posix(), place.with_suffix(".png")
        if target in taken:
            raise InputError(f"{folder}: {taken[target]} and {name} would both become {target}; rename one")
        taken[target] = name
        found[name] = path
    if not found:
        raise InputError(f"{folder}: no file in it has the suffix of an image, such as .png or .jpg")
    return found


def _claim(path: Path, recipe: Recipe, seed: int, alpha: Alpha) -> None:
    """Write how the images beside ``path`` are made. Raises InputError where they were made otherwise."""
    content = {
        "seed": seed,
        "alpha": alpha,
        "recipe": asdict(recipe),
        "libraries": library_versions(),
        "code": code_digest(recipe),
    }
    text = json.dumps(content, indent=2) + "\n"
    if path.exists() and path.read_text() != text:
        raise InputError(
            f"{path}: the images beside it were made with another recipe, seed, alpha or code; give another "
            f"--output, or delete {path.parent}"
        )
    write_text(path, text)


def _missing(folder: Path, name: str, severities: Sequence[int]) -> dict[int, Path]:
    targets = {severity: (folder / str(severity) / name).with_suffix(".png") for severity in severities}
    return {severity: target for severity, target in targets.items() if not target.exists()}


def _corrupt(work: Work) -> tuple[str, str] | None:
    """Write what is missing of one image; return its name and the reason where it is refused."""
    data = work.source.read_bytes()
    try:
        made = variants_of_item(work.name, [data], work.recipe, tuple(work.targets), work.seed, work.alpha)
    except InputError as error:
        if not isinstance(error.__cause__, ImageError):
            raise
        return work.name, str(error.__cause__)
    for severity, (pixels,) in made:
        with whole_file(work.targets[severity]) as file:
            file.write(encode_png(pixels))
    return None
