"""Import a user's file of corruptions by its path."""

import hashlib
import importlib.util
import sys
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from benchc.closure import FIRST_PARTY
from benchc.corruptions.own import REGISTERED
from benchc.corruptions.user_file_digest import own_trees
from benchc.errors import InputError

ROOT = Path(__file__).resolve().parents[2]
# Of modules whose edits digests show, or that are libraries.
KNOWN = [
    *(ROOT / name for name in FIRST_PARTY),
    *(Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")),
]


def stamp(file: str) -> str:
    """Return what changes when a path leads to another file, or when the file is edited."""
    path = Path(file).resolve()
    status = path.stat() if path.is_file() else None
    return f"{path} {status.st_mtime_ns} {status.st_size}" if status else str(path)


def load_own_file(file: str) -> ModuleType:
    """Return the module of a user's file, which runs once per process.

    The file can import modules of its folder, which becomes the last entry of ``sys.path``. Raises InputError
    where the file is missing or cannot be run, where Python finds another module of an imported name, or
    where the file imports a module that its digests do not include.
    """
    return _loaded(file, stamp(file))


def forget_own_files() -> None:
    """Let each file, and the modules of its folder that it imports, run again when it is loaded next."""
    _loaded.cache_clear()


@contextmanager
def tracked_imports(file: str) -> Iterator[None]:
    """Raise InputError where the body imports a module that neither a library nor the file's digests have."""
    before = set(sys.modules)
    yield
    tracked = None
    for name in sorted(sys.modules.keys() - before):
        origin = _origin(sys.modules[name])
        if origin is None or _is_library(origin):
            continue
        tracked = tracked or {path.resolve() for path in own_trees(file)}
        if origin.resolve() not in tracked:
            raise InputError(
                f"{file}: imports {name} from {origin} so that its edits would rerun nothing; import it by a "
                "plain import statement from the file's folder, or install it as a package"
            )


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
    REGISTERED.pop(module.__name__, None)
    try:
        _forget_helpers(path)
        _check_imports(path)
        with tracked_imports(file):
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
        if path.is_relative_to(folder) and not _is_library(path):
            return f"{file.parent / path.relative_to(folder)}, line {frame.lineno}: {text}"
    return f"{file}: {text}"


def _origin(module: ModuleType) -> Path | None:
    """Return the file from which an import statement loaded a module; None for one without such a file."""
    spec = getattr(module, "__spec__", None)
    return Path(spec.origin) if isinstance(spec, ModuleSpec) and spec.has_location and spec.origin else None


def _is_library(file: Path) -> bool:
    """Return whether a module's file is of Python, of an installed package, or of this repository."""
    resolved = file.resolve()
    return bool({"site-packages", "dist-packages"} & {*file.parts, *resolved.parts}) or any(
        resolved.is_relative_to(folder) for folder in KNOWN
    )


def _forget_helpers(file: Path) -> None:
    """Let the modules of the file's folder that it imports run again with it."""
    trees = own_trees(file)
    names, helpers = {path.name for path in trees}, {path.resolve() for path in trees}
    for name, module in list(sys.modules.items()):
        origin = _origin(module)
        # The name first, since resolving links is slow.
        if origin is not None and origin.name in names and origin.resolve() in helpers:
            del sys.modules[name]
            REGISTERED.pop(name, None)


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
