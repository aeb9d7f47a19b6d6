"""Measure how long Snakemake takes to plan the largest runs, and count their jobs and files.

    python speed/planning.py

MLLM-IC with 11 models in 40 jobs each, and Bench-C with its 16 models, as from a fresh checkout: nothing is
computed. Files are outputs, logs and benchmark files of all jobs, and the most that the results page has.

Prints Markdown for docs/benchmarks.md.
"""

import os
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml
from machine import processor

from benchc.home import HOME
from benchc.rendering.markdown import markdown
from benchc.rendering.results_page.declaration import MOST_STRIPS

MODELS = 11
ROUNDS = 3
COUNT = """
import sys
from pathlib import Path
from benchc.planning.dry_run import dry_run
jobs = dry_run(Path(sys.argv[1])).jobs
print(len(jobs), sum(bool(job.asked) for job in jobs), sum(len(job.outputs) + 2 for job in jobs))
"""
SAMPLES = 1000


def main() -> None:
    print(f"{date.today()}, {processor()}\n")
    rows = []
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name, config in (
            (f"MLLM-IC, {MODELS} models", mllm_ic(folder)),
            ("Bench-C, 16 models", HOME / "config/config.yaml"),
        ):
            environment = {**os.environ, "PYTHONPATH": str(HOME)}
            command = [sys.executable, "-m", "snakemake", "--snakefile", str(HOME / "Snakefile")]
            command += ["--configfile", str(config), "--dry-run", "--quiet"]
            times = []
            for _ in range(ROUNDS):
                start = time.perf_counter()
                subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
                times.append(time.perf_counter() - start)
            counted = subprocess.run(
                [sys.executable, "-c", COUNT, str(config)],
                **{"cwd": folder, "env": environment, "capture_output": True, "text": True, "check": True},
            )
            jobs, submitted, files = map(int, counted.stdout.splitlines()[-1].split())
            files += MOST_STRIPS + 2 * SAMPLES
            rows.append([name, f"{jobs:,}", f"{submitted:,}", f"{median(times):.1f} s", f"{files:,}"])
    print(markdown(["run", "jobs", "on the cluster", "dry run", "files, at most"], rows))


def mllm_ic(folder: Path) -> Path:
    """Write MLLM-IC's configuration with more models of the catalogue; return its file."""
    config = yaml.safe_load((HOME / "config/mllm-ic.yaml").read_text())
    catalogue = yaml.safe_load((HOME / "config/models.yaml").read_text())
    others = [
        id_
        for id_, model in catalogue.items()
        if model.get("gpus") and model.get("scoring") == "letter" and id_ not in config["models"]
    ]
    config["models"] = [id_ for id_ in [*config["models"], *others] if catalogue[id_].get("gpus")][:MODELS]
    config["name"] = "mllm-ic-large"
    path = folder / "mllm-ic-large.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


if __name__ == "__main__":
    main()
