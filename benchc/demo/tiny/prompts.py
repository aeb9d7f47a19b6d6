"""The training set's questions as token sequences, exactly as the scorers will ask them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchc.letters import LETTERS
from benchc.models.question import Question, answer_separator, letter_prompt, text_prompt

SCORINGS = ("letter", "text")


def prompt_and_answers(question: Question, scoring: str) -> tuple[str, tuple[str, ...]]:
    """Return what a model is asked under a scoring, and the answer that each option stands for."""
    if scoring == "letter":
        return letter_prompt(question), tuple(LETTERS[: len(question.options)])
    if scoring == "text":
        return text_prompt(question), question.options
    raise ValueError(f"{scoring!r} is no scoring; choose one of {', '.join(SCORINGS)}")


def tokenizer_texts(questions: Sequence[Question]) -> list[str]:
    """Return the texts whose words shall be whole tokens: all prompts and all answers, in both scorings."""
    texts = []
    for question in questions:
        for scoring in SCORINGS:
            prompt, answers = prompt_and_answers(question, scoring)
            texts.append(f"USER: \n{prompt} ASSISTANT:")
            texts.extend(f" {answer}" for answer in answers)
    return texts


def encode(
    processor: Any, question: Question, pictures: int, scoring: str, side: int
) -> tuple[list[int], tuple[list[int], ...]]:
    """Return the tokens of the rendered prompt, pictures expanded, and those of each option's answer."""
    prompt, answers = prompt_and_answers(question, scoring)
    content = [{"type": "image"}] * pictures + [{"type": "text", "text": prompt}]
    rendered = processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=False
    )
    blank = np.zeros((side, side, 3), dtype=np.uint8)
    ids = processor(images=[blank] * pictures, text=[rendered])["input_ids"][0]
    separator = answer_separator(rendered)
    tokens = tuple(processor.tokenizer.encode(separator + a, add_special_tokens=False) for a in answers)
    return list(ids), tokens
