"""Choose the images of a source whose items are taken: a number, or those of a list file."""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from benchc.randomness import seed_of
from benchc.sources.error import SourceError

Take = int | Path | None  # how many, a file that lists them, or None for all


def chosen_images(names: Mapping[int, str], take: Take, origin: Path) -> set[int]:
    """Return the ids of the images that ``take`` gives; ``names`` maps ids to file names.

    A number takes the first in the order of a hash of their ids, so fewer are a subset of more. Raises
    SourceError, which names ``origin``, the file of the questions, where it has fewer images, and where a
    list file cannot be read, is empty, names an image twice, or one that is not among ``names``.
    """
    if take is None:
        return set(names)
    if isinstance(take, Path):
        return _listed(take, names, origin)
    if take > len(names):
        raise SourceError(
            f"{origin}: take_images is {take:,}, but its questions are about {len(names):,} images; lower "
            "take_images"
        )
    return set(sorted(names, key=lambda id_: (seed_of("image", id_), id_))[:take])


def _listed(path: Path, names: Mapping[int, str], origin: Path) -> set[int]:
    ids = {name: id_ for id_, name in names.items()} | {
        PurePosixPath(name).stem: id_ for id_, name in names.items()
    }
    lines: dict[int, int] = {}
    for number, text in _lines(path):
        id_ = int(text) if text.isdecimal() and len(text) < 20 else ids.get(PurePosixPath(text).name)
        if id_ is None or id_ not in names:
            raise SourceError(
                f"{path}: line {number} is {text[:60]!r}, which is no image of {origin}; give one image "
                "id or file name per line"
            )
        if id_ in lines:
            raise SourceError(f"{path}: line {number} names the image of line {lines[id_]}; remove one")
        lines[id_] = number
    if not lines:
        raise SourceError(f"{path}: lists no image; give one image id or file name per line")
    return set(lines)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the number, from 1, and the text of each line that is not blank."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise SourceError(f"{path}: cannot be read ({error.strerror}); correct take_images") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path}: is no text in UTF-8; give one image id or file name per line") from error
    for number, line in enumerate(lines, start=1):
        if text := line.strip():
            yield number, text
