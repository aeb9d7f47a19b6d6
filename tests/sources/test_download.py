import errno
import hashlib
import http.server
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx2 as httpx
import pytest

from benchc.sources import transfer
from benchc.sources.download import download, published_name
from benchc.sources.error import SourceError
from benchc.sources.transfer import Limits, Origin, UnavailableError, explained
from tests.stages import call_stage, command_of

ROOT = Path(__file__).resolve().parents[2]
DATA = bytes(range(256)) * 12_000  # 3 MB
MD5 = hashlib.md5(DATA).hexdigest()
OTHER = bytes(reversed(DATA))
OTHER_MD5 = hashlib.md5(OTHER).hexdigest()
QUICK = Limits(attempts=5, longest_wait=0.01, read_s=0.5, slow_s=0.4, least_rate=1000)
TOKEN = "hf_abcDEF0123456789"


class Server(http.server.ThreadingHTTPServer):
    """Serves ``content`` with ranges and validators, but first truncates ``breaks`` responses.

    ``status``: an error that is sent ``statuses_left`` times. ``lies``: bytes that Content-Length has too
    many. ``shift``: how far after what was asked for a range begins. ``stalls``: whether nothing follows the
    first half MB; ``drips``: whether a byte follows each 20 ms, in the "head", the "body" or, after a MB, its
    "tail". ``to``: where it redirects. ``tokens``: what was sent as Authorization.
    """

    daemon_threads = True
    breaks = 0
    status: int | None = None
    statuses_left = 10**6
    ranges = True
    if_range = True
    content = DATA
    etag: str | None = '"1"'
    lies = 0
    shift = 0
    stalls = False
    drips: str | None = None
    to: str | None = None
    echo = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requested: list[str | None] = []
        self.tokens: list[str | None] = []
        self.done = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/data.tsv"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        server = self.server
        server.requested.append(self.headers["Range"])
        server.tokens.append(self.headers["Authorization"])
        if server.drips == "head":
            self.drip(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 10**6)
            return
        if server.echo:
            self.wfile.write(f"HTTP/1.1 {self.headers['Authorization']}\r\n\r\n".encode())
            return
        if server.to is not None:
            self.send(302, {"Location": server.to})
            return
        if server.status is not None and server.statuses_left > 0:
            server.statuses_left -= 1
            self.send(server.status, {})
            return
        content, start = server.content, 0
        same = self.headers["If-Range"] in (None, server.etag) or not server.if_range
        if self.headers["Range"] and server.ranges and same:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-")) + server.shift
            if start >= len(content):
                self.send(416, {"Content-Range": f"bytes */{len(content)}"})
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        if server.etag is not None:
            self.send_header("ETag", server.etag)
        self.send_header("Content-Length", str(len(content) - start + server.lies))
        self.end_headers()
        end = len(content)
        if server.breaks > 0 or server.stalls:
            server.breaks -= 1
            end = start + 500_000
        if server.drips is not None:
            end = start + (10**6 if server.drips == "tail" else 0)
        self.wfile.write(content[start:end])
        if server.drips is not None:
            self.drip(content[end:])
            return
        if server.stalls:
            server.done.wait(5)

    def send(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": "0"}.items():
            self.send_header(name, value)
        self.end_headers()

    def drip(self, content: bytes) -> None:
        for number in range(len(content)):
            try:
                self.wfile.write(content[number : number + 1])
            except OSError:
                return
            if self.server.done.wait(0.02):
                return

    def log_message(self, format: str, *args: object) -> None:
        pass


class WithoutLength(Handler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(DATA)


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.done.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # Only these requests must not go through the machine's proxy.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with serving() as server:
        yield server


@pytest.fixture
def mirror(server: Server) -> Iterator[Server]:
    with serving() as other:
        other.etag = '"of the mirror"'
        yield other


def fetch(server: Server, path: Path, md5: str | None = MD5, *mirrors: str, **keys: object) -> str:
    return download(server.url, path, md5, mirrors=mirrors, limits=QUICK, **keys)  # type: ignore[arg-type]


def part(folder: Path, address: str, content: bytes, **record: object) -> Path:
    """Write a part of 3 MB, as a killed process leaves it, and return the path of its file."""
    (folder / "data.tsv.part").write_bytes(content)
    given = {"url": address, "etag": '"1"', "last_modified": None, "size": len(DATA)} | record
    (folder / "data.tsv.part.json").write_text(json.dumps(given))
    return folder / "data.tsv"


def refused(server: Server, path: Path, *mirrors: str, md5: str | None = MD5, **keys: object) -> str:
    with pytest.raises(SourceError) as caught:
        fetch(server, path, md5, *mirrors, **keys)
    assert not path.exists()
    (line,) = str(caught.value).splitlines()
    return line


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data.tsv"


@pytest.mark.parametrize("md5", [MD5, None])
def test_a_download_that_is_whole_broken_or_killed(server, path, md5):
    new = path.parent / "new/folder/data.tsv"
    assert fetch(server, new, md5) == MD5
    assert new.read_bytes() == DATA and [*new.parent.iterdir()] == [new]
    server.breaks = 2
    assert fetch(server, path, md5) == MD5
    part(path.parent, server.url, DATA[:1000])  # of a process that was killed
    assert fetch(server, path, md5, size=len(DATA)) == MD5
    part(path.parent, server.url, b"").with_name("data.tsv.part").unlink()  # of one that had just begun
    assert fetch(server, path, md5) == MD5
    ranges = ["bytes=500000-", "bytes=1000000-", "bytes=1000-"]
    assert server.requested == [None, None, *ranges, None]
    assert sorted(path.parent.iterdir()) == [path, path.parent / "new"]


def test_what_is_not_the_file_is_refused(server, mirror, path):
    for number, md5 in enumerate(("0" * 32, "f" * 32), start=1):
        message = refused(server, path, md5=md5)
        assert MD5 in message and md5 in message
        assert len(server.requested) == number  # nothing was here that could be of another file
    for md5, size in ((MD5, len(DATA) + 1), (None, len(DATA) + 1), (MD5, len(DATA) - 1)):
        message = refused(server, path, md5=md5, size=size)
        assert f"its file has {len(DATA):,} bytes, expected {size:,}" in message
    assert [*path.parent.iterdir()] == []
    asked = len(server.requested)
    assert "has mirrors without an MD5" in refused(server, path, mirror.url, md5=None)
    assert len(server.requested) == asked
    server.lies = 10
    assert fetch(server, path) == MD5  # the server says on a second request that there is no more
    server.lies = -10
    path.unlink()
    assert f"the MD5 of the {len(DATA) - 10:,} bytes received is " in refused(server, path)
    assert f"its file has {len(DATA) - 10:,} bytes" in refused(server, path, md5=None, size=len(DATA))
    assert fetch(server, path, MD5, mirror.url) == MD5
    path.unlink()
    server.status, asked = 404, len(server.requested)
    assert "the server answers 404 Not Found; check " in refused(server, path)
    assert len(server.requested) == asked + 1
    server.status = 204
    assert "the server answers 204 No Content, without a file; check " in refused(server, path)
    assert len(server.requested) == asked + 2
    server.status = 416  # of a request for the whole file
    assert "the server answers 416 " in refused(server, path)
    assert len(server.requested) == asked + 3


def test_a_process_that_is_killed_leaves_a_part_that_the_next_resumes(server, path):
    server.stalls = True
    code = f"from benchc.sources.download import download; download({server.url!r}, {str(path)!r})"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) as process:
        waited = path.with_name("data.tsv.part")
        while not (waited.exists() and waited.stat().st_size > 100_000):
            time.sleep(0.01)
            assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
    server.stalls = False
    server.done.set()
    assert not path.exists()
    assert fetch(server, path, None) == MD5
    assert server.requested[0] is None and server.requested[1] not in (None, "bytes=0-")


def test_a_whole_part_is_not_downloaded_again(server, path):
    for size, requested in ((len(DATA), []), (None, [f"bytes={len(DATA)}-"])):
        part(path.parent, server.url, DATA, size=size)  # None: of a server that stated no size
        assert fetch(server, path) == MD5
        assert path.read_bytes() == DATA
        assert server.requested == requested
    path.unlink()
    part(path.parent, server.url, DATA, size=None)
    assert "expected 3,000,001" in refused(server, path, md5=None, size=3_000_001)


@pytest.mark.parametrize("server_does", ["ignore ranges", "honour If-Range", "ignore If-Range"])
@pytest.mark.parametrize(("md5", "etag"), [(OTHER_MD5, '"2"'), (None, '"2"'), (None, '"0"')])
def test_a_file_that_was_changed_is_not_mixed_with_the_old_one(server, server_does, md5, etag, path):
    part(path.parent, server.url, DATA[:1000])
    server.content, server.etag = OTHER, etag
    server.ranges = server_does != "ignore ranges"
    server.if_range = server_does != "ignore If-Range"
    assert fetch(server, path, md5) == OTHER_MD5


@pytest.mark.parametrize(
    ("content", "md5", "record"),
    [
        *((b"another file" * count, MD5, {}) for count in (10, 14)),
        (b"?", MD5, {}),
        *((DATA + b"more than there is", md5, {}) for md5 in (MD5, None)),
        # Another address, no or a weak validator, another size, no record, one that is cut.
        *((OTHER[:1000], None, {"url": url}) for url in ("http://127.0.0.1:1/old.tsv", "http://z.org/a")),
        (OTHER[:1000], None, {"etag": None}),
        *((OTHER[:1000], None, record) for record in ({"etag": 'W/"1"'}, {"size": 4000}, None, "{")),
    ],
)
def test_a_part_that_may_be_of_another_file_is_discarded(server, path, content, md5, record):
    part(path.parent, server.url, content, **(record if isinstance(record, dict) else {}))
    if record is None:
        (path.parent / "data.tsv.part.json").unlink()
    if isinstance(record, str):
        (path.parent / "data.tsv.part.json").write_text(record)
    assert fetch(server, path, md5) == MD5
    assert server.requested[-1] is None


@pytest.mark.parametrize("shift", [-10, 10])
def test_a_range_that_was_not_asked_for_is_not_appended(server, path, shift):
    part(path.parent, server.url, DATA[:1000])
    server.shift = shift
    assert download(server.url, path, limits=Limits(longest_wait=0.01)) == MD5
    assert server.requested == ["bytes=1000-", None]


@pytest.mark.parametrize("md5", [MD5, None])
def test_a_range_that_ends_before_the_file_is_continued(server, path, md5, monkeypatch):
    part(path.parent, server.url, DATA[:1000])
    short = [1000]

    def do_get(handler: Handler) -> None:
        server.requested.append(handler.headers["Range"])
        start = int(handler.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        end = start + short.pop() if short else len(DATA)
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(DATA)}")
        handler.send_header("ETag", '"1"')
        handler.send_header("Content-Length", str(end - start))
        handler.end_headers()
        handler.wfile.write(DATA[start:end])

    monkeypatch.setattr(Handler, "do_GET", do_get)
    assert download(server.url, path, md5, limits=Limits(longest_wait=0.01)) == MD5
    assert server.requested == ["bytes=1000-", "bytes=2000-"]


def test_a_file_that_is_sent_compressed_is_refused(server, path, monkeypatch):
    coding = "GZip"

    def do_get(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", coding)
        handler.send_header("Content-Length", str(len(DATA)))
        handler.end_headers()
        handler.wfile.write(DATA)

    monkeypatch.setattr(Handler, "do_GET", do_get)
    assert "the server sends its file compressed (GZip), unasked" in refused(server, path, md5=None)
    coding = "aws-chunked, x-gzip, br"
    assert f"({coding[:20]})" in refused(server, path, md5=None)
    # As some servers say of a file that is compressed itself.
    packed = server.url.replace("data.tsv", "data.tsv.gz")
    assert download(packed, path, None, limits=QUICK) == MD5
    # The MD5 is that of the file. Storage that has other names for its parts has the file itself.
    for coding, md5 in (("gzip", MD5), ("aws-chunked", None), ("", None)):  # noqa: B007
        path.unlink()
        assert download(server.url, path, md5, limits=QUICK) == MD5


@pytest.mark.parametrize("number", ["9" * 5000, "²"])
def test_a_number_that_is_none_is_passed_over(number):
    length = httpx.Response(200, headers={"Content-Length": number.encode()})
    total = httpx.Response(206, headers={"Content-Range": f"bytes 0-1/{number}".encode()})
    assert [Origin.of("", answer).size for answer in (length, total)] == [None, None]
    first = {"Content-Range": f"bytes {number}-1/2".encode()}
    assert transfer._first_byte(httpx.Response(206, headers=first)) is None
    whole = {"Content-Range": f"bytes */{number}".encode()}
    assert transfer._size_of_416(httpx.Response(416, headers=whole)) is None


@pytest.mark.parametrize("old", ["ftp://a.org/data.tsv", "https://z.org/data.tsv"])
def test_a_part_that_another_address_continued_is_recorded_as_such(server, path, old):
    part(path.parent, old, DATA[:1000], etag='"of the old"')
    here = transfer.Part(path)
    transfer.transfer(server.url, here, checked=True, size=None, attempts=1, limits=Limits())
    assert here.path.read_bytes() == DATA and server.requested == ["bytes=1000-"]
    # Without what tells the file from others: only an MD5 can tell whether the two addresses have one.
    assert here.origin() == Origin(server.url, size=len(DATA))


def test_an_address_that_cannot_be_asked_is_asked_once(path):
    with pytest.raises(SourceError, match=r"^ftp://a.org/b: the request failed \(UnsupportedProtocol: "):
        download("ftp://a.org/b", path, limits=QUICK)
    with pytest.raises(UnavailableError, match=r"^the request failed \(ConnectError: none\)$"):  # noqa: SIM117
        with explained("http://a.org"):
            raise httpx.ConnectError("none")


def test_by_default_there_are_eight_tries_and_two_minutes_with_less_than_1_kb_a_second(
    server, path, monkeypatch
):
    waits: list[float] = []
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=waits.append))
    monkeypatch.setattr("tenacity.wait.random", SimpleNamespace(uniform=max))
    server.status, limits = 500, Limits()
    with pytest.raises(SourceError, match="the server answers 500 Internal Server Error 8 times; "):
        download(server.url, path, limits=limits)
    assert len(server.requested) == 8
    # At most, as pauses are drawn at random.
    assert waits == [1, 2, 4, 8, 16, 32, 60]
    assert (limits.slow_s, limits.least_rate) == (2 * 60, 1000)
    # A server has a quarter of a minute to answer at all, and half a minute for the next byte.
    assert limits.timeout == httpx.Timeout(60 / 2, connect=60 / 4)
    assert limits.most_bytes == 100e9


