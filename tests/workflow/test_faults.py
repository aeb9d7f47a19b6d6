"""A run that is disturbed makes the same bytes, or says why not; `make test-faults` tries more."""

from pathlib import Path
from random import Random

import pytest

from tests.benchmarks.r_bench.conftest import finished_pairs  # noqa: F401  (fixture)
from tests.workflow.checkout import Checkout
from tests.workflow.faults.disturbed import Disturbed
from tests.workflow.faults.kills import run_and_kill
from tests.workflow.faults.others import two_runs
from tests.workflow.faults.writes import WRITES, Write, write_on_a_full_disk
from tests.workflow.mounts import needs_root

JPEG = "results/pairs/corrupted/jpeg.parquet"


@pytest.fixture
def run(finished_pairs: Checkout, tmp_path: Path) -> Disturbed:  # noqa: F811
    return Disturbed(finished_pairs, tmp_path)


def test_a_run_that_is_killed_makes_the_same_bytes(run: Disturbed) -> None:
    of_two_stages = Write(("results/pairs/answers/*/texts/all.parquet", "results/.cache", JPEG))
    outputs, _ = of_two_stages.remove(run)
    run.targets = tuple(outputs)
    run_and_kill(run, ["answer", "corrupt"], Random(0), of_two_stages.remove)
    # `make test-faults` compares origins, too: on a busy machine, they differed once.
    run.assert_same(origins=False)


@needs_root
@pytest.mark.parametrize("kind", ["images of a page", "records of Snakemake"])
def test_a_full_disk_is_named(kind: str, run: Disturbed) -> None:
    write_on_a_full_disk(run, WRITES[kind], Random(0))


def test_the_second_of_two_runs_ends_with_a_sentence(run: Disturbed) -> None:
    two_runs(run, Random(0), pairs=1, tables="table[23]*")
