"""Image files by name, in a folder or in a zip that is not unpacked."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from benchc.images import ImageError
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.item_images import check_image
from benchc.sources.json_lists import ZIP_ERRORS, is_zip, opened_zip

ImageReader = Callable[[str], bytes]


@contextmanager
def opened_images(path: Path) -> Iterator[ImageReader]:
    """Yield a function that returns the bytes of the image file of a name, which it has decoded once.

    ``path`` is a folder of the files, or a zip that has them in any folder. Raises SourceError where it is
    neither, or the zip has two files of one name; the function raises InvalidRowError where there is no such
    file, or it is damaged.
    """
    if path.is_dir():
        yield lambda name: _checked(name, lambda: (path / name).read_bytes())
        return
    if not path.is_file() or not is_zip(path):
        raise SourceError(f"{path}: is neither a folder of images nor a zip of them; correct the path")
    with opened_zip(path) as archive:
        members: dict[str, zipfile.ZipInfo] = {}
        for member in archive.infolist():
            name = PurePosixPath(member.filename).name
            if not member.is_dir() and members.setdefault(name, member) is not member:
                raise SourceError(f"{path}: contains two files {name!r}; give a zip with one of them")
        yield lambda name: _checked(name, lambda: archive.read(members[name]))


def _checked(name: str, read: Callable[[], bytes]) -> bytes:
    try:
        data = read()
        check_image(data)
    except (FileNotFoundError, KeyError) as error:
        raise InvalidRowError(f"image {name}: there is no such file among the images") from error
    except ZIP_ERRORS as error:
        raise InvalidRowError(f"image {name}: cannot be unzipped ({error})") from error
    except ImageError as error:
        raise InvalidRowError(f"image {name}: {error}") from error
    return data
