"""The source files that a script depends on."""

from pathlib import Path

import pytest

from benchc.closure import closure_digest, module_file, source_closure

FILES = {
    "scripts/__init__.py": "",
    "scripts/x.py": "import json\nfrom benchc.a import thing\n\ndef late():\n    import benchc.deep.c\n",
    "benchc/__init__.py": "",
    "benchc/a.py": "from .b import other\nfrom benchc.deep import d\n",
    "benchc/b.py": "import numpy\nfrom benchc import a\n",
    "benchc/deep/__init__.py": "",
    "benchc/deep/c.py": "from ..b import other\n",
    "benchc/deep/d.py": "from . import c\n",
    "benchc/unused.py": "",
}


@pytest.fixture
def root(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_everything_that_is_imported_is_found(root):
    assert source_closure(["scripts/x.py"], root) == sorted(set(FILES) - {"benchc/unused.py"})


def test_an_edit_is_found_in_the_same_process(root):
    (root / "benchc/deep/c.py").write_text("import benchc.unused\n")
    import os

    os.utime(root / "benchc/deep/c.py", ns=(1, 1))
    assert "benchc/unused.py" in source_closure(["scripts/x.py"], root)


def test_the_digest_depends_only_on_content(root):
    before = closure_digest(["scripts/x.py"], root)
    (root / "benchc/unused.py").write_text("x = 1\n")
    (root / "benchc/b.py").touch()
    assert closure_digest(["scripts/x.py"], root) == before
    (root / "benchc/b.py").write_text(FILES["benchc/b.py"] + "y = 1\n")
    assert closure_digest(["scripts/x.py"], root) != before


def test_a_missing_file_is_an_error(root):
    with pytest.raises(FileNotFoundError):
        source_closure(["scripts/none.py"], root)


def test_module_names_become_files():
    assert module_file("benchc.models.letter") == "benchc/models/letter.py"


def test_inference_imports_no_plotting_and_no_other_family():
    root = Path(__file__).parent.parent
    files = source_closure(["scripts/infer.py", "benchc/models/families/llava_next.py"], root)
    assert not [file for file in files if "figures" in file or "metrics" in file or "demo" in file]
    assert [file for file in files if "families" in file] == [
        "benchc/models/families/__init__.py",
        "benchc/models/families/llava_next.py",
    ]
