"""The trial configuration as content and as a folder of files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchc import benchmarks
from tests.config.trial import CONFIG, MODELS, SOURCES


@pytest.fixture(scope="module")
def toy() -> Iterator[None]:
    """Add the made-up benchmark to those of the checkout."""
    benchmarks.__path__.append(str(Path(__file__).parent / "benchmarks"))
    yield
    benchmarks.__path__.pop()


@pytest.fixture
def raw() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(CONFIG)
    return content


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sources.yaml").write_text(SOURCES)
    (tmp_path / "models.yaml").write_text(MODELS)
    (tmp_path / "Snakefile").touch()
    (tmp_path / "envs").mkdir()
    (tmp_path / "envs" / "transformers.yaml").touch()
    return tmp_path
