"""A python whose processes begin with large packages imported, on which a small job spends most of its time.

A server imports the packages and forks a process for every `python -m MODULE` and `python FILE.py`. It
imports the project's modules, too. A process has them if all source files of its working directory are those
of the server's checkout, by size and time or else by content; else it imports its own, as without the server.
The server also keeps what `benchc.closure` has read of the source files, which is half of the time of a dry
run.

`python -m tests.workflow.preloaded COMMAND...` runs a command whose jobs use it; commands that it runs in
this way share its server. Snakemake's benchmark files then measure the waiting process, not the job.
"""

import atexit
import contextlib
import gc
import importlib
import io
import marshal
import operator
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

PACKAGES = (
    "cv2",
    "cyclopts",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.figure",
    "numba",
    "open_clip",
    "polars",
    "pyarrow.parquet",
    "pydantic.dataclasses",
    "requests",
    "scipy.stats",
    "sentence_transformers",
    "skimage",
    "smart_open",
    "snakemake.cli",
    "torch._inductor.config",
    "transformers.models.auto.processing_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "transformers.models.idefics3.image_processing_idefics3",
    "transformers.models.idefics3.modeling_idefics3",
    "transformers.models.internvl.modeling_internvl",
    "transformers.models.llava.modeling_llava",
)
# Imports little, since it starts for every job.
CLIENT = """#!{python} -IS
import array, marshal, os, socket, sys
is_module = sys.argv[1:2] == ["-m"]
served = is_module or "".join(sys.argv[1:2]).endswith(".py")
if not served or not os.path.exists({ready!r}):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
socket.send_fds(server, [b"3"], [0, 1, 2])
server.sendall(marshal.dumps((sys.argv[1 + is_module:], os.getcwd(), dict(os.environ))))
server.shutdown(socket.SHUT_WR)
sys.exit(int(server.recv(16) or b"1"))
"""
SERVE = "--serve"
# The variable with the program, for commands that a command runs.
SHARED = "BENCHC_TESTS_PRELOADED"
ROOT = Path(__file__).resolve().parents[2]
PROJECT = ("benchc", "scripts")
LOGGER = "snakemake_logger_plugin_stages."
CLOSURE = "benchc/closure.py"
COMMANDS = "scripts.benchc"
STAGES = "scripts.stage"
# Modules that read the source files.
READING = ("snakemake", "scripts.commands.run_snakemake", COMMANDS, STAGES)
Request = tuple[list[str], str, dict[str, str]]


@contextlib.contextmanager
def preloaded_python(environment: dict[str, str], wait: bool = True) -> Iterator[Path]:
    """Yield the program, named python, while its server runs, with the variables that its imports see.

    Until these imports are done, processes wait, or start as ordinary ones.
    """
    # A short path, since an address has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="benchc-") as folder, socket.socket(socket.AF_UNIX) as listener:
        address = f"{folder}/socket"
        ready = folder if wait else f"{folder}/ready"
        program = Path(folder) / "python"
        program.write_text(CLIENT.format(python=sys.executable, address=address, ready=ready))
        program.chmod(0o755)
        listener.bind(address)
        listener.listen(64)
        number = listener.fileno()
        command = [sys.executable, __file__, SERVE, str(number), ready, str(program)]
        # The server ends with its standard input.
        with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number], env=environment):
            listener.close()  # without the server a job fails, and does not wait
            yield program


def serve(listener: socket.socket) -> Request | None:
    """Return in every forked process what it has to run, and in the server None at its end."""
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([0, listener, ended], [], [])[0]
        if 0 in ready:
            return None
        if ended in ready:
            os.read(ended, 1024)
            for process in list(running):
                found, status = os.waitpid(process, os.WNOHANG)
                if found:
                    code = os.waitstatus_to_exitcode(status)
                    # The program may have been killed, too.
                    with running.pop(process) as connection, contextlib.suppress(ConnectionError):
                        connection.sendall(str(code if code >= 0 else 128 - code).encode())
        if listener in ready:
            connection = listener.accept()[0]
            process = os.fork()
            if process == 0:
                break
            running[process] = connection
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    listener.close()
    streams = socket.recv_fds(connection, 1, 3)[1]
    with connection, connection.makefile("rb") as file:
        request: Request = marshal.loads(file.read())
    for target, stream in enumerate(streams):
        os.dup2(stream, target)
        os.close(stream)
    return request


class Sources:
    """The source files of the project, as `benchc.closure` has read them."""

    def __init__(self) -> None:
        read = importlib.import_module("benchc.closure")._read
        self.names = stamps(ROOT).keys()
        self.known = {
            (name, (ROOT / name).read_bytes()): read(ROOT / name, ROOT, 0, 0) for name in self.names
        }

    def give(self, folder: Path) -> None:
        """Let this process read only the files of a checkout that differ, unless it has other files.

        Which files exist decides what an import means.
        """
        file = folder / CLOSURE
        same = file.is_file() and (CLOSURE, file.read_bytes()) in self.known
        if not same or stamps(folder).keys() != self.names:
            return
        closure = importlib.import_module("benchc.closure")
        read = closure._read

        def known_or_read(path: Path, root: Path, mtime: int, size: int) -> Any:
            key = path.relative_to(root).as_posix(), path.read_bytes()
            return self.known.get(key) or read(path, root, mtime, size)

        closure._read = cache(known_or_read)


