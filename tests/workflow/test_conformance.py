"""The command line of each job of each shipped configuration fits the signature of its stage."""

import json
import shlex
from functools import cache
from pathlib import Path

import pytest
import yaml
from cyclopts import App

from benchc.config.benchmarks import benchmarks_with
from scripts.command import command_line
from scripts.stage import stage_function
from tests.config.test_shipped import ROOT, RUNS
from tests.shared_data import write_empty_sources
from tests.workflow.checkout import Checkout

LIST = """
import json
import logging


class Commands(logging.Handler):
    def emit(self, record):
        if hasattr(record, "rule_name"):
            print("COMMAND", json.dumps([record.rule_name, record.shellcmd]))


logger.addHandler(Commands())
"""
# It needs no function: it writes texts that the rule has.
WITHOUT_STAGE = {"configuration"}
# Another shipped run has the same jobs: with one option more, or with captions of another language.
LIKE_OTHERS = {"mllm-ic.yaml", "naturalbench-curate-xm3600-zh.yaml"}


def benchmark_of(path: Path) -> str:
    found: str = yaml.safe_load(path.read_text())["benchmark"]
    return found


@cache
def app_of(stage: str) -> App:
    app = command_line(stage)
    app.default(stage_function(stage))
    return app


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, python: Path) -> Checkout:
    """A checkout whose dry runs list the commands of jobs."""
    checkout = Checkout(tmp_path_factory.mktemp("conformance") / "benchc", "config/config.yaml")
    checkout.python = python
    with (checkout.folder / "Snakefile").open("a") as file:
        file.write(LIST)
    # A source that a command converts.
    converted = checkout.folder / "results/r-bench/released.tsv"
    converted.parent.mkdir(parents=True)
    converted.touch()
    return checkout


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in [*RUNS, ROOT / "config/demo-diagnostics.yaml"]
        if benchmark_of(path) in benchmarks_with("workflow") and path.name not in LIKE_OTHERS
    ],
    ids=lambda path: path.name,
)
def test_the_command_of_each_job_is_one_of_its_stage(
    path: Path, checkout: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHC_SHARED", write_empty_sources(tmp_path))
    monkeypatch.setattr(checkout, "config", f"config/{path.name}")
    for captions in ((yaml.safe_load(path.read_text()).get("curate") or {}).get("captions") or {}).values():
        if captions.get("file"):  # of the user's own photos
            file_of_captions = checkout.folder / captions["file"]
            file_of_captions.parent.mkdir(parents=True, exist_ok=True)
            file_of_captions.touch()
    lines = checkout.snakemake("-n").stdout.splitlines()
    jobs = [json.loads(line.removeprefix("COMMAND ")) for line in lines if line.startswith("COMMAND ")]
    rules = {rule for rule, command in jobs if command}
    assert {"pool", "describe_models", "infer", "answer"} & rules and rules > WITHOUT_STAGE
    for rule, command in jobs:
        if command and rule not in WITHOUT_STAGE:
            words = shlex.split(command)
            assert words[:3] == ["python", "-m", "scripts.stage"], rule
            stage, options = words[3], words[4 : words.index("2>&1")]
            # Raises where an option is unknown, missing, or of another type.
            _, bound, _ = app_of(stage).parse_args(options, exit_on_error=False, print_error=False)
            # A list of one file, for a parameter that takes one, is read as a path.
            assert not [
                value
                for value in bound.arguments.values()
                if isinstance(value, Path) and str(value).startswith("[")
            ], rule
