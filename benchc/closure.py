"""The first-party source files that a Python file depends on, and digests of their code.

Snakemake tracks the command line of a rule but not the modules behind it. With these digests as params of the
rule, an edit of what the code does reruns exactly the rules that depend on it; a comment reruns nothing.
"""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

FIRST_PARTY = ("benchc", "scripts")
# Fields that say nothing about what the code does, or that differ between versions of Python.
IGNORED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


WHOLE, BLOCKS, BLOCK = 10**6, 16, 2**16  # bytes that are hashed whole; else blocks and their bytes


class Source(NamedTuple):
    """A source file: the first-party files that it imports, and the digest of its code."""

    imports: tuple[str, ...]
    digest: str


def source_closure(files: Iterable[str | Path], root: str | Path) -> list[str]:
    """Return ``files`` and every first-party file that they import, as sorted paths relative to ``root``.

    Imports inside functions count. A module that is imported by a computed name is not found, so its file
    must be in ``files``. Raises FileNotFoundError for a missing file.
    """
    return [file for file, _ in _closure(files, root)]


def code_digests(files: Iterable[str | Path], root: str | Path) -> list[str]:
    """Return ``file digest`` for every file of the source closure of ``files``, sorted by file.

    A digest is that of the syntax tree (:func:`source_digest`). Raises FileNotFoundError for a missing file.
    """
    return [f"{file} {source.digest}" for file, source in _closure(files, root)]


def closure_digest(files: Iterable[str | Path], root: str | Path) -> str:
    """Return one hash of the :func:`code_digests` of ``files``."""
    return _hash("\n".join(code_digests(files, root)))


def source_digest(source: str | bytes | ast.Module) -> str:
    """Return a hash of the syntax tree of Python code, 32 hex digits, the same for Python 3.11 to 3.13.

    Comments, formatting and bare strings, docstrings among them, do not change it: no result may depend on
    ``__doc__``. Raises SyntaxError.
    """
    return _tree_digest(source if isinstance(source, ast.Module) else ast.parse(source))


def content_sample(path: str | Path) -> str:
    """Return size and hash of a file's content; of one of more than 1 MB, of 16 blocks spread over it."""
    size = Path(path).stat().st_size
    digest = hashlib.blake2b(digest_size=16)
    with Path(path).open("rb") as file:
        if size <= WHOLE:
            digest.update(file.read())
        else:
            for number in range(BLOCKS):
                file.seek((size - BLOCK) * number // (BLOCKS - 1))
                digest.update(file.read(BLOCK))
    return f"{size} {digest.hexdigest()}"


def module_file(module: str) -> str:
    """Return the file of a first-party module, relative to the root: ``a.b`` is ``a/b.py``."""
    return module.replace(".", "/") + ".py"


def imported_modules(tree: ast.Module, package: tuple[str, ...]) -> set[tuple[str, ...]]:
    """Return what a module of ``package`` imports, inside functions too: ``a.b`` is ``("a", "b")``.

    ``from a import b`` is both a and a.b, since b may be a module.
    """
    modules: set[tuple[str, ...]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            base += tuple(node.module.split(".")) if node.module else ()
            modules.add(base)
            modules.update((*base, alias.name) for alias in node.names)
    return modules


def files_run_by_import(parts: tuple[str, ...], root: Path) -> list[str]:
    """Return the files below ``root`` that importing ``a.b.c`` runs: ``__init__`` of packages, the module."""
    candidates = ["/".join(parts[:depth]) + "/__init__.py" for depth in range(1, len(parts) + 1)]
    candidates.append("/".join(parts) + ".py")
    return [candidate for candidate in candidates if (root / candidate).is_file()]


def _closure(files: Iterable[str | Path], root: str | Path) -> list[tuple[str, Source]]:
    root = Path(root).resolve()
    pending = [str(Path(file)) for file in files]
    found: dict[str, Source] = {}
    while pending:
        file = pending.pop()
        if file not in found:
            status = (root / file).stat()
            found[file] = _read(root / file, root, status.st_mtime_ns, status.st_size)
            pending.extend(found[file].imports)
    return sorted(found.items())


@cache
def _read(path: Path, root: Path, mtime: int, size: int) -> Source:
    del mtime, size  # only part of the cache key
    tree = ast.parse(path.read_bytes(), filename=str(path))
    package = path.relative_to(root).with_suffix("").parts[:-1]
    files = set(files_run_by_import(package, root))
    for parts in imported_modules(tree, package):
        if parts and parts[0] in FIRST_PARTY:
            files.update(files_run_by_import(parts, root))
    return Source(tuple(sorted(files)), _tree_digest(tree))


def _tree_digest(tree: ast.AST) -> str:
    # Not ast.dump: its text differs between versions of Python.
    parts: list[str] = []
    _serialize(tree, parts)
    return _hash("\x1f".join(parts))


def _serialize(node: ast.AST, parts: list[str]) -> None:
    """Append the node's class, its fields in order without empty ones, and its children's."""
    parts += "(", type(node).__name__
    if isinstance(node, ast.Constant):
        parts += type(node.value).__name__, ascii(node.value)
    else:
        for name, value in ast.iter_fields(node):
            if name in IGNORED or value is None or value == []:
                continue
            parts.append(name)
            children = value if isinstance(value, list) else [value]
            parts.append(f"[{type(value).__name__}")
            for child in children:
                if not isinstance(child, ast.AST):
                    parts.append(ascii(child))
                elif not _is_bare_string(child):
                    _serialize(child, parts)
            parts.append("]")
    parts.append(")")


def _is_bare_string(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