class Modules:
    """The modules of the project that its stages and commands import."""

    def __init__(self, sources: Sources, known: dict[str, tuple[int, int]]) -> None:
        self.contents = dict(sources.known.keys())
        self.stamps = known
        before = set(sys.modules)
        for name in sorted(self.contents):
            module = name.removesuffix(".py").replace("/", ".")
            # Those that run as `python -m`, which imports no module a second time.
            if name.startswith("scripts/") and module not in READING:
                importlib.import_module(module.removesuffix(".__init__"))
        of_project = [name for name in sys.modules if name.partition(".")[0] in PROJECT]
        # These have classes of the project.
        of_logger = [name for name in sys.modules.keys() - before if name.startswith(LOGGER)]
        # torchvision's operators are declared as long as their module exists.
        self.kept = {name: sys.modules.pop(name) for name in (*of_project, *of_logger)}
        holders = [
            holder
            for module in map(self.kept.get, of_project)
            for holder in (module, module.__spec__, module.__loader__)
        ]
        self.paths = [
            (holder, name, value)
            for holder in holders
            for name, value in vars(holder).items()
            if moved(value, ROOT) is not value
        ]

    def give(self, folder: Path) -> None:
        """Let this process have the modules, with a checkout's paths, if its source files are the same."""
        found = stamps(folder)
        if found.keys() != self.contents.keys() or any(
            (folder / name).read_bytes() != self.contents[name]
            for name, stamp in found.items()
            if stamp != self.stamps[name]
        ):
            return
        if folder != ROOT:
            for holder, name, value in self.paths:
                setattr(holder, name, moved(value, folder))
        sys.modules.update(self.kept)


def moved(value: Any, folder: Path) -> Any:
    """Return a path, or a list with paths, as in another checkout; a value without one is returned itself."""
    # The packages may be in ROOT/.venv.
    if isinstance(value, Path | str) and Path(value).is_relative_to(sys.prefix):
        return value
    if isinstance(value, Path) and value.is_relative_to(ROOT):
        return folder / value.relative_to(ROOT)
    if isinstance(value, str) and value.startswith(f"{ROOT}{os.sep}"):
        return f"{folder}{value.removeprefix(str(ROOT))}"
    if type(value) is list:
        found = [moved(each, folder) for each in value]
        return value if all(map(operator.is_, found, value)) else found
    return value


def stamps(root: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of the source files."""
    found = {}
    below = [*PROJECT]
    while below:
        part = below.pop()
        with contextlib.suppress(FileNotFoundError), os.scandir(root / part) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found[f"{part}/{entry.name}"] = status.st_size, status.st_mtime_ns
                elif entry.name != "__pycache__" and entry.is_dir():
                    below.append(f"{part}/{entry.name}")
    return found


def import_packages() -> tuple[Sources, Modules]:
    sys.path.insert(0, str(ROOT))
    importlib.import_module("benchc.hugging_face")  # some packages need it first
    for package in PACKAGES:
        importlib.import_module(package)
    importlib.import_module("snakemake.cli").get_argument_parser()  # looks for plugins and imports them
    use_packages()
    before = stamps(ROOT)  # before they are read
    sources = Sources()
    modules = Modules(sources, before)
    sys.path.remove(str(ROOT))
    gc.collect()
    gc.freeze()
    return sources, modules


def run_with_jobs(command: list[str]) -> int:
    """Run a command with the program as the python on its path; return its exit status."""
    environment = {**os.environ, "PYTHONPATH": ""}
    with contextlib.ExitStack() as stack:
        program = environment.get(SHARED)
        if program is None:
            servers = {**environment, "OMP_NUM_THREADS": "1"}
            program = str(stack.enter_context(preloaded_python(servers, wait=False)))
        path = f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}"
        shared = {**environment, SHARED: program, "PATH": path}
        return subprocess.run(command, env=shared, check=False).returncode


def use_packages() -> None:
    """Do what each package does at its first use, which takes up to a second: loading fonts, say."""
    import matplotlib
    import numba
    from matplotlib.figure import Figure
    from PIL import Image
    from transformers.conversion_mapping import get_checkpoint_conversion_mapping

    numba.njit(lambda: 0)()
    Image.init()
    get_checkpoint_conversion_mapping("llava")
    figure = Figure()
    figure.add_subplot(title="$x$").plot([0, 1], "o")
    with matplotlib.rc_context({"pdf.fonttype": 42}):
        for form in ("pdf", "png"):
            figure.savefig(io.BytesIO(), format=form)


def main() -> None:
    if sys.argv[1] != SERVE:
        sys.exit(run_with_jobs(sys.argv[1:]))
    sources, modules = import_packages()
    Path(sys.argv[3]).mkdir(exist_ok=True)
    program = sys.argv[4]
    request = serve(socket.socket(fileno=int(sys.argv[2])))
    if request is None:
        return
    # At its end, a process need not delete what the server has made, such as torch's operators.
    for each in list(weakref.finalize._registry):  # type: ignore[attr-defined]
        each.atexit = False
    (module, *arguments), folder, environment = request
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    is_file = module.endswith(".py")
    first = str(Path(folder, module).parent) if is_file else folder
    sys.path[:1] = [first, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = [module, *arguments]
    if not is_file:
        modules.give(Path(folder))
    if module in READING:
        sources.give(Path(folder))
    if module == COMMANDS:
        sys.executable = program  # which it replaces itself by
    if is_file:
        os._exit(status_of(lambda: runpy.run_path(module, run_name="__main__")))
    os._exit(status_of(lambda: runpy.run_module(module, run_name="__main__", alter_sys=True)))


def status_of(run: Callable[[], object]) -> int:
    """Run and end as Python does, but for taking down all the imported modules, which takes half a second."""
    status = 0
    try:
        run()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    threading._shutdown()  # also ends the threads of pools, which wait for work
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    main()
