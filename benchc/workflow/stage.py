"""The params of a rule that runs a stage: what is recorded of it, one by one, and its command line.

Snakemake records the params that depend on wildcards alone, without their names, and reruns a job whose
record differs. So each setting is one param, the text ``name=JSON``. What changes no result stands only on
the command line (:func:`unrecorded`), whose function takes the inputs and is therefore not recorded.
"""

import ast
import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, NamedTuple

from benchc.errors import InputError
from benchc.home import HOME
from benchc.workflow.code import By, Param, Wildcards, code_of, code_params

# The name of inputs that a job waits for, or reads by another path: they are no arguments.
WAITED_FOR = "waited_for"
# Snakemake looks three times at the signature of each param of each job.
OF_WILDCARDS = inspect.signature(lambda wildcards: wildcards)
RUN = "python -m scripts.stage {params.call:q} 2>&1 | tee {log}"


class Unrecorded(NamedTuple):
    """A value that is given to a stage and not recorded, or a function of a job that returns it."""

    value: Any


class CommandLine(list[str]):
    """The words of a command, without "<" where they are shown.

    Snakemake's report shows params inside a script, which a label such as "</script>" would end.
    """

    def __str__(self) -> str:
        return super().__repr__().replace("<", r"\u003c")


def unrecorded(value: Any) -> Unrecorded:
    """Mark a setting that changes no result, so that a change of it reruns nothing.

    A function may take any of ``wildcards``, ``input``, ``output``, ``threads`` and ``resources``.
    """
    return Unrecorded(value)


def stage(
    name: str,
    /,
    *,
    tracked: bool = True,
    code: Sequence[By] = (),
    contents: Param | Sequence[str] = (),
    **settings: Any,
) -> dict[str, Any]:
    """Return the params of the rule that runs ``scripts/{name}.py``, by keyword.

    Args:
        name: the stage, with its benchmark: ``pool``, ``NAME.score``
        tracked: whether an edit of the stage's code reruns it
        code: digests of modules that a job imports by name, which depend on its wildcards
        contents: contents of files of the user, which are recorded and no argument (:func:`contents_of`)
        settings: the stage's arguments that are no inputs and outputs, by name: a value, a function of the
            wildcards, :class:`By`, or :func:`unrecorded`. Of a dataclass and a mapping, each entry is
            recorded by itself; fields that have their default are left out, so that a new field reruns
            nothing.
    """
    file = f"scripts/{name.replace('.', '/')}.py"
    _check_names(name, HOME / file, settings)
    found = code_params(code_of(file), code) if tracked else {}
    if contents:
        found["contents"] = contents if callable(contents) else lambda wildcards: list(contents)
    for setting, value in settings.items():
        params = _recorded(setting, value)
        assert not found.keys() & params.keys(), f"two params of the stage {name} would share a keyword"
        found |= params
    # Entries that a job does not have are "". Without this, the first such entry of a rule would be a change.
    found["absent"] = ""
    found["call"] = _call(name, settings)
    return found


def _check_names(name: str, file: Path, settings: Iterable[str]) -> None:
    """Raise InputError for a stage that does not exist, or settings that are no parameters of it."""
    if not file.is_file():
        raise InputError(f"there is no stage {name!r}, which would be the file {file}; correct the rule")
    # The module is not imported, since that would take long.
    function = next(
        node
        for node in ast.parse(file.read_bytes()).body
        if isinstance(node, ast.FunctionDef) and node.name == file.stem
    )
    known = [argument.arg for argument in function.args.kwonlyargs]
    if unknown := sorted({*settings} - {*known}):
        raise InputError(
            f"the stage {name!r} has no parameter {unknown[0]}; correct the rule: its parameters are "
            f"{', '.join(known)}"
        )


def _recorded(name: str, value: Any) -> dict[str, Param]:
    """Return one param for each entry of a setting."""
    match value:
        case Unrecorded():
            return {}
        case By():
            texts = {key: setting_texts(name, each) for key, each in value.values.items()}
            entries = sorted({entry for found in texts.values() for entry in found})
            return _numbered(name, [_entry(By(value.key, texts), entry) for entry in entries])
        case _ if callable(value):
            return _numbered(name, [lambda wildcards: _single(name, value(wildcards))])
    # Functions, since Snakemake expands braces in strings as wildcards.
    return _numbered(name, [_constant(text) for text in setting_texts(name, value).values()])


