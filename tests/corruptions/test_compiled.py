"""Compiled functions depend on one file, since numba's cache on disk checks only the file of a function."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [path for path in sorted((ROOT / "benchc").rglob("*.py")) if "njit" in path.read_text()]


def imported_from_benchc(tree: ast.Module) -> set[str]:
    """Return the names that a module takes from others of this repository, types aside."""
    return {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("benchc")
        for alias in node.names
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_compiled_function_uses_no_other_module_is_portable_and_releases_the_gil(path):
    # An edit of that module would not recompile the function, so pixels would not change.
    tree = ast.parse(path.read_text())
    imported = imported_from_benchc(tree)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    compiled = [
        (node, each) for node in functions for each in node.decorator_list if "njit" in ast.unparse(each)
    ]
    assert compiled
    for function, decorator in compiled:
        used = {node.id for part in function.body for node in ast.walk(part) if isinstance(node, ast.Name)}
        assert used & imported == set(), function.name
        # With fastmath, rounding depends on the processor.
        assert {keyword.arg for keyword in decorator.keywords} == {"cache", "nogil"}, function.name
