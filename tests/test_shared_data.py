"""Few tests need the shared data, and a run without it says how many it skipped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_data import REASON, ROOT, SHARED, needs_shared


def test_at_most_30_tests_need_the_shared_data(request: pytest.FixtureRequest) -> None:
    reasons = [
        mark.kwargs.get("reason") for item in request.session.items for mark in item.iter_markers("skipif")
    ]
    assert reasons.count(REASON) <= 30


@needs_shared
def test_published_tables_are_those_of_the_reference() -> None:
    # Other tests compare these: headers of ours, and a cell that the reference leaves empty.
    changed = {"bench_c_table1", "bench_c_table2", "bench_c_table3", "naturalbench_table7"}
    compared = 0
    for copy in (ROOT / "benchc/benchmarks").glob("*/published/*.csv"):
        name = f"{copy.parents[1].name}_{copy.stem}"
        for reference in (SHARED / "reference").rglob(f"{name}.csv"):
            assert name in changed or copy.read_bytes() == reference.read_bytes(), copy
            compared += 1
    assert compared > 5


def test_what_is_skipped_is_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/sources/test_real.py"],
        cwd=ROOT,
        env={**os.environ, "BENCHC_SHARED": str(tmp_path / "absent")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "BENCHC_SHARED" in line]
    assert line == (
        f"4 tests skipped: there is no folder {tmp_path}/absent of published tables and real items; "
        "set BENCHC_SHARED to it"
    )
