"""The trial configuration as content and as a folder of files."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.config.trial import CONFIG, MODELS, SOURCES


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text(SOURCES)
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "transformers.yaml").touch()
    return tmp_path
