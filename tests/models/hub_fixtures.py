"""A served hub for tests in one process: its address is read when the Hub's client is imported."""

from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest

from benchc.models.hub import fetch as hub_fetch
from tests.models.hub_server import Hub, serving


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub without repositories, an empty cache, and no token."""
    constants = huggingface_hub.constants
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_STORED_TOKENS_PATH", str(tmp_path / "tokens"))
    monkeypatch.setattr(hub_fetch, "LONGEST_WAIT", 0.0)
    with serving() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
        monkeypatch.setattr(
            constants,
            "HUGGINGFACE_CO_URL_TEMPLATE",
            hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}",
        )
        monkeypatch.setattr(huggingface_hub.hf_api.api, "endpoint", hub.endpoint)
        yield hub
