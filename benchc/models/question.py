"""What a model is asked: the text of one item, and its two renderings as a prompt."""

from dataclasses import dataclass

from benchc.letters import LETTERS


@dataclass(frozen=True)
class Question:
    """The text of an item. Option k has the letter ``LETTERS[k]``; an open question has no options."""

    question: str
    options: tuple[str, ...]
    hint: str | None = None

    def __post_init__(self) -> None:
        if len(self.options) == 1 or len(self.options) > len(LETTERS):
            raise ValueError(
                f"a question has 2 to {len(LETTERS)} options, or none, this one has {len(self.options)}: "
                f"{self.question[:80]!r}"
            )


def letter_prompt(question: Question) -> str:
    """Return VLMEvalKit's default multiple-choice prompt, which asks for a letter."""
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    options = "".join(f"{letter}. {text}\n" for letter, text in zip(LETTERS, question.options, strict=False))
    return (
        f"{hint}Question: {question.question}\nOptions:\n{options}"
        "Please select the correct answer from the options above. \n"
    )


def text_prompt(question: Question) -> str:
    """Return the prompt whose continuation is an option's text; it does not list the options."""
    hint = f"Hint: {question.hint}\n" if question.hint else ""
    return f"{hint}Question: {question.question}"


def answer_separator(rendered_prompt: str) -> str:
    """Return what stands between a rendered chat prompt and the answer: a space, unless one is there."""
    return "" if rendered_prompt[-1:].isspace() else " "
