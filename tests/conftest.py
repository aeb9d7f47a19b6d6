"""Options of the whole suite."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# With more threads than free cores, those of torch wait for each other: a test of seconds takes minutes.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is no failure.
settings.register_profile("benchc", deadline=None)
settings.load_profile("benchc")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run", type=Path, help="a finished run whose promises the tests of demo_run check")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the tests of demo_run to `make check-demo`, which names their run."""
    return True if collection_path.name == "demo_run" and config.getoption("--run") is None else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first, so that parallel processes end at about the same time."""
    items.sort(key=lambda item: "workflow" not in item.path.parts)
