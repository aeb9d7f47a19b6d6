"""`benchc what-reruns`: its lines for what Snakemake decided, and the bound on new predictions."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchc.config.load import read_config
from benchc.planning.dry_run import INTERRUPTED, MADE_SINCE, NOT_MADE, DryRun, PlannedJob
from scripts.commands.what_reruns import report
from tests.benchmarks.bench_c.planning.test_plan_command import (  # noqa: F401
    configured,
    folder,
    remote,
    write_pool,
    write_predictions,
    write_selection,
)

RESULTS = "results/trial"
SELECT = PlannedJob("select", [], [f"{RESULTS}/selection/selected.parquet"], ["alpha_kappa: 1 -> 2"])
OUTPUT = f"{RESULTS}/predictions/selected/large/all.parquet"
LARGE = PlannedJob("infer", ["selected", "large", "all"], [OUTPUT], ["code of benchc/models/letter.py"])
TABLES = [PlannedJob(f"table{n}", [], [f"{RESULTS}/tables/table{n}.csv"], []) for n in (1, 2, 3)]


def lines(*jobs: PlannedJob, total: int = 9, locked: bool = False, targets: Sequence[str] = ()) -> list[str]:
    path = Path("config.yaml")
    return "\n".join(report(path, read_config(path), DryRun(jobs, total, locked), targets)).splitlines()


@pytest.fixture
def finished(folder: Path) -> Path:  # noqa: F811
    """Of 5 items in 10 variants 2 are selected and 3 are not; small answers the pool, large both subsets."""
    configured(folder, diagnostics={"random_subset": "all", "option_order": None})
    write_pool()
    write_selection()
    write_predictions("pool", "small", 50, 1.0, 50)
    write_predictions("selected", "large", 20, 1.0, 20)
    write_predictions("unselected", "large", 30, 1.0, 30)
    return folder


def test_nothing_to_rerun_and_files_that_the_targets_do_not_need(finished: Path) -> None:
    assert lines() == ["config.yaml: nothing to rerun; all 9 jobs of run trial are up to date"]
    Path(f"{RESULTS}/predictions/unselected/large/all.parquet").unlink()
    found = lines(LARGE, targets=["table1"], total=4)
    assert found[0] == "config.yaml: 1 of 4 jobs of run trial for table1 would run"
    assert found[-1] == "new predictions: 20, less those in the cache"
    command = lines(LARGE, targets=["table1"], locked=True)[1]
    again = "benchc run config.yaml table1 --cores all"
    assert command == f"  benchc run config.yaml --unlock && {again}"


def test_a_run_that_is_not_started(folder: Path) -> None:  # noqa: F811
    jobs = [PlannedJob("corrupt", [name], [name], [NOT_MADE]) for name in ("fog", "snow")]
    assert lines(*jobs, total=2) == [
        "config.yaml: nothing of run trial is made yet: 2 jobs",
        "  2 corrupt",
        "new predictions: 0",
    ]
    infer = PlannedJob("infer", [], [f"{RESULTS}/predictions/pool/small/all.parquet"], [NOT_MADE])
    assert lines(infer, total=1)[-1] == "new predictions: ≤ 240, less those in the cache"
    remote(folder)
    assert lines(infer, total=1)[-1] == "new predictions: unknown until the pool is built"


def test_a_job_of_a_model_computes_at_most_its_predictions(finished: Path) -> None:
    assert lines(LARGE, *TABLES) == [
        "config.yaml: 4 of 9 jobs of run trial would run",
        "  code of benchc/models/letter.py",
        "    1 infer (selected/large/all)",
        "  downstream of these",
        "    3 tables",
        "new predictions: 20, less those in the cache",
    ]
    (first, *others) = TABLES
    edited = PlannedJob(first.rule, [], first.outputs, ["code of a.py"])
    assert lines(edited, *others)[1:] == [
        "  code of a.py",
        "    1 table (table1)",
        "  downstream of these",
        "    2 tables",
        "new predictions: 0",
    ]


def test_a_new_selection_may_be_the_whole_pool(finished: Path) -> None:
    outputs = [f"{RESULTS}/predictions/{subset}/large/all.parquet" for subset in ("selected", "unselected")]
    jobs = [PlannedJob("infer", [], [output], []) for output in outputs]
    # 5 items each, which exceeds what is possible: the two subsets exclude each other.
    assert lines(SELECT, *jobs)[-1] == "new predictions: ≤ 100, less those in the cache"
    Path(f"{RESULTS}/pool/items.parquet").write_text("damaged")
    assert lines(LARGE)[-1].startswith(f"new predictions: unknown ({RESULTS}/pool/items.parquet: ")


def test_changes_come_before_what_is_not_made_yet(finished: Path) -> None:
    causes = ["code of a.py", "draws: 1 -> 2"]
    sheets = [PlannedJob("contact_sheet", [n], [f"{RESULTS}/figures/{n}.png"], [NOT_MADE]) for n in "ab"]
    assert lines(*sheets, TABLES[0])[2] == "    2 figures (contact_sheet)"
    jobs = [PlannedJob("score", [name], [f"{name}.parquet"], causes) for name in ("a", "b")]
    unmade = PlannedJob("figure3", [], [f"{RESULTS}/figures/figure3.png"], [NOT_MADE])
    assert lines(unmade, *jobs, TABLES[0])[1:8] == [
        "  code of a.py",
        "  draws: 1 -> 2",
        "    2 score (a, b)",
        "  not made yet",
        "    1 figure (figure3)",
        "  downstream of these",
        "    1 table (table1)",
    ]


def test_a_cause_is_named_once(finished: Path) -> None:
    causes = (["code of a.py"], ["code of a.py", MADE_SINCE], [MADE_SINCE], ["b: 1 -> 2", MADE_SINCE])
    jobs = [PlannedJob("score", [str(n)], [f"{n}.parquet"], each) for n, each in enumerate(causes)]
    found = lines(*jobs)
    named = [line.strip() for line in found if line.startswith("  ") and line[2] != " "]
    assert named == ["b: 1 -> 2", "code of a.py", MADE_SINCE]


@pytest.mark.parametrize(
    ("locked", "start", "command"),
    [
        (True, "config.yaml: run trial is locked", "--unlock && benchc run config.yaml"),
        (False, "config.yaml: run trial was interrupted", "benchc run config.yaml"),
    ],
)
def test_a_killed_run_says_how_to_go_on(finished: Path, locked: bool, start: str, command: str) -> None:
    found = lines(PlannedJob("select", [], SELECT.outputs, [INTERRUPTED]), locked=locked)
    assert found[0].startswith(start) and command in found[1] and found[1].endswith(" --cores all")
    assert found[found.index("  interrupted") + 1] == "    select"


def test_long_lists_are_wrapped_between_jobs(finished: Path) -> None:
    jobs = [PlannedJob(f"rule{n:02}", ["a"], [f"file{n}"], []) for n in range(40)]
    found = lines(SELECT, *jobs)
    assert max(map(len, found)) <= 110
    assert len(found) > 5 and all(line.startswith("    1 rule") for line in found[4:-1])
