"""Printed outputs: a table or a figure is a function, whose signature declares its inputs and settings.

A parameter annotated with :class:`File` or :class:`Files` is read from input files, one annotated ``Path`` or
``list[Path]`` gets their paths, and any other is a setting, validated against its annotation. The function
itself takes frames and plain values, so that tests and notebooks can call it.
"""

import importlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import TypeAdapter, ValidationError

from benchc.errors import InputError
from benchc.schemas.parquet import TableType, read_table


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
    if not all(part.isidentifier() for part in module.split(".")):
        raise InputError(f"{module!r} is not a module; give its dotted path, such as my_tables.by_source")
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise InputError(f"there is no module {error.name}; name the module of a table or figure") from error
    except AttributeError as error:
        raise InputError(f"{module} has no function {name}; give the function its module's name") from error
    return function


def inputs_of(function: Callable[..., Any]) -> dict[str, bool]:
    """Return for each input of a function, by name, whether it has several files."""
    inputs: dict[str, bool] = {}
    for name, hint in _parameters(function).items():
        match _source(hint):
            case File():
                inputs[name] = False
            case Files(read):
                inputs |= inputs_of(read)
            case None if hint in (Path, list[Path]):
                inputs[name] = hint is not Path
    return inputs


def settings_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the annotations of a function's settings by name."""
    return {
        name: hint
        for name, hint in _parameters(function).items()
        if _source(hint) is None and hint not in (Path, list[Path])
    }


def call(
    function: Callable[..., Any], files: Mapping[str, Sequence[Path]], settings: Mapping[str, str]
) -> Any:
    """Call an output's function with ``files`` by input and ``settings`` in JSON.

    Settings may be omitted if they have a default. Raises InputError where inputs or settings are missing,
    unknown or of a wrong type, and what the function and its readers raise.
    """
    inputs, known = inputs_of(function), settings_of(function)
    required = {name for name in known if _default(function, name) is inspect.Parameter.empty}
    _check_names("inputs", set(files), set(inputs), set(inputs))
    _check_names("settings", set(settings), set(known), required)
    for name, several in inputs.items():
        if not several and len(files[name]) != 1:
            raise InputError(f"--input {name}: {len(files[name])} files are given; give one")
    values: dict[str, Any] = {name: _value(name, known[name], text) for name, text in settings.items()}
    for name, hint in _parameters(function).items():
        match _source(hint):
            case File(read):
                values[name] = read(files[name][0])
            case Files(read):
                values[name] = call(read, {part: files[part] for part in inputs_of(read)}, {})
            case None if hint is Path:
                values[name] = files[name][0]
            case None if hint == list[Path]:
                values[name] = list(files[name])
    return function(**values)


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
    if typing.get_origin(hint) not in (typing.Union, types.UnionType):
        return False
    return any(part in (Path, list[Path]) or _source(part) for part in typing.get_args(hint))


def _source(hint: Any) -> File | Files | None:
    if typing.get_origin(hint) is Annotated:
        return next((mark for mark in hint.__metadata__ if isinstance(mark, File | Files)), None)
    return None


def _default(function: Callable[..., Any], name: str) -> Any:
    return inspect.signature(function).parameters[name].default


def _check_names(kind: str, given: set[str], known: set[str], required: set[str]) -> None:
    for what, names in (("lacks", required - given), ("does not take", given - known)):
        if names:
            listed = ", ".join(sorted(known)) or "none"
            raise InputError(
                f"the output {what} the {kind} {', '.join(sorted(names))}; its {kind} are: {listed}"
            )


def _value(name: str, hint: Any, text: str) -> Any:
    try:
        return TypeAdapter(hint).validate_json(text, strict=True)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise InputError(f"--set {name}: {text} is not valid ({reason}); fix the value") from error
