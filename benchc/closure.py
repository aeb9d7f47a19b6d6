"""The first-party source files that a Python file depends on: itself and its imports, transitively.

Snakemake tracks the command line of a rule but not the modules behind it. With these files as inputs of the
rule, an edit reruns exactly the rules that depend on it.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

FIRST_PARTY = ("benchc", "scripts")


def source_closure(files: Iterable[str | Path], root: str | Path) -> list[str]:
    """Return ``files`` and every first-party file that they import, as sorted paths relative to ``root``.

    Imports inside functions count. A module that is imported by a computed name is not found, so its file
    must be in ``files``. Raises FileNotFoundError for a missing file.
    """
    root = Path(root).resolve()
    pending = [str(Path(file)) for file in files]
    found: set[str] = set()
    while pending:
        file = pending.pop()
        if file not in found:
            found.add(file)
            pending.extend(_imported_files(root / file, root, (root / file).stat().st_mtime_ns))
    return sorted(found)


def closure_digest(files: Iterable[str | Path], root: str | Path) -> str:
    """Return a hash of the names and contents of the source closure of ``files``."""
    digest = hashlib.blake2b(digest_size=16)
    for file in source_closure(files, root):
        content = (Path(root) / file).read_bytes()
        digest.update(f"{file}\x1f{len(content)}\x1e".encode())
        digest.update(content)
    return digest.hexdigest()


def module_file(module: str) -> str:
    """Return the file of a first-party module, relative to the root: ``a.b`` is ``a/b.py``."""
    return module.replace(".", "/") + ".py"


@cache
def _imported_files(path: Path, root: Path, mtime: int) -> tuple[str, ...]:
    del mtime  # only part of the cache key
    package = path.relative_to(root).with_suffix("").parts[:-1]
    modules: set[tuple[str, ...]] = set()
    for node in ast.walk(ast.parse(path.read_bytes(), filename=str(path))):
        if isinstance(node, ast.Import):
            modules.update(tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            modules.add(base)
            modules.update((*base, alias.name) for alias in node.names)
    files = set(_files_run_by_import(package, root))
    for parts in modules:
        if parts and parts[0] in FIRST_PARTY:
            files.update(_files_run_by_import(parts, root))
    return tuple(sorted(files))


def _files_run_by_import(parts: tuple[str, ...], root: Path) -> list[str]:
    """Return the files that importing ``a.b.c`` runs: the packages' ``__init__`` and the module."""
    candidates = ["/".join(parts[:depth]) + "/__init__.py" for depth in range(1, len(parts) + 1)]
    candidates.append("/".join(parts) + ".py")
    return [candidate for candidate in candidates if (root / candidate).is_file()]
