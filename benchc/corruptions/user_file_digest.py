"""The digest of a user's file of corruptions, with what it imports from its folder."""

import ast
import hashlib
from pathlib import Path

from benchc.closure import FIRST_PARTY, files_run_by_import, imported_modules, source_digest

IMPORT = ast.dump(ast.parse("from benchc.corruptions.own import corruption").body[0])


def own_trees(file: str | Path) -> dict[Path, ast.Module]:
    """Return the syntax trees of a user's file and of what it imports from its folder, transitively.

    Raises OSError and SyntaxError.
    """
    folder = Path(file).parent
    trees: dict[Path, ast.Module] = {}
    pending = [Path(file)]
    while pending:
        path = pending.pop()
        if path in trees:
            continue
        trees[path] = tree = ast.parse(path.read_bytes(), filename=str(path))
        for module in imported_modules(tree, path.relative_to(folder).parts[:-1]):
            if module and module[0] not in FIRST_PARTY:
                pending += (folder / found for found in files_run_by_import(module, folder))
    return trees


def own_digests(file: str | Path) -> list[str]:
    """Return ``file digest`` of a user's file and of each file of its folder that it imports, sorted.

    A comment changes none of them, and neither do the parameters of ``@corruption``, which recipes have.
    """
    return [f"{path} {_digest(tree)}" for path, tree in sorted(own_trees(file).items())]


def user_file_digest(file: str | Path) -> str:
    """Return one hash of :func:`own_digests`."""
    return hashlib.blake2b("\n".join(own_digests(file)).encode(), digest_size=16).hexdigest()


def first_party_files(file: str | Path, root: Path) -> list[str]:
    """Return the files of this repository, relative to its ``root``, that a user's files import."""
    modules = {module for tree in own_trees(file).values() for module in imported_modules(tree, ())}
    ours = [module for module in modules if module and module[0] in FIRST_PARTY]
    return sorted({found for module in ours for found in files_run_by_import(module, root)})


def _digest(tree: ast.Module) -> str:
    whole = source_digest(tree)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = [each for each in node.decorator_list if not _registers(each)]
    rest = "".join(dumped for node in tree.body if (dumped := ast.dump(node)) != IMPORT)
    # Where the file uses the name for something else, or may do so, its decorators may be others.
    return whole if "'corruption'" in rest or "'*'" in rest else source_digest(tree)


def _registers(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "corruption"
