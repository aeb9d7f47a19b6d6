"""`benchc site`: the file that it writes, and what it says of trials and of models."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchc.cluster.found import FoundPartition
from benchc.cluster.site import SITE, Site, read_site
from benchc.cluster.trial import Tried
from benchc.errors import InputError
from scripts.commands import site as command
from tests.workflow.checkout import ROOT

FOUND = {
    "gpu": FoundPartition(True, 60, 4, 8000, 2, ("a100", "v100")),
    "cpu": FoundPartition(False, None, 8, 16_000),
}


@pytest.fixture(autouse=True)
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with FOUND partitions, which refuses GPUs without a type."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "partitions", lambda: FOUND)
    monkeypatch.setattr(command, "accounts", lambda: ["mine", "ours"])
    refused = ("--gpus=1", "--gres=gpu:1")
    monkeypatch.setattr(command, "is_refused", lambda options: any(each in options for each in refused))


def trials(monkeypatch: pytest.MonkeyPatch, bad: str) -> None:
    def tried(described: Site, *_: object) -> Iterator[Tried]:
        yield from (Tried(name, name not in bad.split(), "tried") for name in described.limits)

    monkeypatch.setattr(command, "try_partitions", tried)


def test_the_file_without_a_cluster_is_that_of_the_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "accounts", list)
    assert command._text({}, None, None) == (ROOT / SITE).read_text()


def test_the_file_has_what_slurm_says_and_the_comments_of_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    trials(monkeypatch, "")
    command.site(qos="long: #1")
    text, read = SITE.read_text(), read_site(SITE)
    assert (read.account, read.qos, read.gpus.request, read.gpus.type) == (None, "long: #1", "gres", "a100")
    assert {name: (each.max_runtime, each.max_gpu) for name, each in read.limits.items()} == {
        "gpu": (60, 2),
        "cpu": (None, 0),
    }
    assert "# You have the accounts mine, ours." in text
    comments = re.findall(r"(?m)^# [A-Z].*", (ROOT / SITE).read_text())
    assert [line for line in comments if line not in text] == []
    # Each key once, whether given or as an example.
    assert {len(re.findall(rf"(?m)^(?:# )?{key}:", text)) for key in Site.model_fields} == {1}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("gpu", "jobs in 1 partition of .* or remove it; without it, runs without GPUs can go on$"),
        ("cpu", "jobs in 1 partition of .* or remove it$"),
        ("gpu cpu", "jobs in 2 partitions of .* or remove it$"),
    ],
)
def test_a_partition_that_cannot_be_used_is_an_error(
    bad: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials(monkeypatch, bad)
    with pytest.raises(InputError, match=message):
        command.site(account="mine")


def test_models_without_a_folder_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trials(monkeypatch, "")
    command.site(config=Path("config/demo-r-bench.yaml"))
    assert re.search(r"(?m)^tiny-\S+: made by the run$", capsys.readouterr().out)
