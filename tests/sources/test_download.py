"""Downloads are resumed, retried and checked; an incomplete one never gets the file's name."""

import errno
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchc.sources import transfer
from benchc.sources.download import download, published_name
from benchc.sources.error import SourceError
from benchc.sources.transfer import Limits
from tests.stages import run_stage

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
    many. ``stalls``: whether nothing follows the first half MB; ``drips``: whether a byte follows each 20 ms,
    in the "head", the "body" or, after a MB, its "tail". ``to``: where it redirects. ``tokens``: what was
    sent as Authorization.
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
        validators = {} if server.etag is None else {"ETag": server.etag}
        same = self.headers["If-Range"] in (None, server.etag) or not server.if_range
        if self.headers["Range"] and server.ranges and same:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send(416, {"Content-Range": f"bytes */{len(content)}"})
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        for name, value in validators.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content) - start + server.lies))
        self.end_headers()
        end = len(content)
        if server.breaks > 0 or server.stalls:
            server.breaks -= 1
            end = start + 500_000
        if server.drips is not None:
            quick = 10**6 if server.drips == "tail" else 0
            self.wfile.write(content[start : start + quick])
            self.drip(content[start + quick :])
            return
        self.wfile.write(content[start:end])
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


def test_a_plain_download(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "new" / "data.tsv"
    assert fetch(server, path) == MD5
    assert path.read_bytes() == DATA
    assert server.requested == [None]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("md5", [MD5, None])
def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path, md5: str | None) -> None:
    server.breaks = 2
    assert fetch(server, tmp_path / "data.tsv", md5) == MD5
    assert server.requested == [None, "bytes=500000-", "bytes=1000000-"]


@pytest.mark.parametrize("md5", [MD5, None])
def test_a_killed_download_is_resumed_by_the_next(server: Server, tmp_path: Path, md5: str | None) -> None:
    path = part(tmp_path, server.url, DATA[:1000])
    assert fetch(server, path, md5) == MD5
    assert server.requested == ["bytes=1000-"]
    assert [*tmp_path.iterdir()] == [path]


def test_a_process_that_is_killed_leaves_a_part_that_the_next_resumes(server: Server, tmp_path: Path) -> None:
    path, server.stalls = tmp_path / "data.tsv", True
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


def test_a_whole_part_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    path = part(tmp_path, server.url, DATA)
    assert fetch(server, path) == MD5
    assert path.read_bytes() == DATA
    assert server.requested == []
    path = part(tmp_path, server.url, DATA, size=None)  # of a server that stated no size
    assert fetch(server, path) == MD5
    assert server.requested == [f"bytes={len(DATA)}-"]
    path.unlink()
    path = part(tmp_path, server.url, DATA, size=None)
    assert "expected 3,000,001" in refused(server, path, md5=None, size=3_000_001)


@pytest.mark.parametrize("server_does", ["ignore ranges", "honour If-Range", "ignore If-Range"])
@pytest.mark.parametrize("md5", [OTHER_MD5, None])
def test_a_file_that_was_changed_is_not_mixed_with_the_old_one(
    server: Server, tmp_path: Path, server_does: str, md5: str | None
) -> None:
    path = part(tmp_path, server.url, DATA[:1000])
    server.content, server.etag = OTHER, '"2"'
    server.ranges = server_does != "ignore ranges"
    server.if_range = server_does != "ignore If-Range"
    assert fetch(server, path, md5) == OTHER_MD5


@pytest.mark.parametrize(
    ("of", "record"),
    [
        ("another address", {"url": "http://127.0.0.1:1/old.tsv"}),
        ("no validator", {"etag": None}),
        ("a weak validator", {"etag": 'W/"1"'}),
        ("a file of another size", {"size": 4000}),
        ("nothing known", None),
        ("a record that is cut", "{"),
    ],
)
def test_without_an_md5_a_part_that_may_be_of_another_file_is_discarded(
    server: Server, tmp_path: Path, of: str, record: dict[str, object] | str | None
) -> None:
    path = part(tmp_path, server.url, OTHER[:1000], **(record if isinstance(record, dict) else {}))
    if record is None:
        (tmp_path / "data.tsv.part.json").unlink()
    if isinstance(record, str):
        (tmp_path / "data.tsv.part.json").write_text(record)
    assert fetch(server, path, None) == MD5, of
    assert server.requested[-1] is None


