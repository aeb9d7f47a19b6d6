"""A category of the drawn world: one kind of question and how its pictures are drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchc.demo.canvas import Canvas


@dataclass(frozen=True)
class Scene:
    """What one item has to show: ``options[answer]`` has to be true of its pictures, the others not."""

    options: tuple[str, ...]
    answer: int
    subject: str  # what the question asks about; empty where the category has one subject

    @property
    def truth(self) -> str:
        """The text of the right option."""
        return self.options[self.answer]


@dataclass(frozen=True)
class Category:
    """One kind of question.

    ``option_sets`` are in the category's canonical order, so that a letter means the same thing as often as
    possible. A question may hold ``{subject}``. ``draw`` gets a canvas for each of ``pictures``.
    """

    name: str
    family: str  # the TSV's `l2-category`
    option_sets: tuple[tuple[str, ...], ...]
    questions: tuple[str, ...]
    draw: Callable[[Sequence[Canvas], Scene], None]
    hints: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ("",)
    pictures: int = 1
    needs_colour: bool = True  # a greyscale picture would hide the answer


def ladder(options: Sequence[str], smallest: int = 2) -> tuple[tuple[str, ...], ...]:
    """Return the first 2, 3, ... of the options, up to all of them."""
    return tuple(tuple(options[:count]) for count in range(smallest, len(options) + 1))
