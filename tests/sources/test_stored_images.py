"""Images that do not fit into the memory are in a file of the folder given."""

import sys
import tempfile
from pathlib import Path

import pytest

from benchc.sources import stored_images
from tests.sources.tsv_files import BLUE, RED, image_bytes


@pytest.mark.parametrize("given", [True, False])
def test_the_file_is_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: bool) -> None:
    monkeypatch.setattr(stored_images, "IN_MEMORY", 1)
    folder = tmp_path if given else Path(tempfile.gettempdir())
    with stored_images.StoredImages(tmp_path if given else None) as store:
        numbers = [store.add(store.check(data), data) for data in (RED, BLUE, RED)]
        assert numbers == [0, 1, 0] and [store.read(number) for number in (0, 1)] == [RED, BLUE]
        # One that is added after others were read overwrites none of them.
        other = image_bytes((1, 2, 3))
        assert store.read(0) == RED and store.add(store.check(other), other) == 2
        assert [store.read(number) for number in range(3)] == [RED, BLUE, other]
        # It has no name, so that it goes with the process. Linux tells where it is.
        place = Path(f"/proc/self/fd/{store._file.fileno()}")
        assert sys.platform != "linux" or place.readlink().parent == folder
