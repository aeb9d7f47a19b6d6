"""How a model is asked for an answer in its own words."""

from dataclasses import dataclass

from benchc.models.question import Question, letter_prompt, open_prompt


@dataclass(frozen=True)
class Generation:
    """The settings of generated answers.

    Args:
        max_new_tokens: the most tokens of an answer.
        instruction: of a prompt that lists no options: its last line.
        lists_options: whether the prompt of a question with options lists them and asks for a letter, as
            letter scoring does; without, it is that of an open-ended question.
        instruction_first: whether the question follows the instruction, in one line.
    """

    max_new_tokens: int
    instruction: str = ""
    lists_options: bool = True
    instruction_first: bool = False

    def prompt(self, question: Question) -> str:
        """Return the text of a question's prompt."""
        if question.options and self.lists_options:
            return letter_prompt(question)
        return open_prompt(question, self.instruction, first=self.instruction_first)