def test_the_progress_counts_mebibytes(server, path, monkeypatch):
    shown = []

    def track(steps: Iterator[int], *, total: int | None, **_: str) -> Iterator[int]:
        shown.append((len([*steps]), total))
        return iter(())

    monkeypatch.setattr(transfer, "track", track)
    assert fetch(server, path) == MD5
    server.content = bytes(2 * transfer.MIB - 1)
    fetch(server, path, None)
    server.RequestHandlerClass = WithoutLength
    assert fetch(server, path) == MD5
    assert shown == [(2, 2), (1, 1), (2, None)]  # of 2.9, a byte less than 2, and 2.9


KNOWN = Origin("http://m.org", '"1"', "Mon", 3)


@pytest.mark.parametrize(
    ("other", "differs"),
    [
        *((other, False) for other in (KNOWN, Origin(KNOWN.url), Origin(KNOWN.url, '"1"', None, 3))),
        *((Origin(KNOWN.url, etag), True) for etag in ('"0"', '"2"')),
        *((Origin(KNOWN.url, None, date), True) for date in ("Fri", "Tue")),
        *((Origin(url, size=size), True) for url in (KNOWN.url, "http://a.org") for size in (2, 4)),
        # Two servers have their own tags and dates.
        *((Origin(url, '"2"', "Tue", 3), False) for url in ("http://a.org", "http://z.org")),
    ],
)
def test_files_differ_where_their_tags_dates_or_sizes_do(other: Origin, differs: bool) -> None:
    assert KNOWN.differs(other) is differs and other.differs(KNOWN) is differs


