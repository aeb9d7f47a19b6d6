"""A copy of the checkout in which tests run Snakemake and edit files."""

import compileall
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "rules", "scripts", "benchc", "config", "envs", "slurm", "pyproject.toml")
# The rules of the results page.
PAGE = ("choose_page_items", "page_images", "page_samples", "results_page")


@cache
def compile_sources() -> None:
    """Compile what a checkout copies, as its processes keep no compiled code."""
    for part in ("benchc", "scripts"):
        compileall.compile_dir(ROOT / part, quiet=2)


def planned_jobs(output: str, with_page: bool = False) -> dict[str, int]:
    """Return the jobs that a dry run lists, by rule; empty where nothing is to be done.

    ``with_page``: the jobs of the results page, too, which follow nearly every other one. They are
    returned in any case where there are no others.
    """
    if "Nothing to be done" in output:
        return {}
    table = output.split("Job stats:")[1].split("total")[0]
    counts = Counter({name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", table, re.MULTILINE)})
    del counts["all"]
    others = {name: count for name, count in counts.items() if name not in PAGE}
    return dict(counts) if with_page or not others else others


class Checkout:
    """A working copy with a run of its own; ``config`` is the file that its commands use."""

    # Runs Snakemake, and its jobs unless they have another one.
    python = Path(sys.executable)
    python_of_jobs: Path | None = None

    def __init__(self, folder: Path, config: str) -> None:
        self.folder = folder
        self.config = config
        compile_sources()
        for part in PARTS:
            source = ROOT / part
            if source.is_dir():
                # With compiled code, whose time of the source stays valid, but for what is being written.
                ignore = shutil.ignore_patterns("*.pyc.*", "*.tmp.*")
                shutil.copytree(source, folder / part, ignore=ignore, dirs_exist_ok=True)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, folder / part)

    def copy(self, folder: Path, *left_out: str) -> "Checkout":
        """Return a copy with its results and their times, without files and folders of the names given."""
        folder.mkdir(parents=True)
        excluded = [f"--exclude={name}" for name in left_out]
        archive = ["tar", "-C", str(self.folder), "--format=posix", *excluded, "-c", "."]
        with subprocess.Popen(archive, stdout=subprocess.PIPE) as packed:
            subprocess.run(["tar", "-C", str(folder), "-x"], stdin=packed.stdout, check=True)
        return Checkout.existing(folder, self.config, self.python)

    @classmethod
    def existing(cls, folder: Path, config: str, python: Path) -> "Checkout":
        """Return the checkout of a folder that is one."""
        checkout = cls.__new__(cls)
        checkout.folder, checkout.config, checkout.python = folder, config, python
        return checkout

    @property
    def environment(self) -> dict[str, str]:
        folders = (self.python_of_jobs or self.python).parent, Path(sys.executable).parent
        path = os.pathsep.join([*map(str, folders), os.environ["PATH"]])
        return {**os.environ, "PYTHONPATH": "", "PYTHONDONTWRITEBYTECODE": "1", "PATH": path}

    def module(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a module of Python in the checkout."""
        return subprocess.run(
            [self.python, "-m", name, *arguments],
            cwd=self.folder,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    def snakemake(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run snakemake; a failure shows what it printed."""
        result = self.module("snakemake", "--configfile", self.config, *arguments)
        if check and result.returncode:
            raise AssertionError(f"snakemake {' '.join(arguments)} failed:\n{result.stdout[-6000:]}")
        return result

    def make(self, *arguments: str, cores: int = 2) -> None:
        """Run the pipeline (to the targets given, or to the end)."""
        self.snakemake("--cores", str(cores), "--show-failed-logs", *arguments)

    def plan(self, *arguments: str, with_page: bool = False) -> dict[str, int]:
        """Return the jobs of a dry run, as :func:`planned_jobs`."""
        return planned_jobs(self.snakemake("-n", *arguments).stdout, with_page)

    def hashes(self, *folders: str) -> dict[str, str]:
        """Return a hash of every file in the folders (default: results), but for caches and records.

        And but for the results page and the record of the run, which say when and how fast files were made.
        """
        files = [
            path
            for folder in folders or ("results",)
            for path in sorted((self.folder / folder).rglob("*"))
            if path.is_file()
            and not {".cache", ".provenance", "index.html", "run.json", "run.js"} & set(path.parts)
        ]
        return {
            str(path.relative_to(self.folder)): hashlib.blake2b(path.read_bytes()).hexdigest()
            for path in files
        }

    def edit(self, file: str, old: str, new: str) -> None:
        """Replace ``old``, which must occur exactly once in the file."""
        path = self.folder / file
        text = path.read_text()
        assert text.count(old) == 1, f"{file} contains {old!r} {text.count(old)} times"
        path.write_text(text.replace(old, new))

    def configure(self, **changes: object) -> None:
        """Change keys of the run's configuration; a dict changes what is below a key."""
        path = self.folder / self.config
        config = yaml.safe_load(path.read_text())
        for key, value in changes.items():
            config[key] = {**(config.get(key) or {}), **value} if isinstance(value, dict) else value
        path.write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True))

    @contextmanager
    def restored(self, file: str) -> Iterator[Path]:
        """Give a file, and put it back as it was, with its time."""
        path = self.folder / file
        content, status = path.read_bytes(), path.stat()
        try:
            yield path
        finally:
            path.write_bytes(content)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    def plan_of_edit(self, file: str, old: str, new: str) -> dict[str, int]:
        """Return the jobs that rerun if the first ``old`` in a file were ``new``."""
        with self.restored(file) as path:
            text = path.read_text()
            assert old in text
            path.write_text(text.replace(old, new, 1))
            return self.plan()

    def plan_of_settings(self, **changes: object) -> dict[str, int]:
        """Return the jobs that rerun if keys of the configuration changed as by `configure`."""
        with self.restored(self.config):
            self.configure(**changes)
            return self.plan()

    def predictions(self) -> dict[str, tuple[int, int]]:
        """Return by `subset/model` how many predictions the last run of each job looked up and computed."""
        found = {}
        for log in sorted(self.folder.glob(f"logs/{Path(self.config).stem}/infer/*/*/*.log")):
            match = re.search(r"([\d,]+) from the cache, ([\d,]+) computed", log.read_text())
            if match:
                cached, computed = (int(number.replace(",", "")) for number in match.groups())
                found["/".join(log.parts[-3:-1])] = (cached, computed)
        return found
