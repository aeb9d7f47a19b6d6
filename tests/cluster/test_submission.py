"""What sbatch prints, and which of its refusals may end."""

import logging
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchc.cluster import executor
from benchc.cluster.executor import FULL, RefusedError, TransientError, UnansweredError, _submitted
from benchc.cluster.submitted import Submitted
from benchc.workflow.records import inputs_digest


@pytest.mark.parametrize(
    ("printed", "id_"),
    [("77", "77"), ("77;cluster", "77"), ("Welcome to our site\n77\nHave 5 nice jobs", "77")],
)
def test_the_id_is_found_in_what_sbatch_prints(printed: str, id_: str) -> None:
    assert _submitted(f"cat > /dev/null; echo '{printed}'", "#!/bin/bash\n") == id_


def test_the_script_is_its_input(tmp_path) -> None:  # type: ignore[no-untyped-def]
    assert _submitted(f"cat > {tmp_path}/script; echo 1", "#!/bin/bash\necho 'a b'\n") == "1"
    assert (tmp_path / "script").read_text() == "#!/bin/bash\necho 'a b'\n"


@pytest.mark.parametrize(
    ("error", "is_transient"),
    [
        ("Batch job submission failed: Socket timed out on send/recv operation", True),
        ("Batch job submission failed: Unable to contact slurm controller (connect failure)", True),
        ("AssocMaxSubmitJobLimit\nBatch job submission failed: Job violates accounting/QOS policy", True),
        (
            "QOSMaxSubmitJobPerUserLimit\nBatch job submission failed: Job violates accounting/QOS policy",
            True,
        ),
        # The same last line, but no other job has to end.
        (
            "QOSMaxWallDurationPerJobLimit\nBatch job submission failed: Job violates accounting/QOS policy "
            "(job submit limit, user's size and/or time limits)",
            False,
        ),
        ("Batch job submission failed: Required partition not available (inactive or drain)", True),
        ("Batch job submission failed: Invalid account or account/partition combination specified", False),
        ("invalid partition specified: nowhere", False),
    ],
)
def test_only_refusals_that_may_end_are_tried_again(error: str, is_transient: bool) -> None:
    lines = "; ".join(f'echo "sbatch: error: {line}" >&2' for line in error.splitlines())
    with pytest.raises(RefusedError) as caught:
        _submitted(f"{lines}; exit 1", "")
    assert isinstance(caught.value, TransientError) == is_transient
    assert str(caught.value) == " ".join(error.splitlines())


@pytest.mark.parametrize("status", [0, 3])
def test_without_an_id_a_job_is_refused(status: int) -> None:
    with pytest.raises(RefusedError, match=f"^sbatch ended with {status}, and printed no id of a job$"):
        _submitted(f"echo submitted; exit {status}", "")


TIMED_OUT = (
    "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation' >&2; exit 1"
)


@pytest.mark.parametrize(
    ("answers", "tries", "id_"),
    [
        # SLURM had accepted it, or had not.
        ([{"4": "rule_infer other", "5": "rule_infer rule_embed token"}], 1, "5"),
        ([{"4": "rule_infer other"}], 2, "2"),
        # While squeue does not say which, nothing is submitted.
        ([None, None, {"5": "token"}], 1, "5"),
        ([None, {}], 2, "2"),
    ],
)
def test_a_job_that_was_accepted_without_an_answer_is_not_submitted_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: list[dict[str, str] | None],
    tries: int,
    id_: str,
) -> None:
    monkeypatch.setattr(executor, "comments", lambda: answers.pop(0))
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
    count = f"echo x >> {tmp_path}/tries; n=$(wc -l < {tmp_path}/tries)"
    command = f"{count}; if [ $n = 1 ]; then {TIMED_OUT}; else echo $n; fi"
    assert Submitting()._sbatch(command, "", "token") == id_
    assert (tmp_path / "tries").read_text().count("x") == tries
    assert answers == []


def test_squeue_is_asked_only_where_a_job_may_have_been_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "comments", None)
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
    assert Submitting()._sbatch("echo 1", "", "token") == "1"
    refused = "echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2; exit 1"
    command = f"[ -e {tmp_path}/tried ] && echo 7 || {{ touch {tmp_path}/tried; {refused}; }}"
    assert Submitting()._sbatch(command, "", "token") == "7"
    with pytest.raises(RefusedError, match=r"^no such partition$"):
        Submitting()._sbatch("echo 'sbatch: error: no such partition' >&2; exit 1", "", "token")


def test_a_job_that_may_have_been_accepted_is_not_called_refused(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executor, "comments", lambda: None)
    monkeypatch.setattr(executor, "LINE_AFTER_TRIES", 2)
    seconds = iter(range(0, 9000, 400))
    monkeypatch.setattr(executor, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
    with pytest.raises(UnansweredError, match=r"^squeue does not say whether SLURM accepted a job$"):
        Submitting()._sbatch(TIMED_OUT, "", "token")
    assert caplog.messages == ["squeue does not say whether SLURM accepted a job; it is asked again."]


class Submitting(executor.Executor):
    """An executor that only submits."""

    is_stopping = False
    logger = logging.getLogger(__name__)

    def __init__(self) -> None:
        pass


NO_CHANGE = {"code": [], "input": [], "params": None, "has": True, "ids": {"7 DIGEST"}}


@pytest.mark.parametrize(
    "change",
    [{}, {"code": ["a"]}, {"input": ["a"]}, {"params": "p"}, {"has": False}, {"ids": {"7 of other inputs"}}],
)
def test_a_job_is_the_one_that_was_submitted_unless_it_changed(change: dict[str, object]) -> None:
    found = {**NO_CHANGE, **change}
    ids = {text.replace("DIGEST", inputs_digest(["a"])) for text in found["ids"]}  # type: ignore[attr-defined]
    job = SimpleNamespace(input=["a"], is_group=lambda: False)
    submitted = Submitted.__new__(Submitted)
    submitted.records = SimpleNamespace(
        code_changed=lambda job: found["code"],
        input_changed=lambda job: found["input"],
        params_changed=lambda job: found["params"],
        has_metadata=lambda job: found["has"],
        external_jobids=lambda job: ids,
    )
    assert submitted.is_same(job) == (not change)
    assert submitted.id_of(job) == "7"


def test_a_limit_on_the_number_of_jobs_is_none_on_one_job() -> None:
    assert not any(name in "QOSMaxWallDurationPerJobLimit submit limit" for name in FULL)
