"""Import a user's file of corruptions by its path."""

import hashlib
import importlib.util
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType

from benchc.corruptions.own_code import own_trees
from benchc.errors import InputError

PACKAGE = Path(__file__).resolve().parents[1]


def stamp(file: str) -> str:
    """Return what changes when a path leads to another file, or when the file is edited."""
    path = Path(file).resolve()
    status = path.stat() if path.is_file() else None
    return f"{path} {status.st_mtime_ns} {status.st_size}" if status else str(path)


def load_own_file(file: str) -> ModuleType:
    """Return the module of a user's file, which runs once per process.

    The file can import modules of its folder, which becomes the last entry of ``sys.path``. Raises InputError
    where the file is missing or cannot be run, or where Python finds another module of an imported name.
    """
    return _loaded(file, stamp(file))


def forget_own_files() -> None:
    """Let each file run again when it is loaded next."""
    _loaded.cache_clear()


@cache
def _loaded(file: str, version: str) -> ModuleType:
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        raise InputError(f"{file}: there is no such Python file; correct the path, or create it")
    folder = str(path.parent.resolve())
    if folder not in sys.path:
        # Last, so that no file of the folder hides a library's module.
        sys.path.append(folder)
    # Files of one name in several folders are different modules, and so are versions of a file.
    digest = hashlib.blake2b(version.encode(), digest_size=8).hexdigest()
    module = ModuleType(f"own_{path.stem}_{digest}")
    module.__file__ = file
    sys.modules[module.__name__] = module
    try:
        _check_imports(path)
        # Not by a loader: its compiled files miss an edit within the same second.
        exec(compile(path.read_bytes(), file, "exec"), module.__dict__)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{described(error, path)}; correct the file") from error
    return module


def described(error: BaseException, file: Path) -> str:
    """Return the file and line in a user's folder where an error was raised, and the error, in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}, line {error.lineno}: {type(error).__name__}: {error.msg}"
    folder = file.parent.resolve()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        library = "site-packages" in path.parts or path.is_relative_to(PACKAGE)
        if path.is_relative_to(folder) and not library:
            return f"{file.parent / path.relative_to(folder)}, line {frame.lineno}: {text}"
    return f"{file}: {text}"


def _check_imports(file: Path) -> None:
    """Raise InputError where an import would run another file than that of the folder.

    The other file would run although the digests are those of the file of the folder.
    """
    for path in own_trees(file).keys() - {file}:
        name = path.relative_to(file.parent).parts[0].removesuffix(".py")
        spec = importlib.util.find_spec(name)
        origin = spec.origin if spec is not None else None
        own = {(file.parent / f"{name}.py").resolve(), (file.parent / name / "__init__.py").resolve()}
        if origin is not None and Path(origin).resolve() not in own:
            raise InputError(f"{file}: imports {name}, but Python finds {origin} first; rename {path}")
