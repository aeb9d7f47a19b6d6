"""Damaged and hostile files and texts are read, or refused by an error of ours: soon, and in bounded memory.

`python -m pytest tests/fuzzing --hypothesis-profile=long` tries two hundred times as many, others each time.
"""

import io
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchc.errors import InputError
from benchc.images import MAX_PIXELS
from benchc.sources.hub_parquet import LARGEST_UNPACKED
from tests.fuzzing.found import FOUND
from tests.fuzzing.mutations import mutated
from tests.fuzzing.readers import READERS, Reader, assert_one_line

# Of the processor: for a call, and for each byte of a text, and of a file, which may have a row in ten.
SECONDS, OF_TEXT, OF_FILE = 3.0, 1e-5, 1e-4
MEMORY = 25 * MAX_PIXELS  # bytes beyond those before the call: a WebP image takes 22 per pixel
ADDRESSES = 3 * 2**30  # above which the process would end, where a reader asks for them


class HangError(Exception):
    """A reader takes too long."""


def _bytes(key: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{key}:"))


@contextmanager
def limits(seconds: float) -> Iterator[None]:
    """Limit time and memory of the block, which fails where it needs more."""

    def stop(signal_: int, frame: FrameType | None) -> None:
        raise HangError

    before, (soft, hard) = _bytes("VmRSS"), resource.getrlimit(resource.RLIMIT_AS)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    handler = signal.signal(signal.SIGPROF, stop)
    resource.setrlimit(resource.RLIMIT_AS, (_bytes("VmSize") + ADDRESSES, hard))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    start = time.process_time()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert time.process_time() - start < seconds
    assert _bytes("VmHWM") - before < MEMORY


def check(reader: Reader, data: bytes, folder: Path) -> None:
    given: Any = data.decode("utf-8", "replace")
    if reader.file is not None:
        given = folder / reader.file
        given.write_bytes(data)
    with limits(SECONDS + len(data) * (OF_TEXT if reader.file is None else OF_FILE)):
        try:
            reader.call(given)
        except reader.errors as error:
            assert_one_line(error)


@pytest.fixture(params=READERS, ids=lambda reader: reader.name, scope="module")
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Reader, Path]:
    """Return a reader, and a folder with the files beside that which it reads."""
    reader: Reader = request.param
    folder = tmp_path_factory.mktemp("fuzz")
    file = folder / (reader.file or "text")
    file.parent.mkdir(parents=True, exist_ok=True)
    reader.others(file.parent)
    file.write_bytes(reader.seed)
    # Its seed is valid, and libraries take memory when they are first used.
    reader.call(reader.seed.decode() if reader.file is None else file)
    return reader, folder


@settings(
    max_examples=max(1, settings.default.max_examples // 4),
    suppress_health_check=[*HealthCheck],
    database=None,
)
@given(data=st.data())
def test_any_content_is_read_or_refused(prepared: tuple[Reader, Path], data: st.DataObject) -> None:
    reader, folder = prepared
    check(reader, data.draw(mutated(reader.form, reader.seed)), folder)


def test_what_was_found_is_read_or_refused(prepared: tuple[Reader, Path]) -> None:
    reader, folder = prepared
    for content in FOUND.get(reader.name, []):
        check(reader, content, folder)


def test_what_was_found_is_of_readers() -> None:
    assert {*FOUND} <= {reader.name for reader in READERS}


OF_OTHERS = [reader for reader in READERS if reader.form == "parquet" and reader.name != "table and footer"]


@pytest.mark.parametrize("prepared", OF_OTHERS, ids=lambda reader: reader.name, indirect=True)
def test_a_small_parquet_file_that_is_large_when_it_is_unpacked_is_refused(
    prepared: tuple[Reader, Path],
) -> None:
    reader, folder = prepared
    table = pq.read_table(io.BytesIO(reader.seed))
    notes = pa.array(["a" * (LARGEST_UNPACKED + 1)] + [""] * (len(table) - 1))
    path = folder / str(reader.file)
    pq.write_table(table.append_column("note", notes), path, compression="zstd")
    with pytest.raises(InputError, match="when it is unpacked, of a small file"):
        reader.call(path)
