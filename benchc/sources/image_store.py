"""Image files by name, in a folder or in a zip that is not unpacked."""

import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from benchc.images import ImageError
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.item_images import check_image
from benchc.sources.json_lists import ZIP_ERRORS, is_of_disk, is_zip, opened_zip

# An uncompressed image of 40 megapixels, the limit, has 120 MB, or 320 MB with 16 bits and transparency.
LARGEST_FILE = 2**29

ImageReader = Callable[[str], bytes]


@contextmanager
def opened_images(path: Path) -> Iterator[ImageReader]:
    """Yield a function that returns the bytes of the image file of a name, which it has decoded once.

    ``path`` is a folder of the files, or a zip that has them in any folder. Raises SourceError where it is
    neither, or the zip has two files of one name; the function raises InvalidRowError where there is no such
    file below the folder, or it is damaged.
    """
    if path.is_dir():
        yield lambda name: _checked(name, lambda: _below(path, name).read_bytes())
        return
    if not path.is_file() or not is_zip(path):
        raise SourceError(f"{path}: is neither a folder of images nor a zip of them; correct the path")
    with opened_zip(path) as archive:
        members: dict[str, zipfile.ZipInfo] = {}
        for member in archive.infolist():
            name = PurePosixPath(member.filename).name
            if not member.is_dir() and members.setdefault(name, member) is not member:
                raise SourceError(f"{path}: contains two files {name!r}; give a zip with one of them")

        def read(name: str) -> bytes:
            # zipfile unpacks no more than this, whatever the member has.
            if members[name].file_size > LARGEST_FILE:
                raise ImageError(f"has more than {LARGEST_FILE:,} bytes when it is unpacked")
            return archive.read(members[name])

        yield lambda name: _checked(name, lambda: read(name))


def _below(folder: Path, name: str) -> Path:
    """Return the file of a name in a folder. Raises FileNotFoundError where it is no name of one below it."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not name.isprintable():
        raise FileNotFoundError
    return folder / name


def _checked(name: str, read: Callable[[], bytes]) -> bytes:
    try:
        data = read()
        check_image(data)
    except (FileNotFoundError, KeyError) as error:
        raise InvalidRowError(f"image {name}: there is no such file among the images") from error
    except ZIP_ERRORS as error:
        if is_of_disk(error):
            raise
        raise InvalidRowError(f"image {name}: cannot be unzipped ({error})") from error
    except ImageError as error:
        raise InvalidRowError(f"image {name}: {error}") from error
    return data
