"""A category of the demo: one kind of question, and the function that draws its images."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchc.demo.canvas import Canvas


@dataclass(frozen=True)
class Scene:
    """What the images of one item show: ``options[answer]`` is true of them, the other options are not."""

    options: tuple[str, ...]
    answer: int
    subject: str  # of the question; empty where the category has only one

    @property
    def truth(self) -> str:
        """The text of the right option."""
        return self.options[self.answer]


@dataclass(frozen=True)
class Category:
    """One kind of question.

    All of ``option_sets`` list options in the same order, so that a letter usually means the same option. A
    question may contain ``{subject}``. ``draw`` takes ``images`` canvases.
    """

    name: str
    family: str  # the TSV's `l2-category`
    option_sets: tuple[tuple[str, ...], ...]
    questions: tuple[str, ...]
    draw: Callable[[Sequence[Canvas], Scene], None]
    hints: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ("",)
    images: int = 1
    needs_colour: bool = True  # the answer cannot be seen in greyscale


def ladder(options: Sequence[str], smallest: int = 2) -> tuple[tuple[str, ...], ...]:
    """Return the first 2, 3, ... of the options, up to all of them."""
    return tuple(tuple(options[:count]) for count in range(smallest, len(options) + 1))
