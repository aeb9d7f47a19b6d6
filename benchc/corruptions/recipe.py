"""A recipe: one corruption's kernel and parameters, as a job takes it.

A job is given its recipe instead of the suite's name, so that editing a suite reruns only the jobs
whose recipe changes. Imports no numpy.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from benchc.command_line import Json
from benchc.corruptions.suite import Value
from benchc.errors import InputError

# Severity 0 of every corruption, and the only severity of this one, is the image itself.
CLEAN = "clean"

# The short side of an image on which sizes in pixels are as they are written: KADID-10k's images have it.
REFERENCE_SIDE = 384


@dataclass(frozen=True)
class Recipe:
    """One corruption: its name, its kernel, and the kernel's keyword arguments by severity.

    Raises InputError where it lacks a kernel or parameters, unless it is that of clean or imported images.

    Attributes:
        name: of the corruption
        kernel: dotted path of a function, or path/file.py:function; default: it leaves the image unchanged
        noise: function in the kernel's module that samples its random numbers
        parameters: the kernel's keyword arguments by severity
        resizes: whether the result may have another size
        pixels: keywords that grow with the image: in pixels where its short side is REFERENCE_SIDE
        code: of a kernel in a user's file: digest of that file and of what it imports there
        one_draw: whether an image has the same random numbers at all severities
        imported: whether the images come from elsewhere; parameters then has the severities alone
    """

    name: str
    kernel: str | None = None
    noise: str | None = None
    parameters: Annotated[Mapping[int, Mapping[str, Value]], Json] = field(default_factory=dict)
    resizes: bool = False
    code: str | None = None
    pixels: tuple[str, ...] = ()
    one_draw: bool = False
    imported: bool = False

    def __post_init__(self) -> None:
        needed = ("parameters",) if self.imported else ("kernel", "parameters")
        lacking = [name for name in needed if not getattr(self, name)]
        if lacking and self.name != CLEAN:
            raise InputError(
                f"the recipe of {self.name} lacks {' and '.join(lacking)}; only {CLEAN} leaves images "
                "unchanged"
            )
        if self.kernel is not None and "." not in self.kernel:
            raise InputError(
                f"the recipe of {self.name}: its kernel {self.kernel!r} is not a dotted path of a function, "
                "such as my_package.light.dim"
            )

    @property
    def severities(self) -> tuple[int, ...]:
        """The recipe's severities; only 0 where it leaves images unchanged."""
        return tuple(self.parameters) or (0,)

    def keywords(self, severity: int, height: int, width: int) -> Mapping[str, Value]:
        """Return the kernel's keyword arguments for an image of this size."""
        given = self.parameters[severity]
        scale = min(height, width) / REFERENCE_SIDE
        return {name: value * scale if name in self.pixels else value for name, value in given.items()}  # type: ignore[operator]

    def content(self) -> dict[str, Any]:
        """Return the fields as :meth:`to_json` and footers have them."""
        fields = asdict(self)
        if self.code is None:
            # Recipes of suites stay as they were before users' files had one.
            del fields["code"]
        for name in ("pixels", "one_draw", "imported"):
            if not fields[name]:
                del fields[name]
        return fields

    def to_json(self) -> str:
        """Return the recipe as one line of JSON, equal for equal recipes."""
        return json.dumps(self.content(), sort_keys=True)


def own_file(kernel: str | None) -> str | None:
    """Return the user's file that a kernel is in; None for a kernel of a module."""
    file, _, _ = (kernel or "").rpartition(":")
    return file or None


def imported_recipe(name: str, severities: Iterable[int]) -> Recipe:
    """Return the recipe of a corruption whose images were made by another program, or photographed."""
    return Recipe(name, parameters={severity: {} for severity in severities}, imported=True)


def clean_recipe() -> Recipe:
    """Return the recipe that leaves images unchanged; its only severity is 0."""
    return Recipe(CLEAN)