def test_a_weak_tag_is_no_validator_but_the_date_beside_it_is() -> None:
    made = [Origin("u", etag, "Mon").validator for etag in ('"1"', 'W/"1"', None)]
    assert made == ['"1"', "Mon", "Mon"] and Origin("u", 'W/"1"').validator is None


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_retried(server, status, path):
    part(path.parent, server.url, DATA[:1000])
    server.status, server.statuses_left = status, 2
    assert fetch(server, path) == MD5
    assert server.requested == ["bytes=1000-"] * 3


@pytest.mark.parametrize(
    ("status", "told", "passes"),
    [
        *((408, "408 Request Timeout", True), (425, "425 Too Early", True), (502, "502 Bad Gateway", True)),
        *((504, "504 Gateway Timeout", True), (404, "404 Not Found", False)),
        *((501, "501 Not Implemented", False), (520, "520", False)),  # 520 has no name in the standard
    ],
)
def test_only_errors_that_may_pass_are_retried(status, told, passes):
    request = transfer.httpx.Request("GET", "http://a")
    response = transfer.httpx.Response(status, request=request)
    error = transfer.httpx.HTTPStatusError("", request=request, response=response)
    assert (transfer._is_temporary(error), transfer._status_text(status)) == (passes, told)


def test_a_connection_that_always_breaks_keeps_the_received_part(server, tmp_path, path):
    server.breaks = 100
    message = refused(server, path)
    assert "the request failed 5 times (RemoteProtocolError" in message
    assert f"run it again to resume {tmp_path / 'data.tsv.part'}" in message
    assert (path.with_name("data.tsv.part")).read_bytes() == DATA[:2_500_000]


