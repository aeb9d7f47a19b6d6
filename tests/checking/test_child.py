"""A function in a process of its own has no network, and its errors are one line."""

import os

import pytest

from benchc.checking.child import in_child
from benchc.errors import InputError


def test_the_hub_is_offline_there_and_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    assert in_child("os", "getenv", "HF_HUB_OFFLINE") == "1"
    assert "HF_HUB_OFFLINE" not in os.environ
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert in_child("os", "getenv", "HF_HUB_OFFLINE") == "1"
    assert os.environ["HF_HUB_OFFLINE"] == "0"


def test_any_error_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^JSONDecodeError: Expecting value: line 2 column 1"):
        in_child("json", "loads", "\n")
    with pytest.raises(InputError, match=r"^bad\.tsv: no such file$"):
        in_child("benchc.sources.vlmevalkit", "read_vlmevalkit", "bad.tsv", "s")


def test_a_process_that_the_system_ends_is_an_error() -> None:
    with pytest.raises(InputError, match="its process was ended by the system, probably because the memory"):
        in_child("os", "_exit", 9)
