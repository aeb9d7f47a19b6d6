"""The benchmarks of corruptions print their tables, on a tiny image; the others start."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    pixels = np.random.default_rng(1).integers(0, 256, (40, 60, 3), np.uint8)
    Image.fromarray(pixels).resize((120, 80)).save(folder / "a.png")
    return folder


Run = Callable[..., str]


@pytest.fixture
def run(python: Path) -> Run:
    """Return a function that runs a script and returns what it prints."""

    def printed(script: str, *options: str) -> str:
        command = [str(python), str(ROOT / "speed" / script), *options]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stdout

    return printed


def test_times_and_memory_of_both_packages(run: Run, photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "deep" / "times.json"
    options = ("--sizes", "120x80", "--types", "contrast", "--seconds", "0", "--photos", str(photos))
    printed = run("corruptions.py", *options, "--output", str(output))
    stored = json.loads(output.read_text())
    cells = stored["seconds"]["120x80"]["contrast"]
    assert list(cells) == ["1", "2", "3", "4", "5"]
    assert all(cell["calls"] == 3 and 0 < cell["benchc"] < 1 for cell in cells.values())
    sums = [1000 * sum(cell[engine] for cell in cells.values()) for engine in ("imagecorruptions", "benchc")]
    assert f"| contrast | {sums[0]:,.1f} | {sums[1]:,.1f} | {sums[0] / sums[1]:.1f} |" in printed
    assert stored["megabytes"]["imagecorruptions"]["contrast"] >= 0
    assert "### Working memory at 120x80" in printed


def test_forms_stage_cores_and_files(run: Run, photos: Path) -> None:
    # Every form is compared with its pixels, and what is made with what was stored.
    options = ("--types", "contrast", "--rounds", "1", "--items", "40", "--megapixels", "0.5")
    printed = run("corrupt_stage.py", "--photos", str(photos), *options)
    assert "17 images, 1 of them clean" in printed
    assert "| PPM | 3.00 |" in printed
    for heading in ("| contrast |", "| **all** |", "| 2 |", "| files |", "| on_the_fly | 0 | 0.0 |"):
        assert f"\n{heading}" in printed
    assert "95 variants of 0.50 megapixels" in printed


def test_all_ways_to_open_a_cache_find_its_units(run: Run) -> None:
    # Each process checks that it finds all, and none that is not there.
    printed = run("cache.py", "--units", "90", "--shards", "3", "--looked-up", "30", "--rounds", "1")
    assert "90 units, of which 30 are looked up" in printed
    assert [line.split(" | ")[1] for line in printed.splitlines()[-3:]] == ["sqlite", "lines", "indexes"]


@pytest.mark.parametrize(
    "script", ["gpu_inference.py", "host.py", "inference.py", "metrics.py", "selection.py"]
)
def test_other_benchmarks_start(run: Run, script: str) -> None:
    assert "usage: " in run(script, "--help")


def test_a_stand_in_device_is_kept_busy_by_workers(run: Run) -> None:
    options = ("--models", "LLaVA-1.5", "--sides", "64", "--seconds", "2", "--latencies", "800")
    rows = [line.split("|") for line in run("host.py", *options).splitlines() if line.startswith("| LLaVA")]
    assert [row[2].strip() for row in rows] == ["64", "64"]
    assert float(rows[1][5].strip(" %(!)")) > 50


def test_mining_is_timed_beside_its_products(run: Run) -> None:
    printed = run("mining.py", "--sizes", "300", "--shares", "0.3", "--keep-by", "hardest")
    size, share, kept, *_ = (cell.strip() for cell in printed.splitlines()[-1].strip("|").split("|"))
    assert size == "300" and 15 < float(share.rstrip("%")) < 45
    assert 0 < int(kept.replace(",", "")) <= 64 * 300


def test_the_cube_is_measured_at_each_size(run: Run) -> None:
    printed = run("cube.py", "--models", "2", "--items", "60", "120", "--draws", "20").splitlines()
    assert [line.split("|")[1].strip() for line in printed[-2:]] == ["60", "120"]
    assert 0 < float(printed[-1].split("|")[-2]) < 8  # GB at the peak
