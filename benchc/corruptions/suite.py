"""The classes that describe a suite of corruptions: groups of types, with parameters by severity.

Imports no numpy, so that checking a configuration is fast.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

Value = float | int | str | bool | tuple[float, ...]


class Origin(Enum):
    """Where the value of a parameter comes from."""

    PUBLISHED = "published"  # in the suite's paper or its authors' code
    LIBRARY = "library default"  # of the library that the suite's authors call
    DECIDED = "decided here"  # the authors do not specify it


@dataclass(frozen=True)
class Parameter:
    """One keyword of a kernel: its value at every severity of the suite, mildest first."""

    values: tuple[Value, ...]
    origin: Origin
    source: str  # where it is published, or why it was chosen
    pixels: bool = False  # in pixels of an image whose short side is recipe.REFERENCE_SIDE


@dataclass(frozen=True)
class CorruptionType:
    """One corruption of a suite.

    ``kernel`` is the dotted path of a function ``(image, **parameters) -> image``, or
    ``path/file.py:function`` for a user's file, of which ``code`` is the digest; None where the suite's
    authors photographed the images, which a run imports. A kernel that needs random
    numbers takes them as its second argument; ``noise`` names the function of the same module that samples
    them, ``(generator, height, width, **parameters) -> field``.
    """

    name: str
    summary: str  # what it does to an image, for the documentation
    kernel: str | None
    parameters: Mapping[str, Parameter]
    noise: str | None = None
    in_default: bool = True  # False: applied only in runs that name it
    alternative_to: str | None = None  # the type of which this is an alternative definition
    stand_in: bool = False  # a synthetic substitute for what the suite's authors photographed
    ordered: bool = True  # False where strength does not grow with severity by definition
    resizes: bool = False  # the result has another size by definition
    one_draw: bool = False  # an image has the same random numbers, such as a direction, at all severities
    code: str | None = None

    @property
    def module(self) -> str:
        """Dotted path of the kernel's module."""
        return (self.kernel or "").rpartition(".")[0]

    def at(self, severity: int) -> dict[str, Value]:
        """Return the kernel's keyword arguments at one severity, 1 being the mildest."""
        return {name: parameter.values[severity - 1] for name, parameter in self.parameters.items()}


@dataclass(frozen=True, eq=False)  # hashed by identity, as a key of caches
class Suite:
    """A published set of corruptions: groups of types, in the order of tables and figures."""

    name: str
    title: str
    source: str  # the paper
    severities: tuple[int, ...]
    groups: Mapping[str, tuple[CorruptionType, ...]]
    # Further partitions of some suites: level -> groups, step -> types.
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: int = 1  # grows where the pixels of a type change

    def __post_init__(self) -> None:
        names = [type_.name for type_ in self.types()]
        # Names become names of files and batches.
        for name in (*names, *self.groups, *self.levels, *self.steps):
            if not re.fullmatch("[a-z][a-z0-9_]*", name):
                raise ValueError(f"suite {self.name}: {name!r} is not in lower case, digits and underscores")
        if len(set(names)) != len(names):
            raise ValueError(f"suite {self.name}: a type is listed twice among {', '.join(names)}")
        for type_ in self.types():
            # Every table, figure and file then shows it.
            if type_.stand_in != type_.name.endswith("_stand_in"):
                raise ValueError(
                    f"suite {self.name}: the name of {type_.name} must end in _stand_in if and only if it is "
                    "a stand-in"
                )
            for keyword, parameter in type_.parameters.items():
                if len(parameter.values) != len(self.severities):
                    raise ValueError(
                        f"suite {self.name}: {type_.name}.{keyword} has {len(parameter.values)} values for "
                        f"{len(self.severities)} severities"
                    )

    def types(self) -> tuple[CorruptionType, ...]:
        """Return all types, group by group."""
        return tuple(type_ for types in self.groups.values() for type_ in types)


def published(source: str, *values: Value) -> Parameter:
    """Return a parameter whose values the suite's authors published."""
    return Parameter(values, Origin.PUBLISHED, source)


def library(source: str, *values: Value) -> Parameter:
    """Return a parameter that the authors leave at their library's default."""
    return Parameter(values, Origin.LIBRARY, source)


def decided(reason: str, *values: Value) -> Parameter:
    """Return a parameter that the authors do not specify, with the reason for its value."""
    return Parameter(values, Origin.DECIDED, reason)
