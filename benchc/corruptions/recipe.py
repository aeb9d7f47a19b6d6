"""A recipe: one corruption's kernel and parameters, as a job takes it.

A job is given its recipe as JSON instead of the suite's name, so that editing a suite reruns only the jobs
whose recipe changes. Imports no numpy.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from benchc.corruptions.suite import Value

# Severity 0 of every corruption, and the only severity of this one, is the image itself.
CLEAN = "clean"


@dataclass(frozen=True)
class Recipe:
    """One corruption: its name, its kernel, and the kernel's keyword arguments by severity."""

    name: str
    kernel: str | None  # dotted path, or path/file.py:function; None leaves the image unchanged
    noise: str | None  # function in its module that samples its random numbers
    parameters: Mapping[int, Mapping[str, Value]]  # by severity
    resizes: bool = False
    code: str | None = None  # of a kernel in a user's file: digest of that file and what it imports there

    @property
    def severities(self) -> tuple[int, ...]:
        """The recipe's severities; only 0 where it leaves images unchanged."""
        return tuple(self.parameters) or (0,)

    def content(self) -> dict[str, Any]:
        """Return the fields as :meth:`to_json` writes them."""
        fields = asdict(self)
        if self.code is None:
            # Recipes of suites stay as they were before users' files had one.
            del fields["code"]
        return fields

    def to_json(self) -> str:
        """Return the recipe as one line of JSON, equal for equal recipes."""
        return json.dumps(self.content(), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """Return the recipe that :meth:`to_json` wrote. Raises ValueError for any other text."""
        try:
            content = json.loads(text)
            missing = {"name", "kernel", "noise", "parameters"} - content.keys()
            if missing:
                raise ValueError(f"it lacks {', '.join(sorted(missing))}")
            if not isinstance(content["name"], str):
                raise ValueError("its name is not a string")
            if content["kernel"] is not None and "." not in content["kernel"]:
                raise ValueError(
                    "its kernel is not a dotted path of a function, such as my_package.light.dim"
                )
            content["parameters"] = {
                int(severity): {name: _value(value) for name, value in keywords.items()}
                for severity, keywords in content["parameters"].items()
            }
            return cls(**content)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"this is not a recipe ({error}): {text}") from error


def own_file(kernel: str | None) -> str | None:
    """Return the user's file that a kernel is in; None for a kernel of a module."""
    file, _, _ = (kernel or "").rpartition(":")
    return file or None


def clean_recipe() -> Recipe:
    """Return the recipe that leaves images unchanged; its only severity is 0."""
    return Recipe(CLEAN, None, None, {})


def _value(value: Any) -> Value:
    result: Value = tuple(value) if isinstance(value, list) else value
    return result
