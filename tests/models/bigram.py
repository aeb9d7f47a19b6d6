"""A language model whose next token depends on the last one alone, so that sums are easily made by hand."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import torch

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGH ?"
TABLE = torch.randn(len(LETTERS), len(LETTERS), generator=torch.Generator().manual_seed(1)) * 3


def ids(text: str) -> list[int]:
    return [LETTERS.index(letter) for letter in text]


def log_likelihood(last: str, answer: str) -> float:
    """Return the log-likelihood of an answer after a prompt that ends in ``last``."""
    logs = TABLE.log_softmax(dim=-1)
    pairs = zip(last + answer, answer, strict=False)
    return sum(float(logs[LETTERS.index(before), LETTERS.index(after)]) for before, after in pairs)


class Cache:
    """The rows of a prompt, which are all that keys and values stand for here."""

    rows = 0

    def reorder_cache(self, chosen: torch.Tensor) -> None:
        self.last = self.last[chosen]


class BigramChat:
    """As :class:`benchc.models.chat.ChatModel`; a token is a letter. ``positions``: of the last context."""

    name = "bigram"
    generates = True
    end_tokens = (LETTERS.index("?"),)
    model = SimpleNamespace(device="cpu")
    tokenizer: Any = None
    processor: Any = None

    def __init__(self, *, shares_prompt: bool) -> None:
        self.shares_prompt = shares_prompt
        self.positions = 0
        self.calls: list[tuple[Any, bool]] = []

    def facts(self) -> dict[str, str]:
        return {"model": self.name}

    def separator(self, rendered: str) -> str:
        return "" if rendered.endswith(" ") else " "

    def tokens_after(self, rendered: str, answer: str) -> list[int]:
        return ids(answer)

    def on_device(self, inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return dict(inputs)

    def require_context(self, tokens: int) -> None:
        self.positions = tokens

    def forget_images(self) -> None:
        self.calls.append(("forgotten", False))

    @contextmanager
    def head(self) -> Iterator[Any]:
        yield SimpleNamespace()

    def extended(self, inputs: dict[str, torch.Tensor], tokens: Sequence[int]) -> dict[str, torch.Tensor]:
        rows = inputs["input_ids"]
        return {"input_ids": torch.cat([rows, torch.tensor([tokens] * len(rows)).long()], dim=1)}

    def forward(self, inputs: dict[str, Any], *, last_only: bool) -> Any:
        rows = inputs["input_ids"]
        self.calls.append((inputs.get("use_cache"), last_only))
        cache = inputs.get("past_key_values")
        if cache is not None and inputs.get("use_cache"):
            cache.last = rows
        elif cache is not None:
            assert len(cache.last) == len(rows)
        logits = TABLE[rows[:, -1:] if last_only else rows]
        return SimpleNamespace(logits=logits, past_key_values=cache)
