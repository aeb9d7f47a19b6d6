import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import IO, Any

import httpx2
import pytest

from benchc.endpoint import keeper, process
from benchc.endpoint.process import _last_line, arguments_of, free_port, running
from benchc.errors import InputError
from benchc.redaction import remember
from tests.endpoint.replies import OK, replying

ROOT = Path(__file__).resolve().parents[2]
# A server with a worker of its own, as vLLM has; both write their process ids.
SERVER = """
import http.server, os, subprocess, sys, time
port, folder, delay = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open(f"{folder}/pids", "w") as file:
    file.write(f"{os.getpid()} {worker.pid}")
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" and time.time() > start + delay else 503)
        self.end_headers()
    def log_message(self, *_):
        pass
start = time.time()
print("Loading weights", flush=True)
http.server.HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"""
# Of a job that locks a file while its server runs, and never ends.
JOB = """
import fcntl, sys, time
from pathlib import Path
from benchc.endpoint.process import running
port, log, lock, *command = sys.argv[1:]
with open(lock, "w") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    with running(command, int(port), Path(log), 30, "tiny", locks=[file.fileno()]):
        print("ready", flush=True)
        time.sleep(600)
"""


def command(port: int, folder: Path, delay: float = 0) -> list[str]:
    return [sys.executable, "-c", SERVER, str(port), str(folder), str(delay)]


def pids(folder: Path) -> list[int]:
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def assert_ended(folder: Path) -> None:
    end = time.monotonic() + 15
    while any(map(is_running, pids(folder))):
        assert time.monotonic() < end, "the server or its worker still runs"
        time.sleep(0.05)


def test_a_server_is_ready_when_it_is_healthy_and_stopped_with_its_workers(tmp_path, monkeypatch):
    # A proxy of the environment cannot reach it.
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    port, log = free_port(), tmp_path / "logs" / "of a run" / "server.log"
    assert port > 1023  # those below are of system services
    start = time.monotonic()
    with running(command(port, tmp_path, delay=1), port, log, 30, "tiny") as url:
        assert time.monotonic() - start > 1
        assert httpx2.get(f"{url}/health", trust_env=False).status_code == 200
        assert all(map(is_running, pids(tmp_path)))
    assert_ended(tmp_path)
    assert log.read_text().startswith("Loading weights")


def test_an_error_of_the_job_stops_the_server(tmp_path):
    port = free_port()
    with pytest.raises(KeyError), running(command(port, tmp_path), port, tmp_path / "server.log", 30, "tiny"):
        raise KeyError
    assert_ended(tmp_path)


def started(folder: Path, port: int, server: list[str]) -> subprocess.Popen[bytes]:
    """Start a job, and wait for its server."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", JOB, str(port), f"{folder}/server.log", f"{folder}/lock", *server]
    job = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, start_new_session=True)
    assert job.stdout is not None and job.stdout.readline() == b"ready\n"
    job.stdout.close()
    return job


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_job_leaves_no_server(tmp_path, number):
    port = free_port()
    job = started(tmp_path, port, command(port, tmp_path))
    assert all(map(is_running, pids(tmp_path)))
    # As Snakemake and Slurm do: the whole group.
    os.killpg(job.pid, number)
    job.wait(10)
    assert_ended(tmp_path)


# Needs a second to end, as a server that frees a GPU.
SLOW_TO_END = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), os._exit(0)))
"""


def test_a_file_stays_locked_until_the_server_of_a_killed_job_has_ended(tmp_path):
    port = free_port()
    server = [sys.executable, "-c", SLOW_TO_END + SERVER, *command(port, tmp_path)[3:]]
    job = started(tmp_path, port, server)
    job.kill()
    job.wait()
    running_server, _ = pids(tmp_path)
    assert is_running(running_server)
    with (tmp_path / "lock").open() as file:
        end = time.monotonic() + 15
        while not locked(file):
            assert time.monotonic() < end, "it stays locked"
            time.sleep(0.05)
    assert not is_running(running_server)


def locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def test_a_server_that_does_not_become_healthy_is_one_sentence(tmp_path):
    port, log = free_port(), tmp_path / "server.log"
    sentence = r"tiny: its server does not answer /health within 3 s: Loading weights; raise `start_s`, or"
    slow = command(port, tmp_path, delay=60)
    with pytest.raises(InputError, match=sentence), running(slow, port, log, 3, "tiny"):
        raise AssertionError("it is not ready")
    assert_ended(tmp_path)


def test_of_a_server_that_starts_for_long_a_line_is_printed_each_ten_seconds(tmp_path, monkeypatch, capsys):
    log = tmp_path / "log"
    log.write_text("Loading\x1b weights\n")
    waits: list[float] = []
    clock = iter([100.0, 105.0, 110.0, 115.0, 119.25, 121.0, 130.0])
    healthy = iter([*[False] * 6, True, False])
    ticking = SimpleNamespace(monotonic=lambda: next(clock), sleep=waits.append)
    monkeypatch.setattr(process, "time", ticking)
    monkeypatch.setattr(process, "_healthy", lambda _: next(healthy))
    server: Any = SimpleNamespace(poll=lambda: None)
    # 30 seconds are no more than 30.
    process._wait_for(server, "http://127.0.0.1:1", log, 30.0, "tiny")
    line = r"tiny: starting its server, {} s: Loading\x1b weights"
    assert capsys.readouterr().err.splitlines() == [line.format(10), line.format(21)]
    assert len(waits) == 6 and max(waits) < 1  # so that a server that is ready is used at once
    clock = iter([100.0, 130.5])
    with pytest.raises(InputError, match=r"^tiny: its server does not answer /health within 30 s: Loading"):
        process._wait_for(server, "http://127.0.0.1:1", log, 30.0, "tiny")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ([sys.executable, "-c", "print('out of memory\\n\\n'); raise SystemExit(3)"], "out of memory"),
        (["no-such-program"], "No such file or directory: 'no-such-program'"),
        ([sys.executable, "-c", ""], "no output"),
    ],
)
def test_a_server_that_ends_at_once_is_one_sentence(tmp_path, program, reason):
    log = tmp_path / "server.log"
    sentence = f"tiny: its server ended while it started: .*{reason}; correct `command`"
    with pytest.raises(InputError, match=sentence) as caught, running(program, 1, log, 30, "tiny"):
        raise AssertionError("it is not ready")
    assert str(log) in str(caught.value) and "\n" not in str(caught.value)


def test_the_log_of_a_server_has_no_key_once_it_has_ended(tmp_path):
    remember("a-secret-key")
    program = [sys.executable, "-c", r"print('caf\xe9 --api-key a-secret-key'); raise SystemExit(3)"]
    log = tmp_path / "log"
    with pytest.raises(InputError, match=r"--api-key \*\*\*;"), running(program, 1, log, 30, "tiny"):
        raise AssertionError("it is not ready")
    assert log.read_text() == "café --api-key ***\n"
    # Also one that begins with a lower character than what stands for it.
    remember("!another-key")
    log.write_text("--api-key !another-key\n")
    process._redact(log)
    assert log.read_text() == "--api-key ***\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"a\n b \n\n  \n", "b"),
        (b"", "no output"),
        (b"\n \n", "no output"),
        # Of a long line its end, and of a long log the last bytes alone.
        (b"x" * 10 + b"y" * 200, "y" * 200),
        (b"a" * 5000 + b"\n" * 4000, "a" * 96),
        (b"a\n" + b"\n" * 4094, "a"),
    ],
)
def test_the_last_line_of_a_log(tmp_path, text, line):
    log = tmp_path / "log"
    log.write_bytes(text)
    assert _last_line(log) == line


