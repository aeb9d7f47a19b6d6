"""Prompts that ask for Yes or No, or for one of two options or more by its letter or its text."""

from dataclasses import dataclass, replace

from benchc.letters import LETTERS
from benchc.models.question import Question

YES_NO = ("Yes", "No")
MULTIPLE_CHOICE = "multiple_choice"  # the category of items, also of those with the options Yes and No


@dataclass(frozen=True)
class LabelPrompt:
    """How a question is asked whose options are Yes and No, or others.

    Attributes:
        yes_no: last sentence of the prompt, where the options are Yes and No
        others: last sentence of the prompt, where they are others
        separator: what precedes the last sentence
        by_text: options other than Yes and No are called by their texts and are not listed, rather than by
            their letters
    """

    yes_no: str
    others: str
    separator: str = " "
    by_text: bool = False

    def asked(self, question: Question, category: str | None = None) -> Question:
        """Return ``question`` with its prompt and labels; an open-ended question stays as it is.

        The labels of the options Yes and No are these words, in the options' order, unless ``category`` says
        that they are among those to choose from. Of others, letters are listed in the prompt unless the
        options are letters themselves, which the question explains.
        """
        if not question.options:
            return question
        hint = f"{question.hint}\n" if question.hint else ""
        if is_yes_no(question.options) and category != MULTIPLE_CHOICE:
            labels, listed, end = _words(question.options), "", self.yes_no
        elif self.by_text:
            labels, listed, end = question.options, "", self.others
        else:
            labels, end = tuple(LETTERS[: len(question.options)]), self.others
            named = [f"{letter}:{text};" for letter, text in zip(labels, question.options, strict=True)]
            listed = "" if question.options == labels else f"\nOption: {' '.join(named)}"
        asked = f"{hint}{question.question}{listed}"
        return replace(question, prompt=f"{asked}{self.separator}{end}" if end else asked, labels=labels)


def is_yes_no(options: tuple[str, ...]) -> bool:
    """Return whether two options are Yes and No, in any order and case."""
    return sorted(_words(options)) == sorted(YES_NO)


def _words(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(option.strip().capitalize() for option in options)
