"""What Snakemake would run, and why, of a small Snakefile."""

import json
import os
import subprocess
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.checkout import ROOT

SNAKEFILE = """
rule all:
    input: "last"

rule first:
    input: "given"
    output: "{name}.first"
    params: config["value"]
    shell: "cat {input} > {output}"

rule last:
    input: expand("{name}.first", name=config["names"])
    output: "last"
    params: config["other"]
    shell: "cat {input} > {output}"
"""
SHOW = """
import json, pathlib, sys
from dataclasses import asdict
from scripts.command import run
from benchc.planning.dry_run import dry_run
config, snakefile = pathlib.Path("config.json"), pathlib.Path("Snakefile")
run(lambda: print(json.dumps(asdict(dry_run(config, sys.argv[1:], snakefile=snakefile)), default=dict)))
"""


def run(folder: Path, module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [folder / "python", "-m", module, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)


def make(folder: Path) -> None:
    done = run(folder, "snakemake", "--cores", "1", "--configfile", "config.json")
    assert done.returncode == 0, done.stderr


def planned(folder: Path, *targets: str) -> dict[str, Any]:
    done = run(folder, "show", *targets)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def causes(folder: Path) -> dict[str, list[str]]:
    """Return the causes by job; no job runs twice."""
    return {"/".join([job["rule"], *job["wildcards"]]): job["causes"] for job in planned(folder)["jobs"]}


def configure(folder: Path, **changes: object) -> None:
    config = {"names": ["a", "b"], "value": "value=1", "other": "other=1", **changes}
    (folder / "config.json").write_text(json.dumps(config))


@pytest.fixture
def folder(tmp_path: Path, python: Path) -> Path:
    (tmp_path / "python").symlink_to(python)
    (tmp_path / "show.py").write_text(SHOW)
    return tmp_path


@pytest.fixture
def unmade(folder: Path) -> Path:
    (folder / "Snakefile").write_text(SNAKEFILE)
    (folder / "given").write_text("given")
    configure(folder)
    return folder


@pytest.fixture
def made(unmade: Path) -> Path:
    make(unmade)
    return unmade


def test_nothing_is_made_at_first_and_nothing_reruns_afterwards(unmade: Path) -> None:
    plan = planned(unmade)
    assert not list(unmade.glob(".snakemake/log/*"))
    assert (len(plan["jobs"]), plan["total"], plan["locked"]) == (3, 3, False)
    assert {tuple(job["causes"]) for job in plan["jobs"]} == {("not made yet",)}
    make(unmade)
    assert planned(unmade) == {"jobs": [], "total": 3, "locked": False}


def test_a_changed_param_is_a_cause_also_of_a_job_whose_inputs_are_made_again(made: Path) -> None:
    configure(made, value="value=2")
    assert causes(made) == {"first/a": ["value: 1 -> 2"], "first/b": ["value: 1 -> 2"], "last": []}
    configure(made, value="value=2", other="other=3")
    assert causes(made)["last"] == ["other: 1 -> 3"]


def test_added_and_removed_inputs(made: Path) -> None:
    configure(made, names=["a", "b", "c"])
    assert causes(made) == {"first/c": ["not made yet"], "last": []}
    configure(made, names=["a"])
    assert causes(made) == {"last": ["other input files"]}


def test_files_and_commands(made: Path) -> None:
    (made / "given").write_text("edited")
    assert causes(made)["first/a"] == ["content of given"]
    (made / "given").write_text("given")
    (made / "Snakefile").write_text(SNAKEFILE.replace('output: "last"', 'output: "last"\n    log: "log"'))
    assert causes(made) == {}
    (made / "Snakefile").write_text(SNAKEFILE.replace("cat", "cat -u"))
    assert causes(made)["last"] == ["command of rule last"]


def test_a_large_file_is_not_said_to_have_changed_where_only_its_time_is_known(unmade: Path) -> None:
    (unmade / "given").write_bytes(b"x" * 1_000_001)
    make(unmade)
    (unmade / "given").touch()
    assert causes(unmade)["first/a"] == ["given is newer than what was made from it"]


def test_a_changed_sample_of_a_large_file_is_a_changed_content(unmade: Path) -> None:
    (unmade / "given").write_bytes(b"x" * 1_000_001)
    configure(unmade, value=f"given 1000001 {'0' * 32}")
    make(unmade)
    (unmade / "given").touch()
    configure(unmade, value=f"given 1000001 {'1' * 32}")
    assert causes(unmade)["first/a"] == ["content of given"]


def test_settings_of_a_stage_are_named(folder: Path) -> None:
    (folder / "Snakefile").write_text(
        "from benchc.workflow.stage import stage\n"
        'rule only:\n    output: "only"\n'
        '    params: **stage("pool", tracked=False, contents=config["contents"], **config["settings"])\n'
        '    shell: "touch {output}"\n'
    )

    def configured(content: str, **settings: object) -> None:
        contents = [f"own.py 12 {content * 32}"]
        (folder / "config.json").write_text(json.dumps({"contents": contents, "settings": settings}))

    configured("0", per_task=6, task_columns={"fog": {"3": {"sigma": 1}}}, sources=["a", "b"], report="{a}")
    make(folder)
    assert causes(folder) == {}
    configured("1", total=9, task_columns={"fog": {"3": {"sigma": 2}}}, sources=["a", "c"], report="{a}")
    assert causes(folder)["only"] == [
        "content of own.py",
        "per_task: 6 -> none",
        'sources: + "c", - "b"',
        "task_columns.fog.3.sigma: 1 -> 2",
        "total: none -> 9",
    ]


def test_targets_limit_the_jobs(made: Path) -> None:
    configure(made, value="value=2", names=["a", "b", "c"])
    plan = planned(made, "a.first")
    assert [job["outputs"] for job in plan["jobs"]] == [["a.first"]] and plan["total"] == 1
    done = run(made, "show", "a.second")
    assert done.returncode == 1
    assert done.stderr == (
        "error: config.json: No rule to produce a.second; correct the target: a rule, or a file of this run "
        "(--list-rules, --summary)\n"
    )


def test_an_interrupted_and_a_locked_run(made: Path) -> None:
    (made / ".snakemake/incomplete" / urlsafe_b64encode(b"a.first").decode()).touch()
    (made / ".snakemake/locks").mkdir(exist_ok=True)
    (made / ".snakemake/locks/0.output.lock").write_text("last\n")
    plan = planned(made)
    assert plan["locked"]
    assert {job["rule"]: job["causes"] for job in plan["jobs"]} == {
        "first": ["interrupted"],
        "last": [],
    }


@pytest.mark.parametrize(
    ("absent", "snakefile", "sentence"),
    [
        ("given", SNAKEFILE, "Missing input files for rule first:"),
        ("given", SNAKEFILE.replace('"given"', "lambda _: config['no']"), "KeyError: 'no'"),
        ("Snakefile", SNAKEFILE, 'Snakefile" not found.'),
    ],
)
def test_what_snakemake_refuses_is_one_line(unmade: Path, absent: str, snakefile: str, sentence: str) -> None:
    (unmade / "Snakefile").write_text(snakefile)
    (unmade / absent).unlink()
    done = run(unmade, "show")
    assert done.returncode == 1
    assert done.stderr.startswith("error: config.json: ") and sentence in done.stderr
    assert done.stderr.count("\n") == 1
