"""The authors' prompts of the judge (Q-Future/R-Bench, R-Bench-Script.ipynb), character by character."""

import hashlib
import json

from benchc.benchmarks.r_bench.judging.comparisons import Comparison
from benchc.benchmarks.r_bench.tasks import Task
from benchc.endpoint.template import Template
from benchc.letters import LETTERS

SYSTEM = "You are a helpful assistant."
_INDENT = "\n" + " " * 12
_MCQ = (
    "You will now be provided with a question [{question}] and a set of options [{choice}] with option "
    "[{answer}] being the correct answer.",
    "Additionally, there will be an answer [{reply}] provided by a respondent. Please determine whether the "
    "respondent's answer is correct considering the context of the question.",
    "Even if the word choice is not completely the same, you can decide based on the given options and see "
    "whether the one in the answer is close enough to the given correct answer",
    "The result is 1 if the answer is correct and else the result is 0. Please only provide the result in "
    "the following format: Score:",
)
_RATED = (
    "First, check the response and please rate score 0 if the response is not a valid answer.",
    "Please rate score 2 if the response completely or almost completely matches the correct answer on "
    "completeness, accuracy, and relevance. ",
    "Please rate score 1 if the response partly matches the correct answer on completeness, accuracy, and "
    "relevance.",
    "Please rate score 0 if the response doesn't match the correct answer on completeness, accuracy, and "
    "relevance at all.",
    "Please only provide the result in the following format: Score:",
)
_VQA = (
    "Given the question [{question}], evaluate whether the response [{reply}] completely matches the correct "
    "answer [{answer}]. "
)
_CAP = "Evaluate whether the sentence [{reply}] completely matches the correct answer [{answer}]. "
PROMPTS: dict[Task, Template] = {
    "mcq": Template(_INDENT.join(_MCQ)),
    "vqa": Template(_INDENT.join((_VQA, *_RATED))),
    "cap": Template(_INDENT.join((_CAP, *_RATED))),
}
# What a reply of the judge may say.
SCORES: dict[Task, tuple[int, ...]] = {"mcq": (0, 1), "vqa": (0, 1, 2), "cap": (0, 1, 2)}


def prompts_hash() -> str:
    """Return the version of the prompts, 16 hex digits."""
    texts = [SYSTEM, *(template.text for template in PROMPTS.values())]
    return hashlib.blake2b(json.dumps(texts).encode(), digest_size=8).hexdigest()


def prompt_of(comparison: Comparison) -> str:
    """Return the prompt that asks for a judgement."""
    item = comparison.item
    return PROMPTS[item.task].filled(
        question=item.question,
        choice="; ".join(f"{letter}.{text}" for letter, text in zip(LETTERS, item.options, strict=False)),
        answer=comparison.against,
        reply=comparison.reply,
    )
