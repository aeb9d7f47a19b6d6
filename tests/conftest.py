"""Options of the whole suite."""

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run", type=Path, help="a finished run whose promises tests/claims checks")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave tests/claims to `make check-demo`, which names the run that they are about."""
    return True if collection_path.name == "claims" and config.getoption("--run") is None else None
