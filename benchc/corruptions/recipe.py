"""What a job needs to know to corrupt images: a kernel and its parameters, without the suites.

A recipe goes to a job as text, so that a change in a suite reaches only the jobs whose numbers it changes.
Data only, without numpy.
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
    """One corruption, ready to be applied: its name, its kernel, and the kernel's keywords by severity."""

    name: str
    kernel: str | None  # dotted path; None leaves the image as it is
    noise: str | None  # function of its module that draws the random numbers the kernel takes
    parameters: Mapping[int, Mapping[str, Value]]  # by severity
    resizes: bool = False

    @property
    def severities(self) -> tuple[int, ...]:
        """The severities that the recipe has parameters for; 0 alone where it leaves images as they are."""
        return tuple(self.parameters) or (0,)

    def to_json(self) -> str:
        """Return the recipe as one line of JSON, equal for equal recipes."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> "Recipe":
        """Return the recipe that :meth:`to_json` wrote. Raises ValueError where the text is none."""
        try:
            content = json.loads(text)
            missing = {"name", "kernel", "noise", "parameters"} - content.keys()
            if missing:
                raise ValueError(f"it lacks {', '.join(sorted(missing))}")
            if not isinstance(content["name"], str):
                raise ValueError("its name is no text")
            if content["kernel"] is not None and "." not in content["kernel"]:
                raise ValueError("its kernel is no dotted path of a function, such as my_package.light.dim")
            content["parameters"] = {
                int(severity): {name: _value(value) for name, value in keywords.items()}
                for severity, keywords in content["parameters"].items()
            }
            return cls(**content)
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no recipe of a corruption ({error}): {text}") from error


def clean_recipe() -> Recipe:
    """Return the recipe that leaves images as they are; its only severity is 0."""
    return Recipe(CLEAN, None, None, {})


def _value(value: Any) -> Value:
    result: Value = tuple(value) if isinstance(value, list) else value
    return result