@pytest.mark.parametrize("content", [b"another file" * 10, DATA + b"more than there is"])
def test_an_md5_finds_out_a_part_of_another_file(server: Server, tmp_path: Path, content: bytes) -> None:
    path = part(tmp_path, server.url, content)
    assert fetch(server, path) == MD5
    assert server.requested[-1] is None


def test_a_wrong_md5_is_refused_naming_both(server: Server, tmp_path: Path) -> None:
    message = refused(server, tmp_path / "data.tsv", md5="0" * 32)
    assert MD5 in message and "0" * 32 in message
    assert list(tmp_path.iterdir()) == []


def test_without_an_md5_the_computed_one_is_returned(server: Server, tmp_path: Path) -> None:
    assert fetch(server, tmp_path / "data.tsv", md5=None) == MD5


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_retried(server: Server, tmp_path: Path, status: int) -> None:
    server.status, server.statuses_left = status, 2
    assert fetch(server, tmp_path / "data.tsv") == MD5
    assert len(server.requested) == 3


def test_a_missing_file_is_requested_once(server: Server, tmp_path: Path) -> None:
    server.status = 404
    assert "the server answers 404 Not Found; check " in refused(server, tmp_path / "data.tsv")
    assert len(server.requested) == 1


def test_a_connection_that_always_breaks_keeps_the_received_part(server: Server, tmp_path: Path) -> None:
    server.breaks = 100
    message = refused(server, tmp_path / "data.tsv")
    assert "the request failed 5 times (RemoteProtocolError" in message
    assert f"run it again to resume {tmp_path / 'data.tsv.part'}" in message
    assert (tmp_path / "data.tsv.part").read_bytes() == DATA[:2_500_000]


@pytest.mark.parametrize(
    ("fault", "value", "told"),
    [
        ("stalls", True, "ReadTimeout"),
        ("drips", "body", ", less than 1000 a second"),
        ("drips", "tail", ", less than 1000 a second"),
        ("drips", "head", "no answer within 0.4 seconds"),
        ("status", 500, "the server answers 500 Internal Server Error 2 times"),
    ],
)
def test_a_server_that_fails_is_given_up_for_a_mirror(
    server: Server, mirror: Server, tmp_path: Path, fault: str, value: object, told: str
) -> None:
    setattr(server, fault, value)
    path = tmp_path / "data.tsv"
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