@pytest.mark.parametrize(
    ("fault", "value", "told"),
    [
        ("stalls", True, "ReadTimeout"),
        *(("drips", where, ", less than 1000 a second") for where in ("body", "tail", "head")),
        ("status", 500, "the server answers 500 Internal Server Error 2 times"),
    ],
)
def test_a_server_that_fails_is_given_up_for_a_mirror(server, mirror, path, fault, value, told):
    setattr(server, fault, value)
    began = time.monotonic()
    assert fetch(server, path, MD5, mirror.url) == MD5
    assert time.monotonic() - began < 10
    assert path.read_bytes() == DATA
    assert len(server.requested) == QUICK.attempts_before_mirror
    server.done.clear()
    mirror.status = 404
    path.unlink()
    message = refused(server, path, mirror.url)
    assert told in message
    assert f"{mirror.url}: the server answers 404 Not Found" in message
    assert f"put data.tsv from {server.url} into a folder and set BENCHC_DATA to that folder" in message


def test_a_mirror_with_another_file_is_refused_and_the_next_is_asked(server, mirror, path, tmp_path):
    server.status, mirror.content = 404, OTHER
    message = refused(server, path, mirror.url)
    assert f"; {mirror.url}: the MD5 of the {len(DATA):,} bytes received is {OTHER_MD5}, " in message
    assert [*tmp_path.iterdir()] == []
    with serving() as third:
        assert fetch(server, path, MD5, mirror.url, third.url) == MD5


