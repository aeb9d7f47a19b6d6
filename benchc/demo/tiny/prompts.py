"""The training set's questions as token sequences, the same as those of the scorers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchc.letters import LETTERS
from benchc.models.question import Question, answer_separator, letter_prompt, text_prompt

SCORINGS = ("letter", "text")


def prompt_and_answers(question: Question, scoring: str) -> tuple[str, tuple[str, ...]]:
    """Return the prompt of a question under a scoring, and the answer of each option."""
    if scoring == "letter":
        return letter_prompt(question), tuple(LETTERS[: len(question.options)])
    if scoring == "text":
        return text_prompt(question), question.options
    raise ValueError(f"unknown scoring {scoring!r}; choose one of {', '.join(SCORINGS)}")


def tokenizer_texts(questions: Sequence[Question]) -> list[str]:
    """Return the texts to train the tokenizer on: all prompts and answers of both scorings."""
    texts = []
    for question in questions:
        for scoring in SCORINGS:
            prompt, answers = prompt_and_answers(question, scoring)
            texts.append(f"USER: \n{prompt} ASSISTANT:")
            texts.extend(f" {answer}" for answer in answers)
    return texts


def encode(
    processor: Any, question: Question, images: int, scoring: str, side: int
) -> tuple[list[int], tuple[list[int], ...]]:
    """Return the tokens of the rendered prompt, images expanded, and those of each option's answer."""
    prompt, answers = prompt_and_answers(question, scoring)
    content = [{"type": "image"}] * images + [{"type": "text", "text": prompt}]
    rendered = processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
    )
    blank = np.zeros((side, side, 3), dtype=np.uint8)
    ids = processor(images=[blank] * images, text=[rendered])["input_ids"][0]
    separator = answer_separator(rendered)
    tokens = tuple(processor.tokenizer.encode(separator + a, add_special_tokens=False) for a in answers)
    return list(ids), tokens