def test_a_length_that_is_too_large_or_too_small(server: Server, mirror: Server, tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    server.lies = 10
    assert fetch(server, path) == MD5  # the server says on a second request that there is no more
    server.lies = -10
    path.unlink()
    message = refused(server, path)
    assert f"the MD5 of the {len(DATA) - 10:,} bytes received is " in message
    assert f"its file has {len(DATA) - 10:,} bytes" in refused(server, path, md5=None, size=len(DATA))
    assert fetch(server, path, MD5, mirror.url) == MD5


def test_a_dead_host_is_given_up_for_a_mirror(server: Server, mirror: Server, tmp_path: Path) -> None:
    server.socket.close()
    assert fetch(server, tmp_path / "data.tsv", MD5, mirror.url) == MD5


def test_a_mirror_with_another_file_is_refused_and_the_next_is_asked(
    server: Server, mirror: Server, tmp_path: Path
) -> None:
    server.status, mirror.content = 404, OTHER
    path = tmp_path / "data.tsv"
    message = refused(server, path, mirror.url)
    assert f"; {mirror.url}: the MD5 of the {len(DATA):,} bytes received is {OTHER_MD5}, " in message
    assert [*tmp_path.iterdir()] == []
    with serving() as third:
        assert fetch(server, path, MD5, mirror.url, third.url) == MD5


def test_a_mirror_continues_what_an_address_began_if_the_md5_allows_it(
    server: Server, mirror: Server, tmp_path: Path
) -> None:
    server.stalls = True
    assert fetch(server, tmp_path / "data.tsv", MD5, mirror.url) == MD5
    assert mirror.requested == ["bytes=1000000-"]
    # The first address had begun another file of the same size.
    server.content = OTHER
    (tmp_path / "data.tsv").unlink()
    assert fetch(server, tmp_path / "data.tsv", MD5, mirror.url) == MD5
    assert mirror.requested[-1] is None


def test_a_part_of_two_addresses_is_not_continued_without_an_md5(
    server: Server, mirror: Server, tmp_path: Path
) -> None:
    path = part(tmp_path, server.url, OTHER[:1000])
    server.status, mirror.breaks = 404, 100
    refused(server, path, mirror.url)
    mirror.breaks = 0
    assert fetch(mirror, path, None) == MD5
    assert path.read_bytes() == DATA


def test_mirrors_without_an_md5_are_refused(server: Server, mirror: Server, tmp_path: Path) -> None:
    assert "has mirrors without an MD5" in refused(server, tmp_path / "data.tsv", mirror.url, md5=None)
    assert server.requested == []


@pytest.mark.parametrize("md5", [MD5, None])
def test_another_size_is_refused_before_the_download(server: Server, tmp_path: Path, md5: str | None) -> None:
    message = refused(server, tmp_path / "data.tsv", md5=md5, size=len(DATA) + 1)
    assert f"its file has {len(DATA):,} bytes, expected {len(DATA) + 1:,}" in message
    assert [*tmp_path.iterdir()] == []
    assert fetch(server, tmp_path / "data.tsv", md5, size=len(DATA)) == MD5


def test_a_server_without_a_length_may_send_only_so_much(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    limits = Limits(most_bytes=1000)

    class Endless(Handler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(DATA)

    server.RequestHandlerClass = Endless
    with pytest.raises(SourceError, match="sends more than 1,000 bytes"):
        download(server.url, path, limits=limits)
    assert [*tmp_path.iterdir()] == []
    # One that ends early is asked again.
    with pytest.raises(SourceError, match=rf"ended after {len(DATA):,} of {len(DATA) + 5:,} bytes"):
        fetch(server, path, None, size=len(DATA) + 5)


def test_an_error_of_the_disk_names_the_part(
    server: Server, mirror: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Iterator[int]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(transfer, "_written", full)
    with pytest.raises(OSError, match="No space left") as caught:
        fetch(server, tmp_path / "data.tsv", MD5, mirror.url)
    assert caught.value.filename == str(tmp_path / "data.tsv.part")
    assert mirror.requested == []


def test_no_connection_is_an_error_with_advice(server: Server, tmp_path: Path) -> None:
    server.socket.close()
    message = refused(server, tmp_path / "data.tsv")
    assert message.startswith(f"{server.url}: the request failed 5 times (ConnectError: ")
    assert "check the network (HTTPS_PROXY) and the address, and run it again; or put data.tsv" in message


def test_a_file_of_the_published_name_is_taken_from_a_folder(server: Server, tmp_path: Path) -> None:
    folder, path = tmp_path / "data", tmp_path / "data.tsv"
    folder.mkdir()
    part(tmp_path, server.url, DATA[:1000])
    given = folder / "data.tsv"
    given.write_bytes(DATA)
    assert fetch(server, path, folder=folder) == MD5
    assert path.read_bytes() == DATA and not path.is_symlink()
    assert server.requested == []
    assert sorted(tmp_path.iterdir()) == [folder, path]
    path.unlink()
    given.write_bytes(OTHER)
    message = refused(server, path, folder=folder)
    assert message == (
        f"{given}: its MD5 is {OTHER_MD5}, expected {MD5}; replace it, or remove it from BENCHC_DATA"
    )
    message = refused(server, path, folder=folder, size=5)
    assert message.startswith(f"{given}: has {len(DATA):,} bytes, expected 5; ")
    assert server.requested == []
    given.unlink()
    assert fetch(server, path, folder=folder) == MD5
    path.unlink()
    server.status = 404
    assert f"put data.tsv from {server.url} into {folder} (BENCHC_DATA)" in refused(
        server, path, folder=folder
    )
    assert "BENCHC_DATA names this folder, which does not exist" in refused(
        server, path, folder=folder / "none"
    )


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.org/b/MMStar.tsv", "MMStar.tsv"),
        ("https://a.org/b/my%20file.tsv?download=true#x", "my file.tsv"),
        ("https://a.org/b/..%2f..%2fpasswd", "passwd"),
        ("https://a.org/", ""),
    ],
)
def test_the_published_name_is_the_last_part_of_the_address(url: str, name: str) -> None:
    assert published_name(url) == name


def test_the_token_is_sent_to_the_hub_alone(
    server: Server, mirror: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    path = tmp_path / "data.tsv"
    assert fetch(server, path) == MD5
    assert server.tokens == [None]
    monkeypatch.setattr(transfer, "HUB", server.url.removesuffix("/data.tsv"))
    server.to = mirror.url  # as the Hub redirects to the servers of its files
    path.unlink()
    assert fetch(server, path) == MD5
    assert server.tokens == [None, f"Bearer {TOKEN}"]
    assert mirror.tokens == [None]
    server.to, server.status = None, 404
    path.unlink()
    assert fetch(server, path, MD5, mirror.url) == MD5
    assert mirror.tokens == [None, None]


@pytest.mark.parametrize("status", [401, 403])
def test_a_denial_of_the_hub_says_what_to_do(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    server.status = status
    hub = server.url.removesuffix("/data.tsv")
    url = f"{hub}/datasets/a/b/resolve/main/data.tsv"
    page = f"{hub}/datasets/a/b"
    with pytest.raises(SourceError) as caught:
        download(url, tmp_path / "data.tsv", limits=QUICK)
    assert "HF_TOKEN" not in str(caught.value)
    monkeypatch.setattr(transfer, "HUB", hub)
    with pytest.raises(SourceError) as caught:
        download(url, tmp_path / "data.tsv", limits=QUICK)
    assert f"accept the terms at {page}, if there are any, and set HF_TOKEN" in str(caught.value)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(SourceError) as caught:
        download(url, tmp_path / "data.tsv", limits=QUICK)
    assert f"check HF_TOKEN, and accept the terms at {page}" in str(caught.value)
    assert len(server.requested) == 3


def test_no_message_has_the_token(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", f" {TOKEN}\n")
    monkeypatch.setattr(transfer, "HUB", server.url.removesuffix("/data.tsv"))
    server.echo = True
    message = refused(server, tmp_path / "data.tsv")
    assert server.tokens[0] == f"Bearer {TOKEN}"
    assert "illegal status line" in message and "***" in message
    assert TOKEN not in message
    monkeypatch.setenv("HF_TOKEN", "with blanks and\nlines")
    message = refused(server, tmp_path / "data.tsv")
    assert message.startswith("the environment variable HF_TOKEN is no token: ") and "blanks" not in message


def test_the_command_line(
    server: Server, mirror: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "data.tsv"
    server.status = 404
    good = run_stage(
        "download_source", url=server.url, md5=MD5, mirrors=[mirror.url], size=len(DATA), output=path
    )
    assert good.returncode == 0, good.stderr
    assert MD5 in good.stdout and path.read_bytes() == DATA
    path.unlink()
    bad = run_stage("download_source", url=mirror.url, md5="0" * 32, output=path)
    assert bad.returncode == 1
    assert "expected" in bad.stderr and "Traceback" not in bad.stderr
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/data.tsv").write_bytes(DATA)
    monkeypatch.setenv("BENCHC_DATA", str(tmp_path / "mine"))
    given = run_stage("download_source", url=server.url, md5=MD5, output=path)
    assert given.returncode == 0, given.stderr
    assert path.read_bytes() == DATA
