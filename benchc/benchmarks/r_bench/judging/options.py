"""What decides the judgements of a run. Rules use it: it imports nothing heavy."""

from dataclasses import dataclass
from typing import Literal

from benchc.command_line import PositiveInt

JudgeKind = Literal["rule", "llm", "human"]
Reading = Literal["last_line", "last_char"]
ENCODER = "all-MiniLM-L6-v2"
REPEATS = 5
FEWEST = 3  # people: the best, the worst, and one more


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """Who judges, and how.

    Attributes:
        kind: fixed rules, a language model, or people
        model: name of the language model at the endpoint; only of llm
        temperature: of its replies
        repeats: judgements of a reply by the language model, but for captions against references: one each
        always: whether the language model also judges replies of multiple-choice items that have a letter
        reading: which number of the language model's reply is the score
        encoder: all-MiniLM-L6-v2, or the folder of another sentence-transformers model; of rule alone
    """

    kind: JudgeKind = "llm"
    model: str = "gpt-3.5-turbo"
    temperature: float = 1.0
    repeats: PositiveInt = REPEATS
    always: bool = False
    reading: Reading = "last_line"
    encoder: str = ENCODER
