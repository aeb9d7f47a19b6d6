"""Compiled functions that numba caches on disk.

Numba compiles such a function anew when its own file changes. It does not see an edit of another file, so the
old machine code would run under a new digest of the code.
"""

import ast
from pathlib import Path

import pytest

from benchc.closure import FIRST_PARTY

MODULES = [path for path in sorted(Path("benchc").rglob("*.py")) if "njit" in path.read_text()]


def foreign_names(source: str) -> set[str]:
    """Return the first-party names of other files that the compiled functions of a module use."""
    tree = ast.parse(source)
    imported = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import)
        and (getattr(node, "level", 0) or _module(node).split(".")[0] in FIRST_PARTY)
        for alias in node.names
    }
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            used = {name.id for name in ast.walk(statement.value) if isinstance(name, ast.Name)}
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            if used & imported:
                imported |= {
                    name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
                }
    return {
        name.id
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        and any("njit" in ast.dump(d) for d in function.decorator_list)
        for statement in function.body
        for name in ast.walk(statement)
        if isinstance(name, ast.Name) and name.id in imported
    }


def _module(node: ast.ImportFrom | ast.Import) -> str:
    return (node.module or "") if isinstance(node, ast.ImportFrom) else node.names[0].name


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_a_compiled_function_uses_nothing_of_another_file(path):
    assert foreign_names(path.read_text()) == set()


def test_a_foreign_name_is_found():
    source = (
        "from numba import njit\nfrom benchc.a import f, g\n\n@njit(cache=True)\ndef k(x):\n    return f(x)\n"
    )
    assert foreign_names(source) == {"f"}
    constant = source.replace("import f, g\n", "import G\nF = G / 2\n").replace("f(x)", "x * F")
    assert foreign_names(constant) == {"F"}
    assert len(MODULES) > 10
