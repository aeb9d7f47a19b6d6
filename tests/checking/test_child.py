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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("json", "loads", "\n"), r"^JSONDecodeError: Expecting value: line 2 column 1"),
        (("benchc.sources.vlmevalkit", "read_vlmevalkit", "bad.tsv", "s"), r"^bad\.tsv: no such file$"),
        (("os", "_exit", 9), "its process was ended by the system, probably because the memory"),
    ],
)
def test_any_error_is_one_line(call, message):
    with pytest.raises(InputError, match=message):
        in_child(*call)
