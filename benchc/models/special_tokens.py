"""The special tokens that a tokenizer adds to a chat prompt."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class SpecialTokens:
    """What a tokenizer adds to a chat prompt, and whether transformers lets it.

    ``ProcessorMixin.apply_chat_template`` does, unless the prompt begins with the BOS token.

    Attributes:
        before, after: the tokens that the tokenizer adds; none where it changes those of the prompt.
        are_added: whether transformers adds them; it adds both or neither.
        prompt: the prompt's tokens as transformers makes them.
    """

    before: list[int]
    after: list[int]
    are_added: bool
    prompt: list[int]

    @classmethod
    def of(cls, added: list[int], plain: list[int]) -> Self:
        """Return those of a prompt with the tokens ``added`` and, without special tokens, ``plain``."""
        before, after = _around(added, plain)
        by_template = bool(before) and times_at_start(plain, before) > 0
        are_added = added != plain and not by_template
        return cls(before, after, are_added, added if are_added else plain)

    @property
    def before_answer(self) -> list[int]:
        """The tokens that are added between prompt and answer."""
        return self.after if self.are_added else []


def _around(added: list[int], plain: list[int]) -> tuple[list[int], list[int]]:
    for start in range(len(added) - len(plain) + 1):
        end = start + len(plain)
        if added[start:end] == plain:
            return added[:start], added[end:]
    return [], []


def times_at_start(tokens: Sequence[object], special: Sequence[int]) -> int:
    """Return how many times in a row ``tokens`` begin with ``special``, which is not empty."""
    size, found = len(special), 0
    while list(tokens[found * size : (found + 1) * size]) == list(special):
        found += 1
    return found


def times_at_end(tokens: Sequence[object], special: Sequence[int]) -> int:
    """Return how many times in a row ``tokens`` end with ``special``, which is not empty."""
    return times_at_start(tokens[::-1], special[::-1])
