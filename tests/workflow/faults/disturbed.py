"""A run that tests disturb: they kill its processes, and then call the same command again."""

import json
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import yaml

from benchc.workflow.job_facts import stage_words
from benchc.workflow.records import RECORDS, SHARED, records_in
from tests.workflow.checkout import ROOT, Checkout

LOGGER = "snakemake_logger_plugin_stages"
CORES = 2
# The longest wait for a run or one of its jobs.
SECONDS = 900.0


@dataclass(frozen=True)
class Ended:
    """A run that ended: its status and what it printed."""

    status: int
    text: str

    @property
    def last(self) -> str:
        return self.text.splitlines()[-1]


class Disturbed:
    """A copy of a finished run. ``targets``: of the run; ``name``: its folder in results/."""

    def __init__(self, finished: Checkout, folder: Path, *targets: str) -> None:
        self.finished, self.targets = finished, targets
        self.checkout = finished.copy(folder / "benchc")
        self.folder = self.checkout.folder
        (self.folder / LOGGER).symlink_to(ROOT / LOGGER)
        self.name = yaml.safe_load((self.folder / finished.config).read_text())["name"]
        self.results = Path("results", self.name)
        self.printed = folder / "printed"
        self.runs = 0

    def command(self, *targets: str) -> list[str]:
        options = ["--cores", str(CORES), *(targets or self.targets)]
        return [str(self.checkout.python), "-m", "scripts.benchc", "run", self.checkout.config, *options]

    def start(self, *targets: str) -> "subprocess.Popen[str]":
        """Start the run (default: to its targets) as a user does, in a session of its own."""
        self.runs += 1
        with self.printed.open("w") as file:
            return subprocess.Popen(
                self.command(*targets),
                cwd=self.folder,
                env=self.checkout.environment,
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def run(self, *targets: str) -> Ended:
        """Run to the end."""
        process = self.start(*targets)
        try:
            process.wait(SECONDS)
        finally:
            self.kill()
        return Ended(process.returncode, self.printed.read_text(errors="replace"))

    def processes(self) -> list[psutil.Process]:
        """Return all that works in the folder: those that a server forked are in no group of the run."""
        place = str(self.folder)
        return [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == place]

    def stages(self) -> set[str]:
        """Return the stages whose jobs run now."""
        found = set()
        for process in self.processes():
            with suppress(psutil.Error):
                words = process.cmdline()
                if "scripts.stage" in words:
                    found.add(words[words.index("scripts.stage") + 1])
        return found

    def kill(self) -> int:
        """End all processes at one moment, as `kill -9` does with a group; return how many there were.

        They are stopped first, so that none can act on the end of another.
        """
        stopped: set[psutil.Process] = set()
        while new := {*self.processes()} - stopped:
            for process in new:
                with suppress(psutil.NoSuchProcess):
                    process.suspend()
            stopped |= new
        for process in stopped:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(stopped, 60)
        return len(stopped)

    def durations(self) -> dict[str, float]:
        """Return the longest time of a job of each stage in the finished run, in seconds."""
        found: dict[str, float] = {}
        for record in records_in(self.finished.folder / RECORDS).values():
            content = json.loads(record.read_bytes())
            if words := stage_words(content["shellcmd"] or ""):
                seconds = content["endtime"] - content["starttime"]
                found[words[0]] = max(found.get(words[0], 0.0), seconds)
        return found

    def outputs(self) -> set[str]:
        """Return the outputs of the finished run."""
        return {str(output) for output in records_in(self.finished.folder / RECORDS)}

    def assert_same(self, *, origins: bool = True) -> None:
        """Assert that all files and records are those of the finished run, and that no other one is left.

        ``origins``: whether the rule and inputs of each output in run.json are compared, too.
        """
        folders = [str(self.results), *(f"results/{name}" for name in SHARED)]
        found, expected = (each.hashes(*folders) for each in (self.checkout, self.finished))
        assert sorted(found) == sorted(expected), {*found} ^ {*expected}
        assert [name for name in found if found[name] != expected[name]] == []
        both = self.folder, self.finished.folder
        found, expected = (made(folder / self.results) if origins else {} for folder in both)
        others = {name: (each, found.get(name)) for name, each in expected.items() if found.get(name) != each}
        assert others == {} and found.keys() == expected.keys(), others
        records = [{*records_in(folder / self.results / ".provenance")} for folder in both]
        assert records[0] == records[1]
        hidden = self.folder / ".snakemake"
        left = [path for name in ("incomplete", "owners") for path in (hidden / name).rglob("*")]
        assert [path for path in left if path.is_file()] == [] == temporary_files(self.folder)
        assert not list((hidden / "locks").glob("*"))
        verified = self.checkout.module("scripts.benchc", "verify", str(self.results))
        assert verified.returncode == 0 and "all outputs match" in verified.stdout, verified.stdout


def temporary_files(folder: Path) -> list[Path]:
    """Return what `benchc.atomic` has left in the results below a folder."""
    return [path for path in (folder / "results").rglob(".*.0????????") if path.name.count(".") > 2]


def made(results: Path) -> dict[str, tuple[str, str, dict[str, str]]]:
    """Return rule, hash and hashes of inputs of every output, as the run's record has them."""
    outputs = json.loads((results / "run.json").read_text())["outputs"]
    # The page shows times of jobs.
    del outputs["index.html"]
    return {name: (each["rule"], each["hash"], each["inputs"]) for name, each in outputs.items()}
