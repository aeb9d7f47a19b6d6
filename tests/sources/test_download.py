"""Downloads are resumed, retried and checked; an incomplete one never gets the file's name."""

import hashlib
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchc.sources.download import download
from benchc.sources.error import SourceError
from tests.stages import run_stage

ROOT = Path(__file__).resolve().parents[2]
DATA = bytes(range(256)) * 12_000  # 3 MB
MD5 = hashlib.md5(DATA).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves DATA with ranges, but first truncates ``breaks`` responses or sends the error ``status``."""

    breaks = 0
    status: int | None = None
    statuses_left = 10**6
    ranges = True
    content = DATA

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requested: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/data.tsv"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requested.append(self.headers["Range"])
        if self.server.status is not None and self.server.statuses_left > 0:
            self.server.statuses_left -= 1
            self.send_response(self.server.status)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        content, start = self.server.content, 0
        if self.headers["Range"] and self.server.ranges:
            start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            if start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = len(content)
        if self.server.breaks > 0:
            self.server.breaks -= 1
            end = start + 500_000
        self.wfile.write(content[start:end])

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # Only these requests must not go through the machine's proxy.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def fetch(server: Server, path: Path, md5: str | None = MD5, attempts: int = 5) -> str:
    return download(server.url, path, md5, attempts=attempts, longest_wait=0.01)


def test_a_plain_download(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "new" / "data.tsv"
    assert fetch(server, path) == MD5
    assert path.read_bytes() == DATA
    assert server.requested == [None]
    assert list(path.parent.iterdir()) == [path]


def test_a_broken_connection_is_resumed(server: Server, tmp_path: Path) -> None:
    server.breaks = 2
    assert fetch(server, tmp_path / "data.tsv") == MD5
    assert server.requested == [None, "bytes=500000-", "bytes=1000000-"]


def test_a_killed_download_is_resumed_by_the_next(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.tsv.part").write_bytes(DATA[:1000])
    assert fetch(server, tmp_path / "data.tsv") == MD5
    assert server.requested == ["bytes=1000-"]


def test_a_whole_part_is_not_downloaded_again(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.tsv.part").write_bytes(DATA)
    assert fetch(server, tmp_path / "data.tsv") == MD5
    assert (tmp_path / "data.tsv").read_bytes() == DATA
    assert server.requested == [f"bytes={len(DATA)}-"]


def test_without_range_support_the_whole_file_is_requested(server: Server, tmp_path: Path) -> None:
    server.ranges = False
    (tmp_path / "data.tsv.part").write_bytes(DATA[:1000])
    assert fetch(server, tmp_path / "data.tsv") == MD5


@pytest.mark.parametrize("part", [b"another file" * 10, DATA + b"more than there is"])
def test_a_part_of_another_file_is_discarded(server: Server, tmp_path: Path, part: bytes) -> None:
    (tmp_path / "data.tsv.part").write_bytes(part)
    assert fetch(server, tmp_path / "data.tsv") == MD5
    assert server.requested[-1] is None


def test_a_wrong_md5_is_refused_naming_both(server: Server, tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        fetch(server, tmp_path / "data.tsv", md5="0" * 32)
    assert MD5 in str(caught.value) and "0" * 32 in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_without_an_md5_the_computed_one_is_returned(server: Server, tmp_path: Path) -> None:
    assert fetch(server, tmp_path / "data.tsv", md5=None) == MD5


def test_a_busy_server_is_retried(server: Server, tmp_path: Path) -> None:
    server.status, server.statuses_left = 503, 2
    assert fetch(server, tmp_path / "data.tsv") == MD5
    assert len(server.requested) == 3


def test_a_missing_file_is_requested_once(server: Server, tmp_path: Path) -> None:
    server.status = 404
    with pytest.raises(SourceError, match="the server answers 404"):
        fetch(server, tmp_path / "data.tsv")
    assert len(server.requested) == 1


def test_a_connection_that_always_breaks_keeps_the_received_part(server: Server, tmp_path: Path) -> None:
    server.breaks = 100
    with pytest.raises(SourceError, match=r"tried 3 times; rerun to resume it from .*data\.tsv\.part"):
        fetch(server, tmp_path / "data.tsv", attempts=3)
    assert not (tmp_path / "data.tsv").exists()
    assert (tmp_path / "data.tsv.part").read_bytes() == DATA[:1_500_000]


def test_no_connection_is_an_error_with_advice(server: Server, tmp_path: Path) -> None:
    url = server.url
    server.socket.close()
    with pytest.raises(SourceError, match="may be offline"):
        download(url, tmp_path / "data.tsv", attempts=2, longest_wait=0.01)


def test_the_command_line(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    good = run_stage("download_source", url=server.url, md5=MD5, output=path)
    assert good.returncode == 0, good.stderr
    assert MD5 in good.stdout and path.read_bytes() == DATA
    path.unlink()
    bad = run_stage("download_source", url=server.url, md5="0" * 32, output=path)
    assert bad.returncode == 1
    assert "expected" in bad.stderr and "Traceback" not in bad.stderr
