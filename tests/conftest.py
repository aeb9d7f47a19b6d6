"""Options of the whole suite."""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from benchc.models.hub.offline import OFFLINE

# With more threads than free cores, those of torch wait for each other: a test of seconds takes minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Where transformers copies a checkpoint's code before it imports it: one folder for each process, since the
# package `transformers_modules` keeps the folder of its first import.
MODULES = tempfile.TemporaryDirectory(prefix="benchc-modules-")
os.environ["HF_MODULES_CACHE"] = MODULES.name

# A busy machine is no failure.
settings.register_profile("benchc", deadline=None)
settings.load_profile("benchc")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run", type=Path, help="a finished run whose promises the tests of demo_run check")


@pytest.fixture(autouse=True)
def hub_as_before(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Undo what a job of a test's process does: it forbids downloads."""
    before = os.environ.get(OFFLINE)
    monkeypatch.setenv(OFFLINE, before or "0")
    if (constants := sys.modules.get("huggingface_hub.constants")) is not None:
        monkeypatch.setattr(constants, OFFLINE, constants.HF_HUB_OFFLINE)
    yield
    if constants is None and (imported := sys.modules.get("huggingface_hub.constants")) is not None:
        imported.HF_HUB_OFFLINE = False


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests of demo_run to `make check-demo`, which names their run."""
    return True if collection_path.name == "demo_run" and config.getoption("--run") is None else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first, so that parallel processes end at about the same time."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)
