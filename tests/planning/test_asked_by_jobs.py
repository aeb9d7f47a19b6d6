"""What a job of Snakemake asks for, and the estimate of its time."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from benchc.cluster.site import Request
from benchc.planning.dry_run import (
    INTERRUPTED,
    MADE_SINCE,
    NOT_MADE,
    _asked,
    _causes,
    _minutes,
    _planned,
    _updated,
)
from benchc.planning.param_changes import OTHER_INPUTS
from benchc.workflow.minutes import minutes


class Job:
    """A job that evaluates its resources when they are first asked for, as Snakemake's do."""

    def __init__(self, *, local: bool = False, **resources: Callable[[], Any]) -> None:
        self.rule = SimpleNamespace(name="infer")
        names = {"infer"} if local else {"other"}
        self.dag = SimpleNamespace(workflow=SimpleNamespace(_localrules=names))
        self.threads = 3
        self._given = resources
        self._resources: dict[str, Any] | None = None

    @property
    def resources(self) -> dict[str, Any]:
        if self._resources is None:
            self._resources = {name: value() for name, value in self._given.items()}
        return self._resources


def test_a_job_asks_for_what_its_rule_states() -> None:
    job = Job(mem_mb=lambda: 4000, runtime=lambda: 35, gpu=lambda: 2)
    assert _asked(job) == Request(threads=3, mem_mb=4000, minutes=35, gpus=2)
    assert _asked(Job()) == Request(threads=3, mem_mb=0, minutes=None, gpus=0)
    assert _asked(Job(local=True)) is None


def test_an_estimate_is_by_the_function_of_the_rule() -> None:
    job = Job(runtime=lambda: minutes(600))
    assert job.resources == {"runtime": 35}
    assert _minutes(job) == 10
    assert job.resources == {"runtime": 35}


def test_a_number_is_no_estimate() -> None:
    assert _minutes(Job(runtime=lambda: 35)) is None
    assert _minutes(Job()) is None


def test_what_a_job_asks_for_stays_where_its_estimate_fails() -> None:
    values = iter([35])
    job = Job(runtime=lambda: next(values))
    assert job.resources == {"runtime": 35}
    with pytest.raises(StopIteration):
        _minutes(job)
    assert job.resources == {"runtime": 35}


def test_an_input_that_is_newer_has_another_content_where_contents_are_compared(tmp_path: Path) -> None:
    file = tmp_path / "a.tsv"
    newer, content = f"{file} is newer than what was made from it", f"content of {file}"
    assert _updated(str(file), [], 10) == newer  # it is no file
    assert _updated(str(file), [content], 10) == content
    file.write_bytes(bytes(10))
    assert (_updated(str(file), [], 10), _updated(str(file), [], 9)) == (content, newer)


UNCHANGED = {"missing_output": [], "forced": False, "software_stack_changed": False, "input_changed": False}
UNCHANGED |= {"updated_input": set(), "updated_input_run": set()}


class PlannedOne:
    """A job of a graph, by which it is found there."""

    wildcards_dict: ClassVar[dict[str, str]] = {}
    wildcards: ClassVar[list[str]] = []
    rule = SimpleNamespace(name="infer")
    input, output = ("i",), ("o",)


JOB = PlannedOne()


def graph(*made: str, code: tuple[str, ...] = (), params: object = None, **reason: object) -> SimpleNamespace:
    """Return a graph in which each job has the reason, and its inputs ``made`` are made again."""
    records = SimpleNamespace(params_changed=lambda _: params, code_changed=lambda _: code)
    return SimpleNamespace(
        reason=lambda _: SimpleNamespace(**UNCHANGED | reason),
        workflow=SimpleNamespace(persistence=records),
        dependencies={JOB: {"earlier": made} if made else {}},
        max_checksum_file_size=10,
        needrun=lambda other: other == "earlier",
    )


@pytest.mark.parametrize(
    ("found", "causes"),
    [
        ({}, []),
        ({"missing_output": ["o"], "forced": True}, [NOT_MADE]),
        ({"forced": True}, [INTERRUPTED]),
        ({"code": ("x",)}, ["command of rule infer"]),
        ({"software_stack_changed": True}, ["software environment"]),
        ({"input_changed": True}, [OTHER_INPUTS]),
        ({"params": SimpleNamespace(only_old=["'a=1'"], only_new=["'a=2'"])}, ["a: 1 -> 2"]),
        (
            {"updated_input": {"b", "a", "run"}, "updated_input_run": {"run", "other"}},
            ["a is newer than what was made from it", "b is newer than what was made from it"],
        ),
    ],
)
def test_the_causes_of_a_job_are_those_of_snakemake(found: dict[str, Any], causes: list[str]) -> None:
    assert list(_causes(JOB, graph(**found), {}, {})) == causes


def test_inputs_that_are_made_again_are_no_cause_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(_causes(JOB, graph("a", updated_input={"a"}), {}, {})) == [MADE_SINCE]
    for name in ("_asked", "_minutes"):
        monkeypatch.setattr(f"benchc.planning.dry_run.{name}", lambda _: None)
    assert _planned(JOB, graph("i", input_changed=True), {}, {}).causes == []
    changed = _planned(JOB, graph(input_changed=True), {}, {})
    assert (changed.causes, changed.inputs, changed.outputs) == ([OTHER_INPUTS], ["i"], ["o"])
