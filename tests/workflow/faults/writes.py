"""The disk is full while files of each kind are written (make test-faults)."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from tests.benchmarks.naturalbench.conftest import finished_groups  # noqa: F401  (fixture)
from tests.benchmarks.r_bench.conftest import TARGETS, finished_pairs  # noqa: F401  (fixture)
from tests.workflow.checkout import Checkout
from tests.workflow.faults.disturbed import SECONDS, Disturbed, temporary_files
from tests.workflow.faults.kills import moments, remove_results, run_and_disturb
from tests.workflow.mounts import Disk, needs_root, small_disk

pytestmark = needs_root
SIZE = "96m"
FULLS = 8  # moments at which the disk of all files is full


@dataclass(frozen=True)
class Write:
    """Files that are removed, and made again by a run. ``place``: the folder that is a disk of its own."""

    removed: tuple[str, ...]
    place: str = "results"

    def remove(self, run: Disturbed) -> tuple[list[str], int]:
        """Remove the files; return those that Snakemake knows as outputs, and the bytes of the largest."""
        paths = [path for name in self.removed for path in sorted(run.folder.glob(name))]
        assert paths, self.removed
        files = [file for path in paths for file in [path, *path.rglob("*")] if file.is_file()]
        size = max(file.stat().st_size for file in files)
        for path in paths:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        outputs = [path for path in paths if path.name != ".cache" and path.suffix != ".log"]
        return [str(path.relative_to(run.folder)) for path in outputs], size


def of_pairs(*names: str, place: str = "results") -> Write:
    return Write(tuple(f"results/{name}" for name in names), place)


# Of a job that prints a line.
LOGS = "logs/pairs/generate_demo_source"
WRITES = {
    "a page": of_pairs("pairs/index.html"),
    "images of a page": of_pairs("pairs/page/images"),
    "samples of a page": of_pairs("pairs/page/items", "pairs/page/samples.js"),
    "csv, Markdown and LaTeX": of_pairs("pairs/tables/table2.*"),
    "a figure": of_pairs("pairs/figures/figure1.*"),
    "Parquet": of_pairs("pairs/scores/texts.parquet"),
    "JSON": of_pairs("pairs/models.json"),
    "YAML": of_pairs("pairs/config*.yaml"),
    "answers": of_pairs("pairs/answers/vqa/texts/all.parquet"),
    "cached answers": of_pairs("pairs/answers/*/texts/all.parquet", ".cache"),
    "images": of_pairs("pairs/corrupted/jpeg.parquet"),
    "items": of_pairs("pairs/sources/shapes.*"),
    "weights": of_pairs("models/trained-*/*"),
    "training data": of_pairs("models/training_set-*"),
    "TSV": of_pairs("generated/drawn-text-*"),
    "logs": Write(("results/generated/drawn-text-*", f"{LOGS}/drawn-text-*.log"), "logs"),
    "records of Snakemake": of_pairs("pairs/models.json", place=".snakemake"),
}
FULL = re.compile(r"error: (job \w+: )?(?P<file>[^:]+): .*\(No space left on device\); free .*")


@pytest.mark.parametrize("kind", WRITES)
def test_a_full_disk_is_named(kind: str, finished_pairs: Checkout, seed: int, tmp_path: Path) -> None:  # noqa: F811
    write_on_a_full_disk(Disturbed(finished_pairs, tmp_path), WRITES[kind], Random(f"{seed} {kind}"))


def write_on_a_full_disk(run: Disturbed, write: Write, random: Random) -> None:
    with small_disk(run.folder / write.place, SIZE) as disk:
        outputs, size = write.remove(run)
        # Of small files, which others precede, all fail.
        left = random.choice([0, int(random.random() * size)]) if write.place == "results" else 0
        disk.fill(left)
        print(f"{left} of {size} bytes are left")
        ended = run.run(*outputs)
        assert ended.status == 1, ended.text
        found = FULL.fullmatch(ended.last)
        assert found and found["file"].startswith(write.place), ended.text
        assert temporary_files(run.folder) == []
        disk.empty()
        ended = run.run(*outputs)
        assert ended.status == 0, ended.text
        run.assert_same()


def test_a_disk_that_is_full_at_random_moments(
    finished_pairs: Checkout,  # noqa: F811
    seed: int,
    tmp_path: Path,
) -> None:
    """With logs, records of Snakemake and caches."""
    run, random = Disturbed(finished_pairs, tmp_path, *TARGETS), Random(seed)
    remove_results(run)
    with small_disk(run.folder, SIZE) as disk:
        run_on_a_disk_that_is_full_at_times(run, disk, moments(run, FULLS, random), random)


def run_on_a_disk_that_is_full_at_times(run: Disturbed, disk: Disk, when: list[str], random: Random) -> None:
    def fill(process: "subprocess.Popen[str]") -> bool:
        disk.fill()
        process.wait(SECONDS)
        disk.empty()
        text = run.printed.read_text(errors="replace")
        if process.returncode == 0:
            return False
        # Of several jobs, and of Snakemake itself, each says it in its way.
        assert text.splitlines()[-1].startswith("error: ") and "No space left" in text, text[-6000:]
        return True

    # At its last moment a run may need no more space each time.
    run_and_disturb(run, when, random, remove_results, fill, tries=3)
    run.assert_same()