def test_a_mirror_continues_what_an_address_began_if_the_md5_allows_it(server, mirror, path):
    server.stalls = True
    assert fetch(server, path, MD5, mirror.url) == MD5
    assert mirror.requested == ["bytes=1000000-"]
    # The first address had begun another file of the same size.
    server.content = OTHER
    path.unlink()
    assert fetch(server, path, MD5, mirror.url) == MD5
    assert mirror.requested[-1] is None
    # Without an MD5, a part of two addresses is not continued.
    path.unlink()
    part(path.parent, server.url, OTHER[:1000])
    server.status, mirror.breaks = 404, 100
    refused(server, path, mirror.url)
    mirror.breaks = 0
    assert fetch(mirror, path, None) == MD5
    assert path.read_bytes() == DATA


def test_a_server_without_a_length_may_send_only_so_much(server, path, tmp_path):
    limits = Limits(most_bytes=1000)
    server.RequestHandlerClass = WithoutLength
    with pytest.raises(SourceError, match="sends more than 1,000 bytes"):
        download(server.url, path, limits=limits)
    assert "sends more than 999 bytes" in refused(server, path, md5=None, size=999)
    assert [*tmp_path.iterdir()] == []
    # One that ends early is asked again.
    with pytest.raises(SourceError, match=rf"ended after {len(DATA):,} of {len(DATA) + 5:,} bytes"):
        fetch(server, path, None, size=len(DATA) + 5)


