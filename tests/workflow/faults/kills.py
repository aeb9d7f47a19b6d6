"""Processes of runs are killed at random moments of all stages (make test-faults)."""

import math
import re
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.benchmarks.naturalbench.conftest import finished_groups  # noqa: F401  (fixture)
from tests.benchmarks.r_bench.conftest import TARGETS, finished_pairs  # noqa: F401  (fixture)
from tests.workflow.checkout import Checkout
from tests.workflow.faults.disturbed import SECONDS, Disturbed

# NaturalBench has most stages of its own.
KILLS = {"finished": 13, "finished_pairs": 11, "finished_groups": 26}
OUTPUT = re.compile(r"\.(tables|figures|pages)\.")
# Moments that are of no job: while Snakemake plans, and while it writes the run's record.
START, END = "start", "end"
SECONDS_OF_START, SECONDS_OF_END = 6.0, 1.0
ALL_DONE = re.compile(r"^\[ *(\d+)/\1\]", re.MULTILINE)


@pytest.mark.parametrize("fixture", KILLS)
def test_a_run_that_is_killed_makes_the_same_bytes(
    fixture: str, seed: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    finished: Checkout = request.getfixturevalue(fixture)
    run = Disturbed(finished, tmp_path, *(TARGETS if fixture == "finished_pairs" else ()))
    remove_results(run)
    run_and_kill(run, moments(run, KILLS[fixture], Random(seed)), Random(seed), remove_results)
    run.assert_same()


def moments(run: Disturbed, number: int, random: Random) -> list[str]:
    """Return when to kill: in jobs of the benchmark's own stages, of others, of tables, before and after."""
    stages = sorted(run.durations())
    random.shuffle(stages)
    stages.sort(key=lambda stage: (OUTPUT.search(stage) is not None, "." not in stage))
    return [*stages[: number - 2], START, END]


def run_and_kill(
    run: Disturbed, when: list[str], random: Random, remove: Callable[[Disturbed], object]
) -> None:
    """Kill a run at each moment once, start it again each time, and let it end at last.

    ``remove``: as of :func:`run_and_disturb`.
    """

    def kill(process: "subprocess.Popen[str]") -> bool:
        is_killed = process.poll() is None and run.kill() > 0
        process.wait(60)
        return is_killed

    run_and_disturb(run, when, random, remove, kill)


def run_and_disturb(
    run: Disturbed,
    when: list[str],
    random: Random,
    remove: Callable[[Disturbed], object],
    disturb: Callable[["subprocess.Popen[str]"], bool],
    tries: float = math.inf,
) -> None:
    """Disturb a run at each moment once, start it again each time, and let it end at last.

    ``remove``: what it makes, for a run that ends before all moments were met. ``disturb``: returns whether
    the run ended by it; a moment at which it goes on ``tries`` times is not tried again.
    """
    durations, left, undisturbed = run.durations(), [*when], Counter[str]()
    while True:
        process = run.start()
        is_start = START in left and random.random() * len(left) < 1
        moment = START if is_start else wait_for_one(run, process, left)
        if moment is None:
            text = run.printed.read_text(errors="replace")
            assert process.returncode == 0, text[-6000:]
            if not left:
                return
            remove(run)
            continue
        seconds = {START: SECONDS_OF_START, END: SECONDS_OF_END, **durations}[moment]
        delay = random.uniform(0, seconds)
        time.sleep(delay)
        ended = disturb(process)
        undisturbed[moment] += not ended
        if ended or undisturbed[moment] >= tries:
            left.remove(moment)
            print(f"{delay:.2f} of {seconds:.2f} s after the start of {moment}; {len(left)} left", flush=True)


def wait_for_one(run: Disturbed, process: "subprocess.Popen[str]", moments: list[str]) -> str | None:
    """Return which of the moments comes first; None where the run ends before."""
    end = time.monotonic() + SECONDS
    while process.poll() is None:
        assert time.monotonic() < end, run.printed.read_text(errors="replace")[-6000:]
        found = sorted(run.stages() & {*moments})
        if END in moments and ALL_DONE.search(run.printed.read_text(errors="replace")):
            found.append(END)
        if found:
            return found[0]
        time.sleep(0.15)
    return None


def remove_results(run: Disturbed) -> None:
    """Remove all that the run has made, and what Snakemake knows of it."""
    for name in ("results", "logs", ".snakemake"):
        shutil.rmtree(run.folder / name, ignore_errors=True)
