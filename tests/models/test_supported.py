"""Families are those of the installed transformers; without it, none is refused."""

import importlib.util
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from benchc.models import supported
from benchc.models.supported import UnsupportedFamilyError, check_family, is_supported


@pytest.fixture
def installed(tmp_path, monkeypatch) -> Iterator[Path]:
    """A transformers of two folders of models, and one that is none."""
    origin = tmp_path / "__init__.py"
    for name in ("llava", "qwen2_vl", "__pycache__", "_own", "auto"):
        (tmp_path / "models" / name).mkdir(parents=True)
    (tmp_path / "models/file.py").write_text("")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: ModuleSpec("t", None, origin=str(origin)))
    supported._of_transformers.cache_clear()
    yield tmp_path
    supported._of_transformers.cache_clear()


@pytest.mark.parametrize(
    ("family", "known"),
    [
        *(("llava", True), ("qwen2_vl", True), (None, True), ("eagle", True)),
        *(("llavaa", False), ("eagel", False), ("__pycache__", False), ("_own", False), ("file.py", False)),
        ("florence", False),
    ],
)
def test_a_family_is_a_folder_of_transformers_or_a_file_of_its_own(installed, family, known):
    assert is_supported(family) is known
    if known:
        check_family(family)
        return
    near = {
        "llavaa": "did you mean 'llava'[?]",
        "eagel": "did you mean 'eagle'[?]",
        "florence": "leave it out, or add the family",
    }
    with pytest.raises(UnsupportedFamilyError, match=f"^the family '{family}' is .*{near.get(family, '')}"):
        check_family(family)


def test_a_name_of_its_table_is_known_too(installed):
    # A checkpoint's model type may have another name than its folder, as `clip_text_model` has.
    (installed / "models/auto/auto_mappings.py").write_text("CONFIG_MAPPING_NAMES = {'florence': 'F'}")
    assert is_supported("florence") and is_supported("llava") and not is_supported("F")


@pytest.mark.parametrize("spec", [None, ModuleSpec("transformers", None)], ids=["absent", "a bare folder"])
def test_without_transformers_no_family_is_refused(installed, spec, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: spec)
    assert is_supported("florence")
    check_family("florence")
