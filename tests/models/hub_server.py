"""A server with as much of the Hugging Face Hub's API as its client needs for a download."""

import hashlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

FIRST, SECOND = "1" * 40, "2" * 40
TOKEN = "hf_good"


@dataclass
class Repository:
    """A repository: its files by commit, and its branches."""

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    gated: bool = False

    def add(self, folder: Path, commit: str, branch: str = "main", **others: bytes) -> None:
        """Add a folder's files, and ``others`` by name, as a commit, and move a branch to it."""
        paths = [path for path in folder.rglob("*") if path.is_file()]
        files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
        self.commits[commit] = files | others
        self.branches[branch] = commit


class Hub:
    """The repositories of a server, and what was asked of it.

    ``cut``: the number of a file's bytes after which the connection is closed, once. ``drips``: files of
    which a byte follows each 20 ms for 8 seconds, once. ``tokens``: those that are accepted. ``down``: every
    request is answered with this status, and a message that repeats its header.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.requests: list[tuple[str, str, str | None]] = []  # method, path, Range
        self.cut: dict[str, int] = {}
        self.drips: set[str] = set()
        self.tokens = {TOKEN}
        self.down: int | None = None
        self.endpoint = ""

    def downloaded(self) -> list[str]:
        """Return the files that were downloaded, in order."""
        paths = [path for method, path, _ in self.requests if method == "GET"]
        return [path.split("/", 5)[5] for path in paths if "/resolve/" in path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each reply waits 40 ms for the acknowledgement of its head
    hub: Hub

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, *arguments: object) -> None:
        pass

    def _answer(self, *, body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.requests.append((self.command, path, self.headers.get("Range")))
        if self.hub.down is not None:
            return self._refuse(self.hub.down, "", f"the server is down ({self.headers['Authorization']})")
        token = (self.headers.get("Authorization") or "").removeprefix("Bearer ")
        if token and token not in self.hub.tokens:
            return self._refuse(401, "", "Invalid credentials in Authorization header")
        found = re.fullmatch(
            r"/(?P<api>api/models/)?(?P<repo>[^/]+/[^/]+)(/(?P<what>revision|tree|resolve|auth-check)"
            r"(/(?P<revision>[^/]+))?(/(?P<file>.+))?)?",
            path,
        )
        repository = self.hub.repositories.get(found["repo"]) if found else None
        if found is None or repository is None:
            return self._refuse(404 if token else 401, "RepoNotFound", "Repository not found")
        revision = found["revision"] or "main"
        commit = repository.branches.get(revision, revision)
        if commit not in repository.commits:
            return self._refuse(404, "RevisionNotFound", "Invalid rev id")
        files = repository.commits[commit]
        if repository.gated and not token and found["what"] in ("resolve", "auth-check"):
            return self._refuse(401, "GatedRepo", f"Access to model {found['repo']} is restricted.")
        if found["what"] == "resolve":
            return self._file(found["file"], files.get(found["file"]), commit, body=body)
        if found["what"] == "tree":
            listed = [
                {"type": "file", "path": name, "size": len(data), "oid": _etag(data)}
                for name, data in files.items()
                if "/" not in name or "recursive=true" in self.path.lower()
            ]
            return self._json(listed)
        siblings = [{"rfilename": name, "size": len(data)} for name, data in files.items()]
        gated = "manual" if repository.gated else False
        self._json({"id": found["repo"], "sha": commit, "siblings": siblings, "gated": gated})

    def _file(self, name: str, data: bytes | None, commit: str, *, body: bool) -> None:
        if data is None:
            return self._refuse(404, "EntryNotFound", "Entry not found")
        start = int(re.findall(r"bytes=(\d+)-", self.headers.get("Range") or "bytes=0-")[0])
        self.send_response(206 if start else 200)
        self.send_header("ETag", f'"{_etag(data)}"')
        self.send_header("X-Repo-Commit", commit)
        self.send_header("Accept-Ranges", "bytes")
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        if body and name in self.hub.drips:
            self.hub.drips.remove(name)
            self.close_connection = True
            with suppress(OSError):  # the client has gone away
                for number in range(400):
                    self.wfile.write(data[number : number + 1])
                    time.sleep(0.02)
        elif body:
            end = self.hub.cut.pop(name, len(data))
            self.wfile.write(data[start:end])
            self.close_connection = end < len(data)

    def _json(self, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _refuse(self, status: int, code: str, message: str) -> None:
        self.send_response(status, HTTPStatus(status).phrase)
        if code:
            self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", message)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()


@contextmanager
def serving() -> Iterator[Hub]:
    """Serve an empty hub; ``endpoint`` is its address."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
