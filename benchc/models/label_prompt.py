"""Prompts that name the answers to choose from: Yes and No, or the letters of two options or more."""

from dataclasses import dataclass, replace

from benchc.letters import LETTERS
from benchc.models.question import Question

YES_NO = ("Yes", "No")


@dataclass(frozen=True)
class LabelPrompt:
    """How a question is asked whose options are called Yes and No, or by their letters.

    ``yes_no`` and ``letters``: the last sentence of a prompt; ``separator``: what precedes it.
    """

    yes_no: str
    letters: str
    separator: str = " "

    def asked(self, question: Question) -> Question:
        """Return ``question`` with its prompt and labels; an open-ended question stays as it is.

        The labels of the options Yes and No are these words, in the options' order. All others are called by
        their letters, and are listed unless they are letters themselves, which a question text explains.
        """
        if not question.options:
            return question
        hint = f"{question.hint}\n" if question.hint else ""
        if is_yes_no(question.options):
            labels, listed, end = _words(question.options), "", self.yes_no
        else:
            labels, end = tuple(LETTERS[: len(question.options)]), self.letters
            named = [f"{letter}:{text};" for letter, text in zip(labels, question.options, strict=True)]
            listed = "" if question.options == labels else f"\nOption: {' '.join(named)}"
        asked = f"{hint}{question.question}{listed}"
        return replace(question, prompt=f"{asked}{self.separator}{end}" if end else asked, labels=labels)


def is_yes_no(options: tuple[str, ...]) -> bool:
    """Return whether two options are Yes and No, in any order and case."""
    return sorted(_words(options)) == sorted(YES_NO)


def _words(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(option.strip().capitalize() for option in options)
