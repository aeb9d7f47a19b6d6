"""The finished run that the tests of demo_run check."""

from pathlib import Path

import pytest

from benchc.config.load import Config, load
from benchc.config.yaml_file import read_yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def folder(request: pytest.FixtureRequest) -> Path:
    return Path(request.config.getoption("--run"))


@pytest.fixture(scope="module")
def config(folder: Path) -> Config:
    return load(read_yaml(ROOT / "config" / f"{folder.name}.yaml"), ROOT)
