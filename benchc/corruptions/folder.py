"""Corrupt the images of a folder into another folder, without the pipeline."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchc.atomic import MARK, atomic_write, write_text
from benchc.corruptions.chunks import code_digest, input_error_on_write, library_versions
from benchc.corruptions.own_suite import ALL, suite_with
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import Engine, corruptions_of, recipe_of
from benchc.corruptions.sources import Source, digest_of, discard_stale
from benchc.corruptions.variants import variants_of_image
from benchc.errors import InputError
from benchc.image_keys import derived_key
from benchc.images import ImageError, encode_png, readable_suffixes
from benchc.json_content import json_content
from benchc.pluralize import pluralize
from benchc.printable import printable
from benchc.progress import track
from benchc.transparency import Alpha
from benchc.worker_processes import map_in_processes

RECORD = "corruption.json"  # how the images in its folder were made
SHOWN = 20  # images listed in one message

# The temporary files of benchc.atomic, which a killed process leaves behind.
UNFINISHED = re.compile(rf"\..+\.(png|json)\.{MARK}[a-z0-9_]{{8}}")


@dataclass(frozen=True)
class Work:
    """One image and one corruption, at the severities whose files are missing."""

    source: Path
    name: str  # the image's path in its folder, from which its seeds are derived
    digest: str
    recipe: Recipe
    targets: dict[int, Path]  # by severity
    seed: int
    alpha: Alpha


RecipeAtSeverities = tuple[Recipe, tuple[int, ...]]  # a corruption and its wanted severities


def choose(
    names: Sequence[str],
    severities: Sequence[int] | None = None,
    suite: str = "imagenet-c",
    engine: Engine = "benchc",
    own_files: Sequence[Path] = (),
) -> list[RecipeAtSeverities]:
    """Return the recipes and severities for ``names``: corruptions of the suite, or ``all``, its default set.

    ``own_files`` add corruptions. Severities are the suite's unless given. Raises InputError for names and
    severities that the suite or engine lacks, and where a file cannot be used.
    """
    whole = suite_with(suite, own_files)
    chosen = [each for name in names for each in (corruptions_of(whole) if name == ALL else (name,))]
    choices = []
    for recipe in (recipe_of(name, whole, engine) for name in dict.fromkeys(chosen)):
        for severity in severities or ():
            if severity not in recipe.severities:
                allowed = ", ".join(map(str, recipe.severities))
                raise InputError(f"{recipe.name} has the severities {allowed}, not {severity}")
        choices.append((recipe, tuple(sorted(set(severities or recipe.severities)))))
    return choices


def corrupt_folder(
    images: Path,
    output: Path,
    choices: Sequence[RecipeAtSeverities],
    *,
    seed: int = 0,
    alpha: Alpha = "drop",
    workers: int = 1,
) -> int:
    """Write every image of ``images`` as ``output/{corruption}/{severity}/{image}.png``, losslessly.

    Images are the files whose suffix Pillow can decode, in subfolders too, except those in ``output`` and
    those that another call has written. Standard error names the folders of such calls, and other files.
    Existing files are kept, so an interrupted run resumes; those of an image that has changed are deleted at
    all severities and recreated at the chosen ones. ``output/{corruption}/corruption.json`` records how they
    were made, and ``sources.json`` from which files. Two runs must not write one corruption and severity at
    the same time. Returns the number of files written.

    Raises InputError where the folder has no images or two that would get one name, where existing files were
    made in another way, where ``output`` cannot be written, and, after all others are done, for images that
    cannot be read or corrupted.
    """
    files = _images(images, output, [recipe.name for recipe, _ in choices])
    sources, refused = _sources(files)
    work = []
    gone: set[str] = set()
    for recipe, severities in choices:
        folder = output / recipe.name
        with input_error_on_write(folder):
            _remove_unfinished(folder, severities)
            _claim(folder / RECORD, recipe, seed, alpha)
            gone |= discard_stale(folder, sources)
        for target, (name, digest) in sources.items():
            if missing := _missing(folder, target, severities):
                work.append(Work(files[name], name, digest, recipe, missing, seed, alpha))
    written = 0
    done = map_in_processes(_corrupt, work, workers if workers > 1 else 0)
    for each, failure in zip(work, track(done, label="corrupt", unit="images", total=len(work)), strict=True):
        if failure is None:
            written += len(each.targets)
        else:
            refused.append((each.name, failure))
    if gone:
        line = (
            f"{output}: keeps what an earlier call made of {pluralize(len(gone), 'file')} that "
            f"{'is' if len(gone) == 1 else 'are'} not in {images}: {_listed(sorted(gone))}"
        )
        print(printable(line), file=sys.stderr)
    if refused:
        listed = [f"{name}: {reason}" for name, reason in dict.fromkeys(refused)]
        more = f"; and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
        count = len({name for name, _ in refused})
        raise InputError(
            f"{images}: {count} of {len(files)} images could not be corrupted, all others are done: "
            f"{'; '.join(listed[:SHOWN])}{more}; fix or remove them"
        )
    return written


def _images(folder: Path, output: Path, corruptions: Sequence[str]) -> dict[str, Path]:
    """Return the image files by their path in the folder, sorted."""
    if not folder.is_dir():
        is_ = "is a file" if folder.exists() else "no such folder"
        raise InputError(f"{folder}: {is_}; give a folder of images")
    if (folder / RECORD).is_file():
        raise InputError(
            f"{folder}: has images that benchc has corrupted ({RECORD}); give the folder of the clean "
            "images, or, to corrupt these again, that of one severity"
        )
    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file, but the output is a folder; give another --output")
    inside, outside = folder.resolve(), output.resolve()
    if outside == inside or any(inside.is_relative_to((outside / name).resolve()) for name in corruptions):
        raise InputError(f"{folder}: is both input and output; give another --output")
    readable = readable_suffixes()
    found: dict[str, Path] = {}
    taken: dict[str, str] = {}
    others: list[str] = []
    written = {record.parent for record in folder.glob(f"?*/**/{RECORD}")}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        hidden = any(part.startswith(".") for part in place.parts)
        if hidden or not path.is_file() or not written.isdisjoint(path.parents):
            continue
        if outside.is_relative_to(inside) and path.resolve().is_relative_to(outside):
            continue
        if path.suffix.lower() not in readable:
            others.append(place.as_posix())
            continue
        name, target = place.as_posix(), _target(place.as_posix())
        if target in taken:
            raise InputError(f"{folder}: {taken[target]} and {name} would both become {target}; rename one")
        taken[target] = name
        found[name] = path
    if not found:
        known = ", but those that another call has written" if written else ""
        raise InputError(f"{folder}: contains no images (.png, .jpg, ...){known}; give a folder of images")
    made = sorted(each for each in written if not each.resolve().is_relative_to(outside))
    if made:
        names = [each.relative_to(folder).as_posix() for each in made]
        line = f"{folder}: left out, as benchc wrote the images there ({RECORD}): {_listed(names)}"
        print(printable(line), file=sys.stderr)
    if others:
        count = pluralize(len(others), "file")
        line = f"{folder}: {count} left out, by the suffix no image that can be read: {_listed(others)}"
        print(printable(line), file=sys.stderr)
    return found


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:SHOWN])}{', …' if len(names) > SHOWN else ''}"


def _target(name: str) -> str:
    """Return the path of a corrupted image in the folder of its severity."""
    return Path(name).with_suffix(".png").as_posix()


def _sources(files: Mapping[str, Path]) -> tuple[dict[str, Source], list[tuple[str, str]]]:
    """Return each image's name and digest by its target, and the names and errors of unreadable ones."""
    sources, refused = {}, []
    for name, path in files.items():
        try:
            sources[_target(name)] = (name, digest_of(path.read_bytes()))
        except OSError as error:
            refused.append((name, _unreadable(error)))
    return sources, refused


