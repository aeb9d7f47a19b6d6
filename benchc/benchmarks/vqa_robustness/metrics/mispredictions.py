"""Kinds of misprediction (Table A.3): rules on a question, its reference answer and a wrong answer.

The paper names five kinds and gives three examples of each, by eye and without counts. These rules give each
example its kind. They see words alone, so that none can tell whether an answer is plausible.
"""

import re

from benchc.benchmarks.vqa_robustness.metrics.colour import asks_colour
from benchc.judges.short_answer import Rules, normalised

# In the order of Table A.3; the last is for what no rule fits.
KINDS = ("miscolor", "undercount", "misclassify", "blindness", "irrationality", "other")

# Answers by which a model says that it does not see what the question is about.
DENIALS = frozenset(
    (
        *("no", "none", "nothing", "nobody", "no one", "nowhere"),
        *("unknown", "unanswerable", "not visible", "not sure", "can't tell", "don't know"),
    )
)

_COUNT = re.compile(r"\bhow many\b")
_NUMBER = re.compile(r"\d+(\.\d+)?")
_ACTION = re.compile(r"\bdoing\b|\bdo\W*$")
_REASON = re.compile(r"\bwhy\b")
_COMPARISON = re.compile(
    r"\b(more|most|less|least|fewer|fewest|than)\b|\bthe (?!forest\b|harvest\b)\w{3,}est\b"
)
_REASONING = (_ACTION, _REASON, _COMPARISON)
# "None" stays a word instead of the number 0.
_WORDS = Rules(numbers=False)


def kind_of(question: str, truth: str, reply: str) -> str:
    """Return the first of these kinds that fits a wrong answer; answers are compared by the VQA evaluator.

    - undercount: the question asks how many; reference and answer are numbers, and the answer is smaller.
    - blindness: the answer is one of ``DENIALS``, and the reference is not.
    - miscolor: the question asks for a colour (:func:`asks_colour`), and the answer is in words.
    - irrationality: the question asks what somebody does, asks why, or compares; both answers are in words.
    - misclassify: both answers are in words or, unless the question asks how many, numbers.
    - other: none of these, such as a count that is too high, yes in place of no, a number in place of a word,
      and an empty answer.
    """
    asked, wanted, given = question.lower(), normalised(truth), normalised(reply)
    types = _type(wanted), _type(given)
    counts = _COUNT.search(asked) is not None
    if counts and types == ("number", "number"):
        return "undercount" if float(given) < float(wanted) else "other"
    if normalised(reply, _WORDS) in DENIALS and normalised(truth, _WORDS) not in DENIALS:
        return "blindness"
    if types == ("words", "words"):
        if asks_colour(question, truth):
            return "miscolor"
        return "irrationality" if any(rule.search(asked) for rule in _REASONING) else "misclassify"
    return "misclassify" if types == ("number", "number") else "other"


def _type(answer: str) -> str:
    """Return the type of a normalised answer, as VQAv2 has them; of an empty one, ``none``."""
    if answer in ("yes", "no"):
        return "yes/no"
    return "number" if _NUMBER.fullmatch(answer) else "words" if answer else "none"
