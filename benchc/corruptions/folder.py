"""Corrupt the images of a folder into another folder, without the pipeline."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchc.atomic import atomic_write, write_text
from benchc.corruptions.chunks import code_digest, library_versions, write_to
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import Engine, corruptions_of, recipe_of
from benchc.corruptions.sources import Source, digest_of, discard_stale
from benchc.corruptions.variants import variants_of_image
from benchc.corruptions.workers import ordered_map
from benchc.errors import InputError
from benchc.image_keys import derived_key
from benchc.images import Alpha, ImageError, encode_png, readable_suffixes
from benchc.progress import track

ALL = "all"
SHOWN = 20  # refused images in one message

# What benchc.atomic leaves of a file that it was writing when the process was killed.
UNFINISHED = re.compile(r"\..+\.(png|json)\.[a-z0-9_]{8}")


@dataclass(frozen=True)
class Work:
    """One image under one corruption, at the severities that are not there yet."""

    source: Path
    name: str  # the image's path in its folder: what its seeds are drawn for
    digest: str
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

    None comes twice. Severities are the suite's unless given. Raises ValueError for what the suite or the
    engine does not have.
    """
    chosen = [each for name in names for each in (corruptions_of(suite) if name == ALL else (name,))]
    choices = []
    for recipe in (recipe_of(name, suite, engine) for name in dict.fromkeys(chosen)):
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
) -> int:
    """Write every image of ``images`` as ``output/{corruption}/{severity}/{image}.png``, without loss.

    Files are images if Pillow reads their suffix; subfolders keep their place, and what is in ``output`` is
    not read. Files that are there already stay, so a run that was stopped goes on where it was, unless
    their image has changed since: then they are deleted at all severities, and made again at those chosen.
    ``output/{corruption}/corruption.json`` says how they were made, and ``sources.json`` from what. One run
    at a time may write a corruption at a severity. Returns how many files were written.

    Raises InputError where the folder holds no images, two of one name, files that were made in another way,
    where ``output`` cannot be written, or for images that cannot be read or that a corruption cannot take:
    these are left out and named at the end.
    """
    files = _images(images, output, [recipe.name for recipe, _ in choices])
    sources, refused = _sources(files)
    work = []
    for recipe, severities in choices:
        folder = output / recipe.name
        with write_to(folder):
            _remove_unfinished(folder, severities)
            _claim(folder / "corruption.json", recipe, seed, alpha)
            discard_stale(folder, sources)
        for target, (name, digest) in sources.items():
            if missing := _missing(folder, target, severities):
                work.append(Work(files[name], name, digest, recipe, missing, seed, alpha))
    written = 0
    done = ordered_map(_corrupt, work, workers)
    for each, failure in zip(work, track(done, label="corrupt", unit="images", total=len(work)), strict=True):
        if failure is None:
            written += len(each.targets)
        else:
            refused.append((each.name, failure))
    if refused:
        listed = [f"{name}: {reason}" for name, reason in dict.fromkeys(refused)]
        more = f"; and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
        count = len({name for name, _ in refused})
        raise InputError(
            f"{images}: {count} of {len(files)} images were left out, all else is done: "
            f"{'; '.join(listed[:SHOWN])}{more}; mend or remove them"
        )
    return written


def _images(folder: Path, output: Path, corruptions: Sequence[str]) -> dict[str, Path]:
    """Return the image files by their path in the folder, in its order."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder of images; name one that is there")
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file, and images go into a folder; give another --output")
    inside, outside = folder.resolve(), output.resolve()
    if outside == inside or any(inside.is_relative_to(outside / name) for name in corruptions):
        raise InputError(f"{folder}: is to be read and written at once; give another --output")
    readable = readable_suffixes()
    found: dict[str, Path] = {}
    taken: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in place.parts)
        if path.suffix.lower() not in readable or hidden or not path.is_file():
            continue
        if outside.is_relative_to(inside) and path.resolve().is_relative_to(outside):
            continue
        name, target = place.as_posix(), _target(place.as_posix())
        if target in taken:
            raise InputError(f"{folder}: {taken[target]} and {name} would both become {target}; rename one")
        taken[target] = name
        found[name] = path
    if not found:
        raise InputError(f"{folder}: no file in it has the suffix of an image, such as .png or .jpg")
    return found


def _target(name: str) -> str:
    """Return the path of a corrupted image in its severity's folder."""
    return Path(name).with_suffix(".png").as_posix()


def _sources(files: Mapping[str, Path]) -> tuple[dict[str, Source], list[tuple[str, str]]]:
    """Return each image's name and digest by its target, and the names of those that cannot be read."""
    sources, refused = {}, []
    for name, path in files.items():
        try:
            sources[_target(name)] = (name, digest_of(path.read_bytes()))
        except OSError as error:
            refused.append((name, _unread(error)))
    return sources, refused


def _unread(error: OSError) -> str:
    return f"it cannot be read ({error.strerror or error})"


def _remove_unfinished(folder: Path, severities: Sequence[int]) -> None:
    hidden = list(folder.glob(".*"))
    for severity in severities:
        hidden += (folder / str(severity)).rglob(".*")
    for path in hidden:
        if UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)


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


def _missing(folder: Path, target: str, severities: Sequence[int]) -> dict[int, Path]:
    paths = {severity: folder / str(severity) / target for severity in severities}
    return {severity: path for severity, path in paths.items() if not path.exists()}


def _corrupt(work: Work) -> str | None:
    """Write what is missing of one image, or return the reason why it is left out."""
    try:
        data = work.source.read_bytes()
    except OSError as error:
        return _unread(error)
    if digest_of(data) != work.digest:
        return "it has changed during this run"
    try:
        made = variants_of_image(
            derived_key(work.name, 0), data, work.recipe, tuple(work.targets), work.seed, work.alpha
        )
    except InputError as error:
        if not isinstance(error.__cause__, ImageError):
            raise
        return str(error.__cause__)
    for severity, pixels in made.items():
        with write_to(work.targets[severity]), atomic_write(work.targets[severity]) as file:
            file.write(encode_png(pixels))
    return None
