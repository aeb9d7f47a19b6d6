"""Prompts that a benchmark fixes, with the question and its options in their places."""

import re
from dataclasses import dataclass, replace

from benchc.letters import LETTERS
from benchc.models.question import Question

PLACES = ("question", "options", "option_lines")


@dataclass(frozen=True)
class QuestionTemplate:
    """How a question is asked for an answer in the model's own words.

    Attributes:
        text: the prompt, with {question}, after its hint and a line break if it has one, {options} as
            ``A.red; B.blue``, or {option_lines} as ``A. red`` and ``B. blue`` on lines of their own; other
            braces stand for themselves
    """

    text: str

    def asked(self, question: Question, category: str | None = None) -> Question:
        """Return ``question`` with its prompt, and without options, as no letter of theirs is scored.

        A model without a chat template reads the bare question. ``category`` changes nothing.
        """
        named = [*zip(LETTERS, question.options, strict=False)]
        texts = {
            "question": f"{question.hint}\n{question.question}" if question.hint else question.question,
            "options": "; ".join(f"{letter}.{text}" for letter, text in named),
            "option_lines": "\n".join(f"{letter}. {text}" for letter, text in named),
        }
        # In one pass, so that braces in a question stay as they are.
        prompt = re.sub(rf"{{({'|'.join(PLACES)})}}", lambda place: texts[place[1]], self.text)
        return replace(question, options=(), prompt=prompt, labels=())
