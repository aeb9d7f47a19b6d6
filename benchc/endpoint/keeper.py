"""Run a server until standard input ends, then stop it and all processes that it started.

The process that needs the server holds the other end of a pipe, which closes however it ends, also when it is
killed. The keeper ends with the server's exit status (128 and the number of the signal that ended it), or by
SIGTERM where the server still ran when the pipe closed. A script of its own that imports only the standard
library: ``python keeper.py COMMAND...``.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

# A server that writes nothing back has nothing to save; a GPU's memory is free once it has ended.
SECONDS_TO_END = 10.0
STANDARD_INPUT = 0
PR_SET_CHILD_SUBREAPER = 36  # of Linux (linux/prctl.h)


def main() -> None:
    # So that processes which leave the server's group, such as daemons, become children of this one. Other
    # systems than Linux do not have it.
    with contextlib.suppress(AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, True)
    # A group of its own, so that the server's workers end with it.
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    stopped = threading.Event()
    threading.Thread(target=_stop_at_end_of_input, args=(server, stopped), daemon=True).start()
    status = server.wait()
    _signal(server.pid, signal.SIGKILL)
    _kill_children()
    if stopped.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
    sys.exit(status if status >= 0 else 128 - status)


def _stop_at_end_of_input(server: subprocess.Popen[bytes], stopped: threading.Event) -> None:
    # Not sys.stdin, whose lock a thread would still hold when the process ends.
    while os.read(STANDARD_INPUT, 1024):
        pass
    if not _has_ended(server.pid):
        stopped.set()
    _signal(server.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(SECONDS_TO_END)
        return
    _signal(server.pid, signal.SIGKILL)


def _has_ended(child: int) -> bool:
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13
        return False
    # The system is asked, not Popen, which knows it only once the main thread has run.
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _kill_children() -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    # Those of a killed one become children in turn.
    while children.exists() and (found := children.read_text().split()):
        for pid in map(int, found):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    main()
