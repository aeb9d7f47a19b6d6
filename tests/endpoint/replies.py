"""A server that replies what a test tells it to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

# Status, headers and text; None closes the connection. A function may return an iterator of bytes instead.
Reply = tuple[int, dict[str, str], str] | None
OK: Reply = (200, {}, '{"ok": true}')


class ReplyingServer(ThreadingHTTPServer):
    """Gives its replies in turn, then the last one again; a function is called with headers and body."""

    daemon_threads = True

    def __init__(self, *replies: Any, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.replies = list(replies)
        self.requests: list[tuple[str, str, Any, dict[str, str]]] = []
        self.at_once = self.most_at_once = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """Print no traceback where a client went away."""


class Handler(BaseHTTPRequestHandler):
    """Replies to every request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each reply waits 40 ms for the acknowledgement of its head
    server: ReplyingServer

    def do_GET(self) -> None:
        self._reply(None)

    def do_POST(self) -> None:
        self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _reply(self, body: Any) -> None:
        server = self.server
        with server.lock:
            server.requests.append((self.command, self.path, body, dict(self.headers)))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
            reply = server.replies.pop(0) if len(server.replies) > 1 else server.replies[0]
        try:
            found = reply(self.headers, body) if callable(reply) else reply
        finally:
            with server.lock:
                server.at_once -= 1
        if found is None:
            self.close_connection = True
            self.connection.close()
            return
        if isinstance(found, Iterator):
            self.close_connection = True
            with suppress(OSError):  # the client has gone away
                for piece in found:
                    self.connection.sendall(piece)
            return
        status, headers, text = found
        data = text.encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def replying(*replies: Any) -> Iterator[ReplyingServer]:
    """Run a server while the block runs."""
    server = ReplyingServer(*replies)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
