"""transformers can be imported whatever was imported before, since one module sets it up."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SETUP = "benchc/hugging_face.py"


def imported_packages(path: Path) -> set[str]:
    """Return the packages that a file imports, inside functions as well."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names} | {name for name in names if name.startswith("benchc.")}


def test_first_party_code_imports_transformers_from_one_module() -> None:
    files = [*ROOT.glob("benchc/**/*.py"), *ROOT.glob("scripts/**/*.py")]
    importers = {
        str(path.relative_to(ROOT)): packages
        for path in files
        if (packages := imported_packages(path))
        & {"transformers", "open_clip", "sentence_transformers", "timm"}
    }
    assert [path for path, packages in importers.items() if "transformers" in packages] == [SETUP]
    assert len(importers) > 1
    for path in importers.keys() - {SETUP}:
        assert "benchc.hugging_face" in importers[path], path


def test_a_vision_class_can_be_imported_first() -> None:
    # In a process of its own, where no other test has set transformers up.
    code = "from benchc.demo.tiny import llava, internvl, idefics3, tokenizer"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr[-300:]