def _unreadable(error: OSError) -> str:
    return f"it cannot be read ({error.strerror or error})"


def _remove_unfinished(folder: Path, severities: Sequence[int]) -> None:
    hidden = list(folder.glob(".*"))
    for severity in severities:
        hidden += (folder / str(severity)).rglob(".*")
    for path in hidden:
        if UNFINISHED.fullmatch(path.name):
            path.unlink(missing_ok=True)


def _claim(path: Path, recipe: Recipe, seed: int, alpha: Alpha) -> None:
    """Record in ``path`` how the images in its folder are made. Raises InputError where this differs."""
    content = {
        "seed": seed,
        "alpha": alpha,
        "recipe": recipe.content(),
        "libraries": library_versions(),
        "code": code_digest(recipe),
    }
    text = json.dumps(content, indent=2) + "\n"
    if path.exists() and (before := path.read_text(encoding="utf-8", errors="replace")) != text:
        try:
            old = json_content(before)
        except ValueError:
            old = None
        old = old if isinstance(old, dict) else {}
        new = json_content(text)
        differing = ", ".join(name for name in content if old.get(name) != new[name])
        raise InputError(
            f"{path}: the images in its folder were made in another way (different: {differing}); give "
            f"another --output, or delete {path.parent}"
        )
    write_text(path, text)


def _missing(folder: Path, target: str, severities: Sequence[int]) -> dict[int, Path]:
    paths = {severity: folder / str(severity) / target for severity in severities}
    return {severity: path for severity, path in paths.items() if not path.exists()}


def _corrupt(work: Work) -> str | None:
    """Write the missing files of one image, or return the reason why that is impossible."""
    try:
        data = work.source.read_bytes()
    except OSError as error:
        return _unreadable(error)
    if digest_of(data) != work.digest:
        return "it changed during this run"
    try:
        variants = variants_of_image(
            derived_key(work.name, 0), data, work.recipe, tuple(work.targets), work.seed, work.alpha
        )
    except InputError as error:
        if not isinstance(error.__cause__, ImageError):
            raise
        return str(error.__cause__)
    for severity, pixels in variants.items():
        with input_error_on_write(work.targets[severity]), atomic_write(work.targets[severity]) as file:
            file.write(encode_png(pixels))
    return None
