"""The code of a corruption in a user's file: what its kernel may run, and digests of that."""

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from benchc.closure import FIRST_PARTY, files_run_by_import, imported_modules, source_digest

# By these, code can find a function of its file that it does not name: globals(), sys.modules[__name__], ...
_LOOKUPS = {"eval", "exec", "globals", "locals", "vars", "modules", "getmembers", "import_module"}
_LOOKUPS |= {"__dict__", "__globals__", "__import__"}


def own_trees(file: Path, functions: Collection[str] | None = None) -> dict[Path, ast.Module]:
    """Return the syntax trees of a user's file and of what it imports from its folder, transitively.

    Of the file, functions that ``functions`` cannot run are left out, and so are registrations. None keeps
    everything, as does a file where names do not tell what a kernel runs. Raises OSError and SyntaxError.
    """
    trees: dict[Path, ast.Module] = {}
    pending = [file]
    while pending:
        path = pending.pop()
        if path in trees:
            if path == file and functions is not None:
                # Imported by its name: any of its functions may run.
                return own_trees(file)
            continue
        tree = ast.parse(path.read_bytes(), filename=str(path))
        if path == file and functions is not None and _is_plain(tree):
            tree = _reached(tree, functions)
        trees[path] = tree
        for module in imported_modules(tree, path.relative_to(file.parent).parts[:-1]):
            if module and module[0] not in FIRST_PARTY:
                pending += (file.parent / found for found in files_run_by_import(module, file.parent))
    return trees


def own_digests(kernel: str, noise: str | None) -> list[str]:
    """Return ``file digest`` of a user's file and of each file of its folder that a kernel needs, sorted.

    ``kernel`` is ``path/file.py:function``, and ``noise`` the function that samples its noise. An edit of
    another corruption of the file, of parameters, or of a comment changes none of them.
    """
    return [f"{path} {source_digest(tree)}" for path, tree in sorted(_trees(kernel, noise).items())]


def own_code(kernel: str, noise: str | None) -> str:
    """Return one hash of :func:`own_digests`."""
    return hashlib.blake2b("\n".join(own_digests(kernel, noise)).encode(), digest_size=16).hexdigest()


def first_party_files(kernel: str, noise: str | None, root: Path) -> list[str]:
    """Return the files of this repository, relative to its ``root``, that the kernel's files import."""
    modules = {module for tree in _trees(kernel, noise).values() for module in _first_party(tree)}
    return sorted({found for module in modules for found in files_run_by_import(module, root)})


def _trees(kernel: str, noise: str | None) -> dict[Path, ast.Module]:
    file, _, function = kernel.rpartition(":")
    return own_trees(Path(file), {function, noise or function})


def _first_party(tree: ast.Module) -> Iterator[tuple[str, ...]]:
    return (module for module in imported_modules(tree, ()) if module and module[0] in FIRST_PARTY)


def _reached(tree: ast.Module, functions: Collection[str]) -> ast.Module:
    """Return the tree without the top-level functions that nothing in the rest names."""
    optional: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [each for each in node.decorator_list if not _registers(each)]
            # Another decorator may keep the function somewhere.
            if node.name not in functions and not node.decorator_list:
                optional[node.name] = node
    kept = [node for node in tree.body if node not in optional.values()]
    while named := _names(kept) & optional.keys():
        kept += [optional.pop(name) for name in named]
    tree.body = [node for node in tree.body if node in kept]
    return tree


def _is_plain(tree: ast.Module) -> bool:
    """Return whether names tell which functions a kernel runs, and which decorators only register it."""
    return not _LOOKUPS & _names([tree]) and not {"corruption", "own", "*"} & set(_bound_elsewhere(tree))


def _bound_elsewhere(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a file defines or imports, except those of ``benchc.corruptions``."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.ImportFrom(module="benchc.corruptions" | "benchc.corruptions.own", level=0):
                pass
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    if alias.name != "benchc.corruptions.own":
                        yield alias.asname or alias.name


def _registers(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(
            func=ast.Name(id="corruption")
            | ast.Attribute(value=ast.Name(id="own") | ast.Attribute(attr="own"), attr="corruption")
        ):
            return True
    return False


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    """Return all names, attributes and texts in the nodes: any of them may refer to a function."""
    found = set()
    for node in (each for root in nodes for each in ast.walk(root)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                found.add(name)
    return found
