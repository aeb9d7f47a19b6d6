"""The limits that SLURM's accounting sets for a user."""

import subprocess
from getpass import getuser

import pytest

from benchc.cluster import limits
from benchc.cluster.limits import Limit, limits_of
from benchc.cluster.site import Partition, Site

# The fields that limits.py asks for, as sacctmgr of SLURM 22.05 prints them.
ASSOCIATIONS = """\
mine|fast|5|10|02:00:00|cpu=8,gres/gpu=2|gres/gpu=16
other||||||
"""
QOS = """\
normal||100|1-00:00:00||cpu=64
fast|2|||gres/gpu:a100=1,gres/gpu=4|gres/gpu=8
slow|||||
"""


# The numbers of each row of ASSOCIATIONS and QOS are in this order.
FIELDS = {
    "associations": "Account,DefaultQOS,MaxJobs,MaxSubmit,MaxWall,MaxTRES,GrpTRES",
    "qos": "Name,MaxJobsPU,MaxSubmitPU,MaxWall,MaxTRES,MaxTRESPU",
}


def answer(*command: str) -> str:
    kind, *where, fields = command[4:]
    assert fields == f"format={FIELDS[kind]}"
    assert where == ([f"user={getuser()}"] if kind == "associations" else [])
    return ASSOCIATIONS if kind == "associations" else QOS


@pytest.fixture
def accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "said", answer)


MINE = Limit("account mine", 5, 10, 120, 2, 16)
FAST = Limit("qos fast", 2, None, None, 4, 8)
NORMAL = Limit("qos normal", None, 100, 1440, None, None)


def test_those_of_all_accounts_and_of_their_default_qos(accounting: None) -> None:
    assert limits_of(Site(partitions={"cpu": None})) == [MINE, Limit("account other"), FAST, NORMAL]


def test_those_that_the_site_names(accounting: None) -> None:
    site = Site(account="other", partitions={"cpu": None, "gpu": Partition(qos="normal")})
    assert limits_of(site) == [Limit("account other"), NORMAL]
    # Not the default of the account.
    site = Site(account="mine", qos="slow", partitions={"cpu": None})
    assert limits_of(site) == [MINE, Limit("qos slow")]


def test_an_account_without_a_qos_has_the_usual_one(accounting: None) -> None:
    site = Site(account="other", partitions={"cpu": None})
    assert limits_of(site) == [Limit("account other"), NORMAL]


def test_lines_and_gpus_of_another_form_are_no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    twice = "mine||||||license/gres/gpu=3\nmine||||||license/gres/gpu=3\na note of the site\n"
    monkeypatch.setattr(limits, "said", lambda *command: twice if "associations" in command else "")
    assert limits_of(Site(partitions={"cpu": None})) == [Limit("account mine")]


def test_none_for_a_user_without_a_name(accounting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr(limits, "getuser", nameless)
    assert limits_of(Site(partitions={"cpu": None})) == []


def refuse(*_: object, **__: object) -> None:
    raise subprocess.CalledProcessError(1, "sacctmgr", stderr="no accounting_storage plugin")


def test_none_without_accounting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchc.cluster.found.subprocess.run", refuse)
    assert limits_of(Site(partitions={"cpu": None})) == []