def _single(name: str, value: Any) -> str:
    found = setting_texts(name, value)
    if found.keys() - {name}:
        raise TypeError(f"{name}: its entries would not be recorded; give the values of all jobs as By(...)")
    return found.get(name, "")


def _entry(texts: By, name: str) -> Param:
    return lambda wildcards: texts.of(wildcards).get(name, "")


def _constant(text: str) -> Param:
    return lambda wildcards: text


def _numbered(name: str, params: Sequence[Param]) -> dict[str, Param]:
    """Return the params of a setting by keywords, which two keys such as a-b and a.b must not share."""
    for param in params:
        vars(param)["__signature__"] = OF_WILDCARDS
    # Snakemake keeps params in a list, whose methods have names, too: there is none with a number.
    return {f"{name}_{number}": param for number, param in enumerate(params)}


def setting_texts(name: str, value: Any) -> dict[str, str]:
    """Return the record of a setting: ``name=JSON`` by name, one for each entry of a dataclass or mapping."""
    if isinstance(value, Mapping):
        found = {f"{name}.{key}": as_json(each, sort_keys=True) for key, each in value.items()}
        if [*value] != sorted(value):
            found[name] = as_json([*value])
    elif is_dataclass(value):
        return {
            entry: text
            for field, each in _given(value)
            for entry, text in setting_texts(f"{name}.{field.name}", each).items()
        }
    else:
        found = {} if value is None else {name: as_json(value, sort_keys=True)}
    return {entry: f"{entry}={text}" for entry, text in found.items()}


def as_json(value: Any, *, sort_keys: bool = False) -> str:
    """Return a setting as one line of JSON, without "<", for the reason of :class:`CommandLine`."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=sort_keys, default=_plain)
    return text.replace("<", r"\u003c")


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: each for field, each in _given(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)


def _given(value: Any) -> Iterator[tuple[Field[Any], Any]]:
    """Yield the fields of a dataclass that have not their default."""
    for field in fields(value):
        each = getattr(value, field.name)
        default = field.default if field.default_factory is MISSING else field.default_factory()
        if default is MISSING or each != default:
            yield field, each


def options(name: str, value: Any) -> Iterator[str]:
    """Yield a setting as options of the command line, ``--name=value``; none for None."""
    match value:
        case None:
            return
        case _ if is_dataclass(value):
            for field, each in _given(value):
                yield from options(f"{name}.{field.name}", each)
        case str() | Path():
            yield f"--{name.replace('_', '-')}={value}"
        case _:
            yield f"--{name.replace('_', '-')}={as_json(value)}"


def _call(name: str, settings: Mapping[str, Any]) -> Callable[..., CommandLine]:
    def call(wildcards: Wildcards, input: Any, output: Any, threads: int, resources: Any) -> CommandLine:
        job = {
            "wildcards": wildcards,
            "input": input,
            "output": output,
            "threads": threads,
            "resources": resources,
        }
        given = {setting: _value(value, job) for setting, value in settings.items()}
        # A single output without a name is called output.
        written = files(output) or ({"output": str(output[0])} if len(output) == 1 else {})
        arguments = files(input) | written | given
        return CommandLine(
            [name, *(option for key, value in arguments.items() for option in options(key, value))]
        )

    return call


def files(given: Any, *, empty: bool = False) -> dict[str, Any]:
    """Return the named inputs or outputs of a job as arguments: a path, or a list of paths.

    ``empty``: whether there is an argument of an input without files.
    """
    return {
        name: str(value) if isinstance(value, str) else [str(each) for each in value]
        for name, value in given.items()
        if name != WAITED_FOR and (isinstance(value, str) or value or empty)
    }


def _value(value: Any, job: Mapping[str, Any]) -> Any:
    match value:
        case Unrecorded(inner):
            if not callable(inner):
                return inner
            return inner(**{name: job[name] for name in inspect.signature(inner).parameters})
        case By():
            return value.of(job["wildcards"])
        case _ if callable(value):
            return value(job["wildcards"])
    return value
