"""A server as a process of the job: started on a free port, waited for, and stopped however the job ends."""

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import httpx2 as httpx

from benchc.endpoint import keeper
from benchc.endpoint.time_limit import TRACE, Window, limited
from benchc.errors import InputError
from benchc.printable import printable
from benchc.redaction import redacted

HOST = "127.0.0.1"
HEALTH = "/health"
HEALTH_SECONDS = 5.0
SECONDS_BETWEEN_TRIES = 0.2
SECONDS_BETWEEN_LINES = 10.0
SECONDS_TO_STOP = keeper.SECONDS_TO_END + 5


def arguments_of(command: str, values: Mapping[str, object]) -> list[str]:
    """Return a command line as arguments, with ``{name}`` replaced by the value of each name.

    Other braces, such as those of JSON, stay. Raises InputError where the quotes do not match.
    """
    try:
        parts = shlex.split(command)
    except ValueError as error:
        raise InputError(f"the command {command!r} cannot be split into arguments ({error})") from error
    for name, value in values.items():
        parts = [part.replace(f"{{{name}}}", str(value)) for part in parts]
    return parts


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


@contextlib.contextmanager
def running(
    command: list[str],
    port: int,
    log: Path,
    seconds: float,
    label: str,
    environment: Mapping[str, str] | None = None,
    locks: Collection[int] = (),
) -> Iterator[str]:
    """Start a server and yield its address once it is healthy; stop it and its processes afterwards.

    Args:
        command: its program and arguments, which make it listen on ``port`` of this machine.
        port: a free port.
        log: file for what it prints, which is replaced; without secrets once it has ended.
        seconds: to wait until it answers ``/health``.
        label: its name in messages.
        environment: variables that it has besides those of this process.
        locks: descriptors of files that stay locked until it has ended, also if this process ends before.

    Raises InputError, with the last line of the log, where it cannot be started, is too slow, or has ended
    before the block.
    """
    url = f"http://{HOST}:{port}"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, keeper.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Not ended with the job's group, as it must outlive the job by a moment.
            start_new_session=True,
            # Of the keeper alone, which passes none on, and ends after the server.
            pass_fds=locks,
            env={**os.environ, **(environment or {})},
        )
    try:
        _wait_for(process, url, log, seconds, label)
        try:
            yield url
        except InputError:
            _require_stopped(process, log, label)
            raise
        # If it has ended by itself, another server at its port answered.
        _require_stopped(process, log, label)
    finally:
        _stop(process)
        with contextlib.suppress(OSError):  # which would take the place of the server's own error
            _redact(log)


def _redact(log: Path) -> None:
    """Remove the secrets that this process knows from what the server has printed."""
    with log.open("r+b") as file:
        text = file.read().decode(errors="replace")
        if (found := redacted(text)) != text:
            # Shorter, so that it fits on a full disk.
            file.seek(0)
            file.write(found.encode())
            file.truncate()


def _stop(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS_TO_STOP)


def _require_stopped(process: "subprocess.Popen[bytes]", log: Path, label: str) -> None:
    _stop(process)
    if process.returncode not in (None, -signal.SIGTERM):
        raise InputError(
            f"{label}: its server ended while it was asked, with exit status {process.returncode}: "
            f"{_last_line(log)}; look at its output in {log}, and run snakemake again"
        )


def _wait_for(process: "subprocess.Popen[bytes]", url: str, log: Path, seconds: float, label: str) -> None:
    start = last = time.monotonic()
    with httpx.Client(base_url=url, timeout=HEALTH_SECONDS, trust_env=False) as client:
        while True:
            healthy = _healthy(client)
            # After the question, as the server of another job may have taken the port and answered it.
            if process.poll() is not None:
                raise InputError(
                    f"{label}: its server ended while it started: {_last_line(log)}; correct `command` (its "
                    f"output is in {log})"
                )
            if healthy:
                return
            now = time.monotonic()
            if now - start > seconds:
                raise InputError(
                    f"{label}: its server does not answer {HEALTH} within {seconds:g} s: {_last_line(log)}; "
                    f"raise `start_s`, or correct `command` (its output is in {log})"
                )
            if now - last >= SECONDS_BETWEEN_LINES:
                last = now
                line = f"{label}: starting its server, {now - start:.0f} s: {_last_line(log)}"
                print(printable(line), file=sys.stderr)
            time.sleep(SECONDS_BETWEEN_TRIES)


def _healthy(client: httpx.Client) -> bool:
    try:
        with (
            limited(Window(HEALTH_SECONDS)),
            client.stream("GET", HEALTH, extensions=TRACE) as response,
        ):
            return response.status_code == httpx.codes.OK
    except httpx.RequestError:
        return False


def _last_line(log: Path) -> str:
    """Return the last line of the log that is not empty, cut to a message's length."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        lines = file.read().decode(errors="replace").split("\n")
    return next((line.strip()[-200:] for line in reversed(lines) if line.strip()), "no output")
