"""Any value anywhere gives a configuration or a list of validation errors, never a crash."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.config.errors import ConfigError
from benchc.config.load import load
from tests.config.trial import CONFIG, MODELS, SOURCES

pytestmark = pytest.mark.usefixtures("toy")

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=5) | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value below ``node``."""
    keys = node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    return [place for key in keys for place in [(*path, key), *places(node[key], (*path, key))]]


def put(node: Any, path: tuple[Any, ...], value: object) -> None:
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value


@pytest.mark.parametrize("text", [CONFIG, SOURCES, MODELS], ids=["config", "sources", "models"])
@given(data=st.data())
@settings(max_examples=60)
def test_any_value_anywhere(tmp_path_factory: pytest.TempPathFactory, text: str, data: st.DataObject) -> None:
    content = yaml.safe_load(text)
    put(content, data.draw(st.sampled_from(places(content))), data.draw(VALUES))
    root = tmp_path_factory.getbasetemp()
    (root / "sources.yaml").write_text(yaml.safe_dump(content) if text is SOURCES else SOURCES)
    (root / "models.yaml").write_text(yaml.safe_dump(content) if text is MODELS else MODELS)
    (root / "envs").mkdir(exist_ok=True)
    (root / "envs" / "transformers.yaml").touch()
    raw = content if text is CONFIG else yaml.safe_load(CONFIG)
    try:
        load(raw, root, file="config.yaml", environment={})
    except ConfigError as error:
        assert error.errors
        assert len(set(error.errors)) == len(error.errors)
        for line in error.errors:
            # A value may also name a missing catalogue.
            assert ".yaml: " in line or "name a YAML file in catalogues" in line
            assert line.endswith(".") and "\n" not in line


@pytest.mark.parametrize("raw", [{}, {"sources": 3}, {"catalogues": {"sources": 1}}])
def test_almost_nothing(tmp_path: Path, raw: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"config: benchmark is missing; it should be .*toy"):
        load(raw, tmp_path)
    with pytest.raises(ConfigError, match="name is missing"):
        load(raw | {"benchmark": "toy"}, tmp_path)
