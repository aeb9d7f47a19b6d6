"""Tables, figures and pages: each is a function, whose signature declares its inputs and settings.

A parameter annotated with :class:`File` or :class:`Files` is read from input files, one annotated ``Path`` or
``list[Path]`` gets their paths, and any other is a setting. The function itself takes frames and plain
values, so that tests and notebooks can call it; :func:`stage_of` makes a stage of it, which takes files.
"""

import importlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any

import polars as pl

from benchc.command_line import Json
from benchc.errors import InputError
from benchc.schemas.parquet import TableType, read_table

# What the function of an output returns, and its kind.
KINDS = {"Table": "table", "Figure": "figure", "str": "page", "Samples": "samples"}
UNIONS = (typing.Union, types.UnionType)


@dataclass(frozen=True)
class Table:
    """A printed table: a frame with all digits, and its Markdown and LaTeX, which end in a newline.

    ``published``: values compared with those of a paper; ``summary``: the last line of the job's log.
    """

    frame: pl.DataFrame
    markdown: str = ""
    latex: str = ""
    published: pl.DataFrame | None = None
    summary: str = ""


@dataclass(frozen=True)
class File:
    """Annotates a parameter that ``read`` returns for one input file, named like the parameter."""

    read: Callable[[Path], Any]


@dataclass(frozen=True)
class Files:
    """Annotates a parameter that ``read`` returns for several inputs, named like the parameters of ``read``.

    These are annotated ``Path``, or ``list[Path]`` where an input has several files.
    """

    read: Callable[..., Any]


def parquet(table: TableType, *columns: str) -> File:
    """Return the annotation of a frame that is read from a file of type ``table``: all columns, or some."""
    return File(lambda path: read_table(path, table, columns or None))


def function_of(module: str) -> Callable[..., Any]:
    """Return the function of an output: the one named like ``module``. Raises InputError if there is none."""
    name = module.rpartition(".")[2]
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise InputError(f"there is no module {error.name}; name the module of a table or figure") from error
    except AttributeError as error:
        raise InputError(f"{module} has no function {name}; give the function its module's name") from error
    return function


def inputs_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return for each input of a function, by name, ``Path`` or ``list[Path]``."""
    inputs: dict[str, Any] = {}
    for name, hint in _parameters(function).items():
        match _source(hint):
            case File():
                inputs[name] = Path
            case Files(read):
                inputs |= inputs_of(read)
            case None if hint in (Path, list[Path]):
                inputs[name] = hint
    return inputs


def settings_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function's settings by name."""
    return {
        name: hint
        for name, hint in _parameters(function).items()
        if _source(hint) is None and hint not in (Path, list[Path])
    }


def call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call an output's function with its settings and with what its inputs' files contain.

    ``arguments``: paths of inputs, and settings. Raises what the function and its readers raise.
    """
    values = {name: arguments[name] for name in settings_of(function) if name in arguments}
    for name, hint in _parameters(function).items():
        match _source(hint):
            case File(read):
                values[name] = read(arguments[name])
            case Files(read):
                values[name] = call(read, arguments)
            case None if hint in (Path, list[Path]):
                values[name] = arguments[name]
    return function(**values)


def stage_of(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the stage that reads an output's files, calls its function and writes what it returns.

    Its parameters are the function's settings and input files, and those of ``write`` of
    ``benchc/rendering/write_{kind}.py``. Raises InputError where the function's annotations name no kind.
    """
    returned = typing.get_type_hints(function).get("return")
    kind = KINDS.get(getattr(returned, "__name__", ""))
    if kind is None:
        raise InputError(
            f"{function.__name__}: it is annotated to return {returned}; annotate Table, Figure, "
            "Samples, or str for a page"
        )
    write = importlib.import_module(f"benchc.rendering.write_{kind}").write
    settings = {name: _option(hint) for name, hint in settings_of(function).items()}
    written = [
        parameter for name, parameter in inspect.signature(write).parameters.items() if name != "result"
    ]

    def stage(**arguments: Any) -> None:
        given = {
            parameter.name: arguments.pop(parameter.name)
            for parameter in written
            if parameter.name in arguments
        }
        write(call(function, arguments), **given)

    parameters = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=_default(function, name)
        )
        for name, hint in [*inputs_of(function).items(), *settings.items()]
    ]
    stage.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*parameters, *(each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in written)]
    )
    stage.__doc__ = f"{inspect.getdoc(function)}\n\n{inspect.getdoc(write)}"
    return stage


def _option(hint: Any) -> Any:
    """Return the annotation of a setting on a command line: text as it is, anything else as JSON."""
    parts = set(typing.get_args(hint)) - {NoneType} if typing.get_origin(hint) in UNIONS else {hint}
    if parts == {str} or all(typing.get_origin(part) is typing.Literal for part in parts):
        return hint
    return Annotated[hint, Json]


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    for name, parameter in parameters.items():
        many = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if name not in hints or many or _optional_input(hints[name]):
            raise InputError(
                f"{function.__name__}: its parameter {name} must be annotated as an input, which cannot be "
                "optional, or as a setting; fix the function"
            )
    return {name: hints[name] for name in parameters}


def _optional_input(hint: Any) -> bool:
    if typing.get_origin(hint) not in UNIONS:
        return False
    return any(part in (Path, list[Path]) or _source(part) for part in typing.get_args(hint))


def _source(hint: Any) -> File | Files | None:
    if typing.get_origin(hint) is Annotated:
        return next((mark for mark in hint.__metadata__ if isinstance(mark, File | Files)), None)
    return None


def _default(function: Callable[..., Any], name: str) -> Any:
    found = inspect.signature(function).parameters.get(name)
    return inspect.Parameter.empty if found is None else found.default
