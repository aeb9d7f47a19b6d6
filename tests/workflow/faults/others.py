"""Read-only folders, a clock that was set back, and two runs in one folder (make test-faults)."""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from benchc.workflow.records import RECORDS, records_in
from tests.benchmarks.r_bench.conftest import finished_pairs  # noqa: F401  (fixture)
from tests.workflow.checkout import Checkout
from tests.workflow.faults.disturbed import Disturbed
from tests.workflow.mounts import needs_root, read_only

SOURCE = "data/shapes.tsv"
DAY = 24 * 3600
TABLES = "results/pairs/tables"
ANSWERS = "results/pairs/answers/vqa/texts/all.parquet"
REFUSED = re.compile("Read-only file system|make the files writable")
FOLDERS = ("results", "results/pairs", "results/.cache", "logs", ".snakemake", ".")


@pytest.fixture
def run(finished_pairs: Checkout, tmp_path: Path) -> Disturbed:  # noqa: F811
    return Disturbed(finished_pairs, tmp_path)


@needs_root
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_that_cannot_be_written_is_named(folder: str, run: Disturbed) -> None:
    run_in_a_read_only_folder(run, folder)


def run_in_a_read_only_folder(run: Disturbed, folder: str) -> None:
    shutil.rmtree(run.folder / TABLES)
    (run.folder / ANSWERS).unlink()
    shutil.rmtree(run.folder / "results/.cache/texts")
    before = run.checkout.hashes("results")
    with read_only(run.folder / folder):
        ended = run.run("all", ANSWERS)
    assert ended.status == 1 and "Traceback" not in ended.text, ended.text
    errors = [line for line in ended.text.splitlines() if line.startswith("error: ")]
    assert errors and errors[-1] == ended.last, ended.text
    named = "" if folder == "." else folder
    assert all(named in line and REFUSED.search(line) for line in errors), ended.text
    assert before.items() <= run.checkout.hashes("results").items()
    ended = run.run("all", ANSWERS)
    assert ended.status == 0, ended.text
    run.assert_same()


def shift(run: Disturbed, seconds: int, *outputs: str) -> None:
    """Change the time of what a run has made, as if the clock had been wrong, in the records, too.

    ``outputs``: beginnings of the paths (default: all).
    """
    for folder in (run.folder / RECORDS, *(run.folder / "results").glob("*/.provenance")):
        for output, record in records_in(folder).items():
            if str(output).startswith(outputs or ("",)):
                content = json.loads(record.read_bytes())
                times = {name: content[name] + seconds for name in ("starttime", "endtime")}
                record.write_text(json.dumps(content | times))
    for path in sorted((run.folder / "results").rglob("*"), reverse=True):
        name = str(path.relative_to(run.folder))
        if name.startswith(outputs or ("",)) and not {".cache", ".provenance"} & {*path.parts}:
            found = path.lstat()
            times_ns = found.st_atime_ns, found.st_mtime_ns + seconds * 10**9
            os.utime(path, ns=times_ns, follow_symlinks=False)


def touch_in_the_future(run: Disturbed) -> None:
    future = time.time() + DAY
    os.utime(run.folder / SOURCE, (future, future))


SET_BACK = (
    r"\d+ files with times in the future, such as results/\S+: the clock was set back, .*; correct the "
    r"clock, or accept all as they are, and delete those that this leaves: "
    r"(snakemake .* --touch --forceall --cores 1)"
)
# What is done, options of the run, the line with which it stops, and what to do if it names no command.
CLOCKS: dict[str, tuple[Callable[[Disturbed], object], tuple[str, ...], str, str]] = {
    "set back after the run": (lambda run: shift(run, DAY), (), SET_BACK, ""),
    "set back during the run": (
        lambda run: shift(run, DAY, "results/pairs/pool", "results/pairs/corrupted", "results/models"),
        (),
        SET_BACK,
        "",
    ),
    # Of a file whose hash Snakemake does not compare.
    "set back after an edit": (
        touch_in_the_future,
        ("--max-checksum-file-size", "10"),
        rf"results/\S+: its input {SOURCE} has a time in the future; .* touch {SOURCE}, .*",
        f"touch {SOURCE}",
    ),
}


@pytest.mark.parametrize("kind", CLOCKS)
def test_a_clock_that_was_set_back_makes_no_other_bytes(kind: str, run: Disturbed) -> None:
    run_after_the_clock_was(kind, run)


def run_after_the_clock_was(kind: str, run: Disturbed) -> None:
    change, options, says, fix = CLOCKS[kind]
    change(run)
    for _ in range(2):
        ended = run.run(*options)
        said = re.fullmatch(f"error: {says}", ended.last)
        assert ended.status == 1 and said is not None, ended.text
    subprocess.run(fix or said[1], shell=True, cwd=run.folder, env=run.checkout.environment, check=True)
    ended = run.run(*options)
    assert ended.status == 0, ended.text
    assert "Nothing to be done" in run.run().text
    # Deleted files of which nothing is made again are missing.
    run.run(*sorted(run.outputs()))
    run.assert_same()


def test_the_second_of_two_runs_waits_for_the_first(run: Disturbed, seed: int) -> None:
    two_runs(run, Random(seed), pairs=6)


def two_runs(run: Disturbed, random: Random, pairs: int, tables: str = "*") -> None:
    """Start two runs that make tables at nearly the same moment, several times."""
    for _ in range(pairs):
        for table in (run.folder / TABLES).glob(tables):
            table.unlink()
        first = run.start()
        time.sleep(delay := random.choice([0.0, random.uniform(0, 8)]))
        second = subprocess.run(
            run.command(),
            cwd=run.folder,
            env=run.checkout.environment,
            text=True,
            capture_output=True,
            check=False,
        )
        first.wait()
        print(f"the second after {delay:.1f} s: {first.returncode}, {second.returncode}")
        ended = [(first.returncode, run.printed.read_text()), (second.returncode, second.stderr)]
        (one, _), (other, text) = sorted(ended)
        assert one == 0, ended
        # The second may also plan while the first removes what it makes again.
        waits = ("makes files of this run in this folder; wait", "was removed while this run was planned; ")
        assert any(each in text for each in waits) or (other == 0 and "Nothing to be done" in text), ended
        run.assert_same()
