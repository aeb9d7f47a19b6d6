"""A working copy of a finished run, in which a case changes files, and which is then put back."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.workflow.checkout import PARTS, ROOT, Checkout

LOGGER = "snakemake_logger_plugin_stages"
# No case changes them.
CODE = {*PARTS, LOGGER} - {"config", "slurm"}
MODULES = {"benchc": "scripts.benchc", "snakemake": "snakemake"}
State = dict[str, tuple[int, int, int] | None]


class Workspace:
    """The copy. ``folder``: where it is; ``config``: the file of the run's configuration."""

    def __init__(self, finished: Checkout, folder: Path) -> None:
        self.finished = finished.folder
        self.checkout = finished.copy(folder)
        self.folder, self.config = folder, finished.config
        (folder / LOGGER).symlink_to(ROOT / LOGGER)
        self.before = self.state()

    def state(self, *parts: str) -> State:
        """Return time, size and time of change of every file by its path, of a folder None.

        In some parts, or in all but the code.
        """
        found: State = {}
        for part in parts or sorted(path.name for path in self.folder.iterdir() if path.name not in CODE):
            below = [part] if os.path.lexists(self.folder / part) else []
            while below:
                path = below.pop()
                full = self.folder / path
                status = full.lstat()
                if full.is_dir() and not full.is_symlink():
                    found[path] = None
                    below += [f"{path}/{name}" for name in os.listdir(full)]  # noqa: PTH208
                else:
                    found[path] = (status.st_mtime_ns, status.st_size, status.st_ctime_ns)
        return found

    def put_back(self) -> None:
        """Undo all that was changed since the copy was made."""
        now = self.state()
        for path in sorted(now.keys() - self.before.keys(), reverse=True):
            self.remove(path)
        for path, state in sorted(self.before.items()):
            if path in now and now[path] == state:
                continue
            self.remove(path)
            if state is None:
                (self.folder / path).mkdir()
            else:
                shutil.copy2(self.finished / path, self.folder / path, follow_symlinks=False)
        self.before = self.state()

    def remove(self, file: str) -> None:
        """Remove a file or folder, if it is there."""
        path = self.folder / file
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def own_checkpoints(self) -> None:
        """Put a copy in place of the link to the models, which all runs share."""
        shared = (self.folder / "checkpoints").resolve()
        self.remove("checkpoints")
        shutil.copytree(shared, self.folder / "checkpoints")

    @contextmanager
    def same_time(self, path: Path) -> Iterator[None]:
        status = path.stat()
        yield
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def run(self, command: str, environment: Mapping[str, str]) -> tuple[int, str]:
        """Run a command of a user; return its exit status, and all that it prints."""
        program, *arguments = shlex.split(command.replace("CONFIG", self.config))
        done = subprocess.run(
            [self.checkout.python, "-m", MODULES[program], *arguments],
            cwd=self.folder,
            env={**self.checkout.environment, **environment},
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            timeout=300,
        )
        return done.returncode, done.stdout