def test_a_full_disk_is_one_line_and_its_part_is_resumed(server, mirror, path, monkeypatch):
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))

    command = command_of("download_source", url=server.url, output=path)
    full = subprocess.run(command, preexec_fn=limit, cwd=ROOT, capture_output=True, text=True, check=False)
    assert full.returncode == 1
    (line,) = full.stderr.splitlines()
    assert line.startswith(f"error: {path}.part: cannot be read or written (File too large); ")
    assert fetch(server, path, None) == MD5
    assert server.requested[-1] not in (None, "bytes=0-") and [*path.parent.iterdir()] == [path]

    def full_disk(*_: object) -> Iterator[int]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(transfer, "_written", full_disk)
    with pytest.raises(OSError, match=r"No space left.*data\.tsv\.part"):
        fetch(server, path, MD5, mirror.url)
    assert mirror.requested == []


def test_no_connection_is_an_error_with_advice_or_a_mirror_is_asked(server, mirror, path):
    server.socket.close()
    message = refused(server, path)
    assert message.startswith(f"{server.url}: the request failed 5 times (ConnectError: ")
    assert "check the network (HTTPS_PROXY) and the address, and run it again; or put data.tsv" in message
    assert fetch(server, path, MD5, mirror.url) == MD5


def test_a_file_of_the_published_name_is_taken_from_a_folder(server, tmp_path, path):
    folder, path = tmp_path / "data", path
    folder.mkdir()
    part(path.parent, server.url, DATA[:1000])
    given = folder / "data.tsv"
    given.write_bytes(DATA)
    assert fetch(server, path, folder=folder) == MD5
    assert path.read_bytes() == DATA and not path.is_symlink()
    assert sorted(tmp_path.iterdir()) == [folder, path]
    path.unlink()
    given.write_bytes(OTHER)
    mend = "replace it, or remove it from BENCHC_DATA"
    for md5 in (MD5, "0" * 32, "f" * 32):
        message = refused(server, path, md5=md5, folder=folder)
        assert message == f"{given}: its MD5 is {OTHER_MD5}, expected {md5}; {mend}"
    for size in (5, len(DATA) + 1):
        message = refused(server, path, folder=folder, size=size)
        assert message.startswith(f"{given}: has {len(DATA):,} bytes, expected {size:,}; ")
    assert server.requested == []
    given.unlink()
    assert fetch(server, path, folder=folder) == MD5
    path.unlink()
    server.status = 404
    advice = f"put data.tsv from {server.url} into {folder} (BENCHC_DATA)"
    assert advice in refused(server, path, folder=folder)
    absent = refused(server, path, folder=folder / "none")
    assert "BENCHC_DATA names this folder, which does not exist" in absent


