"""A suite with the corruptions of a user's files added: their registrations, checked."""

import json
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchc.corruptions.own import REGISTERED, Registration
from benchc.corruptions.own_file import load_own_file, stamp
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.registry import recipe_of, suite_of
from benchc.corruptions.suite import CorruptionType, Parameter, Suite, Value, decided
from benchc.corruptions.user_file_digest import user_file_digest
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.user_paths import relative_path

NAME = re.compile("[a-z][a-z0-9_]*")
ALL = "all"  # in place of a name: the suite's default set
# Columns of tables beside those of corruptions and groups: averages and labels; and what stands beside each.
COLUMN = re.compile("clean|corrupted|overall|model|severity_[0-9]+")
BESIDE = re.compile("(.*)_(low|high|style)")


def suite_with(name: str, own_files: Iterable[str | Path] = ()) -> Suite:
    """Return a suite with the corruptions that the user's files register, which are outside its default set.

    Paths are relative to the working directory. Every kernel is run on a small image. Raises
    InputError for an unknown suite, and where a file cannot be used.
    """
    files = tuple(str(relative_path(path, Path.cwd())) for path in own_files)
    return _extended(name, files, tuple(map(stamp, files))) if files else suite_of(name)


@cache
def _extended(name: str, files: tuple[str, ...], stamps: tuple[str, ...]) -> Suite:
    del stamps  # only part of the cache key
    # Imported here because it imports numpy, which runs without files of their own do not need.
    from benchc.corruptions.own_trial import try_kernels

    suite = suite_of(name)
    groups = {group: list(types) for group, types in suite.groups.items()}
    owners = dict.fromkeys((CLEAN, *(type_.name for type_ in suite.types())), f"the suite {suite.name}")
    added = []
    for file in files:
        for group, type_ in _types_of(file, len(suite.severities)):
            if type_.name in owners:
                raise InputError(
                    f"{file}: {type_.name} is also a corruption of {owners[type_.name]}; rename the function"
                )
            for what, text in (("function", type_.name), ("group", group)):
                if COLUMN.fullmatch(text):
                    raise InputError(f"{file}: {text} may be another column of tables; rename the {what}")
            if type_.name == ALL:
                raise InputError(
                    f"{file}: {ALL} stands for all corruptions of the suite; rename the function"
                )
            if type_.name in (*groups, group):
                raise InputError(f"{file}: {type_.name} is also the name of a group; rename the function")
            if group in owners:
                raise InputError(f"{file}: the group {group} is also a corruption; rename the group")
            owners[type_.name] = file
            groups.setdefault(group, []).append(type_)
            added.append(type_.name)
    columns = {*owners, *groups}
    for name in sorted(columns):
        of = BESIDE.fullmatch(name)
        if of and (of[1] in columns or COLUMN.fullmatch(of[1])):
            raise InputError(
                f"{', '.join(files)}: {name} may be a column of tables that belongs to {of[1]}; rename it"
            )
    extended = replace(suite, groups={group: tuple(types) for group, types in groups.items()})
    try_kernels([recipe_of(each, extended) for each in added])
    return extended


def _types_of(file: str, severities: int) -> Iterator[tuple[str, CorruptionType]]:
    """Yield the group and type of each corruption that a file registers."""
    module = load_own_file(file)
    # It may import another file that registers some.
    registered = REGISTERED.get(module.__name__, [])
    if not registered:
        raise InputError(
            f"{file}: registers no corruption; put @corruption(...) of benchc.corruptions.own above a kernel"
        )
    for each in registered:
        name = each.kernel.__name__
        for what, text in (("corruption", name), ("group", each.group)):
            if not isinstance(text, str) or not NAME.fullmatch(text):
                raise InputError(
                    f"{file}: the {what} {text!r} should have a name in lower-case letters, digits and "
                    "underscores; rename it"
                )
        for function in filter(None, (each.kernel, each.noise)):
            _check_at_top_level(file, name, function, vars(module))
        yield each.group, _type(file, name, each, severities)


def _type(file: str, name: str, registered: Registration, severities: int) -> CorruptionType:
    kernel, noise = f"{file}:{name}", registered.noise.__name__ if registered.noise else None
    return CorruptionType(
        name,
        f"Registered by {file}.",
        kernel,
        {
            str(keyword): _parameter(f"{file}: {name}.{keyword}", values, severities)
            for keyword, values in registered.parameters.items()
        },
        noise,
        in_default=False,
        stand_in=name.endswith("_stand_in"),
        resizes=registered.resizes,
        code=user_file_digest(file),
    )


def _check_at_top_level(file: str, name: str, function: Callable[..., Any], names: dict[str, Any]) -> None:
    """Raise InputError where a worker process, which imports the file, would not find the function."""
    if not callable(function):
        raise InputError(f"{file}: the noise of {name} is {function!r}; give a function of the file")
    if names.get(getattr(function, "__name__", "")) is not function:
        raise InputError(
            f"{file}: the functions of {name} should be defined with def at the top level of the file, each "
            "with a name of its own, and @corruption should be the topmost decorator"
        )


def _parameter(where: str, values: Any, severities: int) -> Parameter:
    if hasattr(values, "tolist"):  # of numpy
        values = values.tolist()
    if isinstance(values, Sequence) and not isinstance(values, str):
        if len(values) != severities:
            raise InputError(
                f"{where} has {pluralize(len(values), 'value')} for {severities} severities; give a list "
                "of one for each, or a single value for all"
            )
    else:
        values = [values] * severities
    return decided("a user's file", *(_value(where, value) for value in values))


def _value(where: str, value: Any) -> Value:
    """Return a value as a job gets it, which is as JSON."""
    try:
        result = json.loads(json.dumps(value, allow_nan=False, default=lambda scalar: scalar.item()))
    except (AttributeError, TypeError, ValueError):
        result = None
    match result:
        case int() | float() | str():
            return result
        case list() if all(isinstance(each, int | float) for each in result):
            return tuple(result)
    raise InputError(
        f"{where} has the value {' '.join(reprlib.repr(value).split())}; give finite numbers, text, true or "
        "false, or tuples of numbers"
    )