def test_a_server_that_ends_while_another_answers_at_its_port_is_one_sentence(tmp_path):
    def slow(headers: object, body: object) -> object:
        time.sleep(1)
        return OK

    def check(reply: object, program: str, sentence: str, seconds: float) -> None:
        command, log = [sys.executable, "-c", program], tmp_path / "server.log"
        raises = pytest.raises(InputError, match=sentence)
        with replying(reply) as other, raises, running(command, other.server_address[1], log, 30, "tiny"):
            assert seconds, "it is another server"
            time.sleep(seconds)
            raise InputError("the other server refuses the key")  # which is no help

    ended = "raise SystemExit('address already in use')"
    check(slow, ended, "ended while it started: address already in use; correct `command`", 0)
    sentence = "tiny: its server ended while it was asked, with exit status 1: address already in use; look"
    check(OK, f"import time; time.sleep(1); {ended}", sentence, 3)


# Not by SIGHUP, which a suite that nohup started ignores.
@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, 137), (signal.SIGUSR1, 138)])
def test_a_worker_that_outlives_its_server_is_killed(tmp_path, number, status):
    port, sentence = free_port(), f"its server ended while it was asked, with exit status {status}: Loading"
    with (
        pytest.raises(InputError, match=sentence),
        running(command(port, tmp_path), port, tmp_path / "server.log", 30, "tiny"),
    ):
        os.kill(server := pids(tmp_path)[0], number)
        # The job ends at once, before any other process has noticed it.
        while is_running(server):
            pass
    assert_ended(tmp_path)


@pytest.mark.parametrize(("ended", "obeys"), [(False, True), (False, False), (True, True)])
def test_a_server_that_does_not_end_in_time_is_killed(monkeypatch, ended, obeys):
    waited, signals = [], []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if not obeys:
            raise subprocess.TimeoutExpired("server", seconds)

    pieces = iter([b"the job", b"writes", b""])
    monkeypatch.setattr(keeper.os, "read", lambda *_: next(pieces))
    monkeypatch.setattr(keeper, "_has_ended", lambda _: ended)
    monkeypatch.setattr(keeper, "_signal", lambda *given: signals.append(given))
    stopped = Event()
    keeper._stop_at_end_of_input(SimpleNamespace(pid=7, wait=wait), stopped)  # type: ignore[arg-type]
    assert next(pieces, None) is None and waited == [keeper.SECONDS_TO_END]
    # The job sees its server end, before Slurm kills the job (KillWait).
    assert keeper.SECONDS_TO_END < process.SECONDS_TO_STOP < 30
    assert stopped.is_set() == (not ended)
    assert signals == [(7, signal.SIGTERM), *([] if obeys else [(7, signal.SIGKILL)])]


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system does not tell")
def test_whether_a_server_has_ended(monkeypatch):
    program = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as server:
        assert not keeper._has_ended(server.pid)
    # It was waited for, too.
    assert keeper._has_ended(server.pid)
    monkeypatch.delattr(os, "waitid")
    assert not keeper._has_ended(server.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt others")
def test_a_server_that_becomes_a_daemon_is_stopped(tmp_path):
    port, log = free_port(), tmp_path / "server.log"
    program = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
    daemon = [sys.executable, "-c", f"{program}; import time; time.sleep(3)", *command(port, tmp_path)]
    with (
        pytest.raises(InputError, match="its server ended while it was asked, with exit status 0: Loading"),
        running(daemon, port, log, 30, "tiny"),
    ):
        assert all(map(is_running, pids(tmp_path)))
        time.sleep(4)
    assert_ended(tmp_path)


def test_the_command_keeps_braces_that_are_no_names():
    values = {"model": "owner/a b", "revision": "1", "port": 8000}
    text = """vllm serve {model} --port {port} --hf-overrides '{"head_dtype": "float32"}' {other}"""
    expected = ["vllm", "serve", "owner/a b", "--port", "8000", "--hf-overrides"]
    assert arguments_of(text, values) == [*expected, '{"head_dtype": "float32"}', "{other}"]
    with pytest.raises(InputError, match=r"cannot be split into arguments \(No closing quotation\)"):
        arguments_of("vllm 'serve", values)