def test_the_published_name_is_the_last_part_of_the_address():
    names = {"b/MMStar.tsv": "MMStar.tsv", "b/my%20file.tsv?download=true#x": "my file.tsv"}
    names |= {"b/..%2f..%2fpasswd": "passwd", "": ""}
    assert {path: published_name(f"https://a.org/{path}") for path in names} == names


def test_the_token_is_sent_to_the_hub_alone(server, mirror, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert fetch(server, tmp_path / "a.tsv") == MD5
    monkeypatch.setattr(transfer, "HUB", server.url.removesuffix("/data.tsv"))
    server.to = mirror.url  # as the Hub redirects to the servers of its files
    assert fetch(server, tmp_path / "b.tsv") == MD5
    assert server.tokens == [None, f"Bearer {TOKEN}"] and mirror.tokens == [None]
    server.to, server.status = None, 404
    assert fetch(server, tmp_path / "c.tsv", MD5, mirror.url) == MD5
    assert mirror.tokens == [None, None]


@pytest.mark.parametrize(
    ("address", "is_hub"),
    [
        ("https://huggingface.co/a", True),
        ("http://huggingface.co/a", False),
        *((f"https://{host}/a", False) for host in ("a.org", "z.org", "huggingface.co.z.org")),
        *((f"https://huggingface.co:{port}/a", False) for port in (80, 8443)),
    ],
)
def test_the_hub_is_one_origin(address: str, is_hub: bool) -> None:
    assert transfer._at_hub(address) is is_hub


@pytest.mark.parametrize("status", [401, 403])
def test_a_denial_of_the_hub_says_what_to_do(server, monkeypatch, status, path):
    server.status = status
    hub = server.url.removesuffix("/data.tsv")
    page = f"{hub}/datasets/a/b"

    def denied() -> str:
        with pytest.raises(SourceError) as caught:
            download(f"{page}/resolve/main/data.tsv", path, limits=QUICK)
        return str(caught.value)

    assert "HF_TOKEN" not in denied()
    monkeypatch.setattr(transfer, "HUB", hub)
    assert f"accept the terms at {page}, if there are any, and set HF_TOKEN" in denied()
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert f"check HF_TOKEN, and accept the terms at {page}" in denied()
    assert len(server.requested) == 3


def test_no_message_has_the_token(server, monkeypatch, path):
    monkeypatch.setenv("HF_TOKEN", f" {TOKEN}\n")
    monkeypatch.setattr(transfer, "HUB", server.url.removesuffix("/data.tsv"))
    server.echo = True
    message = refused(server, path)
    assert server.tokens[0] == f"Bearer {TOKEN}"
    assert "illegal status line" in message and "***" in message
    assert TOKEN not in message
    monkeypatch.setenv("HF_TOKEN", "with blanks and\nlines")
    message = refused(server, path)
    assert message.startswith("the environment variable HF_TOKEN is no token: ") and "blanks" not in message


def test_the_command_line(server, mirror, path, tmp_path, monkeypatch, capsys):
    server.status = 404
    given = {"url": server.url, "md5": MD5, "output": path}
    call_stage("download_source", **given, mirrors=[mirror.url], size=len(DATA))
    assert MD5 in capsys.readouterr().out and path.read_bytes() == DATA
    path.unlink()
    with pytest.raises(SourceError, match="expected"):
        call_stage("download_source", url=mirror.url, md5="0" * 32, output=path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/data.tsv").write_bytes(DATA)
    monkeypatch.setenv("BENCHC_DATA", str(tmp_path / "mine"))
    call_stage("download_source", **given)
    assert path.read_bytes() == DATA
